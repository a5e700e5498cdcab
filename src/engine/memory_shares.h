// Divides memory_bytes among everything a store keeps in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/sanitizer.h"
#include "cache/frame.h"
#include "engine/background_threads.h"
#include "io/append_file.h"
#include "table/index_format.h"
#include "table/table.h"
#include "tamis/options.h"
#include "tree/run_matrix.h"
#include "tree/shape.h"

namespace tamis {

/// The shares add up to memory_bytes.
struct MemoryShares {
  std::uint64_t memtable = 0;  ///< For one of two: one is being written, one flushed.
  std::uint64_t journal = 0;   ///< The mapped part of the journal.
  std::uint64_t window = 0;    ///< The recent commits, for transactions.
  std::uint64_t filters = 0;   ///< And the run index.
  std::uint64_t indexes = 0;
  std::uint64_t blocks = 0;
  RunMatrixPlan run_matrix;           ///< The run index; part of the filters' share.
  std::uint64_t run_matrix_room = 0;  ///< Not a share: what the filters do not use of their maximum.
  std::uint64_t run_matrices = 0;     ///< Those of all trees, the planned one included; part of the filters' share.
  std::uint64_t wanted_filters = 0;   ///< Not a share: all columns of all filters.
  std::uint64_t wanted_indexes = 0;   ///< Not a share: all indexes, with a slot for each block.
};

/// What each flush or compaction may use to build a filter. With more than two threads they share what two may use:
/// it is not part of memory_bytes but of the constant that P8 allows.
inline std::uint64_t filter_build_memory(const Options& options) {
  const auto of_one_of_two =
      std::clamp<std::uint64_t>(options.memory_bytes / 16, std::uint64_t{4} << 20, std::uint64_t{12} << 20);
  return 2 * of_one_of_two / std::max(2U, background_threads_of(options));
}

/// What a store would keep in memory for its tables.
struct MetadataWanted {
  std::uint64_t filter_bytes = 0;        ///< All columns.
  std::uint64_t usual_filter_bytes = 0;  ///< What filters get of their maximum before the run index.
  std::uint64_t index_bytes = 0;
  std::uint64_t slot_bytes = 0;                  ///< Of indexes in memory: they stay there.
  std::vector<std::uint64_t> keys_of_runs = {};  ///< The runs that a run index could cover.
  std::uint64_t run_matrix_bytes = 0;            ///< The size of the present run index.
  std::uint64_t other_matrix_bytes = 0;          ///< Of other trees' run indexes.
};

/// Of the recent commits: more would only serve transactions that live while a hundred thousand keys are written.
constexpr std::uint64_t kMaxWindowBytes = std::uint64_t{8} << 20;

/// Memtables get at most half; a mapped journal gets a 64th if that is enough for a window, and the recent commits get
/// a 64th. Filters get 10 bits per key for those that can have more, at most filter_memory, by default a quarter; the
/// run index gets what they leave of that. What it leaves of a filter_memory that was asked for is for more columns.
/// Indexes get what they need, at most half of the rest, or what slots of blocks have. Blocks get what is left.
inline MemoryShares share_memory(const Options& options, MetadataWanted wanted) {
  MemoryShares shares;
  shares.memtable = std::min(options.memtable_bytes, options.memory_bytes / 4);
  shares.journal = std::min(options.memory_bytes / 64, AppendFile::kMaxWindowBytes);
  if (shares.journal < AppendFile::kMinWindowBytes || options.journal == "write") shares.journal = 0;
  shares.window = std::min(options.memory_bytes / 64, kMaxWindowBytes);
  std::uint64_t rest = options.memory_bytes - 2 * shares.memtable - shares.journal - shares.window;
  const std::uint64_t most_filters = std::min(options.filter_memory.value_or(options.memory_bytes / 4), rest);
  shares.filters = std::min(wanted.usual_filter_bytes + wanted.other_matrix_bytes, most_filters);
  shares.run_matrix_room = most_filters - shares.filters;
  if (options.filter != "none") {
    shares.run_matrix = plan_run_matrix(std::move(wanted.keys_of_runs), shares.run_matrix_room);
  }
  const std::uint64_t matrix_bytes =
      std::max(shares.run_matrix.bytes(), std::min(wanted.run_matrix_bytes, shares.run_matrix_room));
  shares.filters += matrix_bytes;
  shares.run_matrices = matrix_bytes + wanted.other_matrix_bytes;
  if (options.filter_memory) shares.filters = std::min(wanted.filter_bytes + shares.run_matrices, most_filters);
  rest -= shares.filters;
  shares.indexes = std::min({wanted.index_bytes, std::max(rest / 2, wanted.slot_bytes), rest});
  shares.blocks = rest - shares.indexes;
  shares.wanted_filters = wanted.filter_bytes;
  shares.wanted_indexes = wanted.index_bytes;
  return shares;
}

/// A filter in slices has more columns than it usually needs.
inline std::uint64_t usual_filter_bytes(const TableFacts& facts) {
  constexpr std::uint64_t kBitsPerKey = 10;
  if (!facts.filter_slices) return facts.filter_bytes;
  return std::min(facts.filter_bytes, std::max(facts.keys * kBitsPerKey / 8, facts.filter_bytes_with(1)));
}

/// Of the slots of its blocks in memory, which stay when its index goes.
inline std::uint64_t slot_bytes(const Table& table) {
  return table.slot_of(0) == nullptr ? 0 : table.facts().blocks * sizeof(BlockSlot);
}

/// For the tables of one tree.
inline MetadataWanted wanted_by(const Shape& shape, std::uint64_t run_matrix_bytes = 0) {
  MetadataWanted wanted{.run_matrix_bytes = run_matrix_bytes};
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      wanted.keys_of_runs.push_back(run.keys());
      for (const auto& table : run.tables) {
        wanted.filter_bytes += table->filter_bytes + table->scan_filter_bytes();
        wanted.usual_filter_bytes += usual_filter_bytes(*table) + table->scan_filter_bytes();
        wanted.index_bytes += Index::memory_bytes_for(table->index_bytes) + table->blocks * sizeof(BlockSlot);
      }
    }
  }
  return wanted;
}

/// The size at which a memtable is sealed: an eighth of its share is reserved for the current group.
inline std::uint64_t sealing_memory(const Options& options) {
  return share_memory(options, MetadataWanted()).memtable / 8 * 7;
}

/// How much memory of flushed memtables is kept for the next ones: that of two.
inline std::uint64_t kept_memory(const Options& options) {
  return kWatchesMemory ? 0 : 2 * share_memory(options, MetadataWanted()).memtable;
}

/// A larger memtable is flushed when the store is closed; replaying a smaller one takes a few milliseconds.
constexpr std::uint64_t kMaxLeftInJournal = 4 << 20;

}  // namespace tamis
