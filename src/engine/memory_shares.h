// How one number, memory_bytes, is shared among everything a store keeps in memory.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cache/frame.h"
#include "table/index_format.h"
#include "tamis/options.h"
#include "tree/shape.h"

namespace tamis {

/// The shares add up to memory_bytes.
struct MemoryShares {
  std::uint64_t memtable = 0;  ///< One of them; there are two, the one being written and the one being flushed.
  std::uint64_t filters = 0;
  std::uint64_t indexes = 0;
  std::uint64_t blocks = 0;
  std::uint64_t wanted_indexes = 0;  ///< Not a share: what all of them, with a slot for each block, would take.
};

/// What a flush or a compaction may use to build a filter. It comes on top of memory_bytes, out of the constant that P8
/// allows: two of them are at work at a time.
inline std::uint64_t filter_build_memory(const Options& options) {
  return std::clamp<std::uint64_t>(options.memory_bytes / 16, std::uint64_t{4} << 20, std::uint64_t{12} << 20);
}

/// Memtables have at most half. Filters have what the options give them, at most a quarter when they say nothing, and
/// no more than there is; indexes as much as they need, at most half of what is left; blocks the rest.
inline MemoryShares share_memory(const Options& options, std::uint64_t filter_bytes, std::uint64_t index_bytes) {
  MemoryShares shares;
  shares.memtable = std::min(options.memtable_bytes, options.memory_bytes / 4);
  std::uint64_t rest = options.memory_bytes - 2 * shares.memtable;
  shares.filters = std::min({filter_bytes, options.filter_memory.value_or(options.memory_bytes / 4), rest});
  rest -= shares.filters;
  shares.indexes = std::min(index_bytes, rest / 2);
  shares.blocks = rest - shares.indexes;
  shares.wanted_indexes = index_bytes;
  return shares;
}

/// The same for the tables that there are.
inline MemoryShares share_memory(const Options& options, const Shape& shape) {
  std::uint64_t filter_bytes = 0;
  std::uint64_t index_bytes = 0;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      for (const auto& table : run.tables) {
        filter_bytes += table->filter_bytes + table->prefix_filter_bytes;
        index_bytes += Index::memory_bytes_for(table->index_bytes) + table->blocks * sizeof(BlockSlot);
      }
    }
  }
  return share_memory(options, filter_bytes, index_bytes);
}

/// The memory of a memtable at which it is sealed: an eighth is left for what is being written.
inline std::uint64_t sealing_memory(const Options& options) { return share_memory(options, 0, 0).memtable / 8 * 7; }

}  // namespace tamis
