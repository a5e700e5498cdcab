// Extrapolates a policy's behaviour to a store too large to simulate.
#pragma once

#include <cstdint>
#include <vector>

#include "compaction/policy.h"
#include "tamis/status.h"

namespace tamis {

/// A load of new keys in random order, the one with the most rewriting.
struct GrowthQuestion {
  const CompactionPolicy* policy = nullptr;
  PolicyOptions options;
  std::uint64_t flush_bytes = 0;  ///< Size of the tables from one memtable.
  std::uint64_t flushes = 0;      ///< The total number; the store is as large as they are.
  /// Beyond this many, it extrapolates by rule; at a fanout of 10 they take two seconds.
  std::uint64_t most_simulated = 6000;
};

/// A run of the grown store.
struct GrownRun {
  std::uint32_t level = 0;
  double bytes = 0;
  double tables = 0;  ///< The number of tables at the policy's table size.
};

struct Growth {
  std::vector<GrownRun> runs;       ///< Newest first; their total size is that of all flushes.
  double write_amplification = 0;   ///< Bytes written to tables per byte flushed, from first to last.
  double late_amplification = 0;    ///< Same while the store grows from half its size.
  double runs_per_lookup = 0;       ///< Runs whose bounds hold a key.
  double largest_merge_bytes = 0;   ///< Written by one compaction.
  std::uint64_t simulated = 0;      ///< The number of flushes simulated.
  std::uint32_t levels_beyond = 0;  ///< Levels added by rule to those simulated.
};

/// Simulates some flushes and extrapolates by rule: a store that is fanout times larger has one more level and pays the
/// cost of the last such step in the simulation. The added levels have the runs of level 1, scaled.
///
/// kInvalidArgument if the store would need more levels than exist; kNotSupported if the fanout is too large for the
/// simulation to see two full levels.
Result<Growth> grow(const GrowthQuestion& question);

}  // namespace tamis
