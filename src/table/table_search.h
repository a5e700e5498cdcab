// A lookup in one table that stops where it needs a block.
#pragma once

#include <cstdint>
#include <memory>

#include "table/index_format.h"
#include "table/lookup_steps.h"

namespace tamis {

class Table;

/// Where a lookup stands in a table: at the block that it has to see next. Whoever leads it gets the block, alone or
/// together with those that others wait for.
///
/// Threads: one.
struct TableSearch {
  Table* table = nullptr;
  std::shared_ptr<const Index> index;  // Counted: the table may unload it while the search waits for the disk.
  std::uint32_t block = 0;
  TableStep step;
};

}  // namespace tamis
