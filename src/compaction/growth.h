// What a policy makes of a store that grows to a size too large to try out.
#pragma once

#include <cstdint>
#include <vector>

#include "compaction/policy.h"
#include "tamis/status.h"

namespace tamis {

/// A load of new keys in random order, the one that is rewritten most.
struct GrowthQuestion {
  const CompactionPolicy* policy = nullptr;
  PolicyOptions options;
  std::uint64_t flush_bytes = 0;  ///< Of the tables that one memtable becomes.
  std::uint64_t flushes = 0;      ///< All that were ever made; the store is as large as they are.
  /// Beyond so many it goes on by rule; at a fanout of 10 they take two seconds.
  std::uint64_t most_simulated = 6000;
};

/// A run of the grown store.
struct GrownRun {
  std::uint32_t level = 0;
  double bytes = 0;
  double tables = 0;  ///< How many, when they are cut where the policy's options say.
};

struct Growth {
  std::vector<GrownRun> runs;       ///< Newest first; their bytes are those of all flushes.
  double write_amplification = 0;   ///< Bytes written to tables, for each byte flushed, from the first to the last.
  double late_amplification = 0;    ///< The same while the store grows from half its size.
  double runs_per_lookup = 0;       ///< Whose bounds hold a key.
  double largest_merge_bytes = 0;   ///< Written by one compaction.
  std::uint64_t simulated = 0;      ///< Flushes that were simulated.
  std::uint32_t levels_beyond = 0;  ///< Levels that were added by rule to what was simulated.
};

/// Simulates some flushes and goes on by rule: a store that is fanout times larger has one level more, and pays what
/// the last such step paid in the simulation. The runs of the levels that are added are those of level 1, larger.
///
/// kInvalidArgument when the store would need more levels than there are; kNotSupported for a fanout so large that the
/// simulation does not see two full levels.
Result<Growth> grow(const GrowthQuestion& question);

}  // namespace tamis
