// A lookup that may read from disk, together with others.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "cache/block_cache.h"
#include "entry/entry.h"
#include "table/table_search.h"
#include "tamis/status.h"
#include "tree/run_index.h"

namespace tamis {

/// One of the lookups of Version::find_many. The caller sets the first group; the second has the answer.
///
/// Threads: one.
struct DiskLookup {
  Lookup lookup;
  std::uint32_t number = 0;  // The caller's.
  std::uint32_t run = 0;     // The first run to ask.

  Status status;
  std::optional<FoundEntry> found;  // The value lies in `block`.
  std::shared_ptr<const PinnedBlock> block;

  // find_many's own.
  RunSet possible;
  TableSearch search;  // Without a table: on the way to the next run.
  bool is_over = false;
  std::size_t waits_for = 0;  // In the batch.
};

}  // namespace tamis
