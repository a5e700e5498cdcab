// Telling from tables alone which of them are the store, and in which order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "table/table_facts.h"

namespace tamis {

/// Of tables that say which others they replaced, those that together hold everything, ascending. When all inputs of a
/// rewrite are there, it may not have been finished: its outputs are left out. When one of them is gone, it was
/// finished, because inputs are removed only afterwards: the remaining inputs are left out.
std::vector<std::uint64_t> tables_without_replaced(const std::set<std::uint64_t>& numbers,
                                                   const std::map<std::uint64_t, std::vector<std::uint64_t>>& replaces);

/// Tables to be merged; most often it is one.
using TableGroup = std::vector<std::shared_ptr<const TableFacts>>;

/// Groups in layers, oldest layer first: what a layer holds of a key is newer than what those before it hold. Tables
/// that overlap and whose sequences interleave, so that neither is newer, are in one group, the one with the largest
/// number first. The groups of a layer are in key order and do not overlap; there are as few layers as can be.
std::vector<std::vector<TableGroup>> in_layers(std::vector<std::shared_ptr<const TableFacts>> tables);

}  // namespace tamis
