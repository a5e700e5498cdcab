// Decides from tables alone which of them form the store, and in which order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "table/table_facts.h"

namespace tamis {

/// What is left of a rewrite: its outputs that exist, and the inputs that they list.
struct FoundRewrite {
  std::vector<std::uint64_t> outputs;
  std::set<std::uint64_t> inputs;
};

/// The tables that together hold everything, ascending. `rewrites` are by the number of their first output. If all
/// inputs exist, the rewrite may be unfinished: its outputs are left out. If one is missing, the rewrite was finished,
/// because inputs are removed only afterwards: the remaining inputs are left out. An output that is lost takes along
/// what only it listed: those inputs stand in for it.
std::vector<std::uint64_t> tables_without_replaced(const std::set<std::uint64_t>& numbers,
                                                   const std::map<std::uint64_t, FoundRewrite>& rewrites);

/// Tables to merge; usually one.
using TableGroup = std::vector<std::shared_ptr<const TableFacts>>;

/// Groups in layers, oldest layer first. A layer's versions of a key are newer than those in earlier layers. Tables
/// that overlap and whose sequences interleave, so that neither is newer, form one group, largest number first. The
/// groups of a layer are in key order and do not overlap. The number of layers is minimal.
std::vector<std::vector<TableGroup>> in_layers(std::vector<std::shared_ptr<const TableFacts>> tables);

}  // namespace tamis
