// The cost of a policy, simulated without files.
#pragma once

#include <cstdint>

#include "compaction/policy.h"
#include "tamis/status.h"

namespace tamis {

/// Writes that arrive as one full memtable after another.
struct SimulatedLoad {
  enum class Order : std::uint8_t { kRandom, kSequential };
  Order order = Order::kRandom;  ///< Of new keys: uniform over all possible keys, or ascending.
  std::uint64_t flushes = 100;
  std::uint64_t keys_per_flush = 1000;
  double overwrites = 0;  ///< The fraction of writes to existing keys, chosen uniformly.
  double deletes = 0;     ///< The fraction that deletes such a key.
  std::uint64_t entry_bytes = 128;
  std::uint64_t seconds_per_flush = 1;
  std::uint64_t seed = 1;
};

/// Amplifications as usual: the ratio to what the user requested.
struct SimulatedCost {
  double write_amplification = 0;       ///< Bytes written to tables per byte flushed; a flush alone is 1.
  double late_write_amplification = 0;  ///< Same over the second half of the load.
  /// The number of runs whose bounds hold a key of the store: the runs a lookup would probe without filters. Mean over
  /// the second half of the load, each time after all due work.
  double runs_per_lookup = 0;
  double space_amplification = 0;         ///< Bytes in tables per readable byte. Mean over the same.
  std::uint64_t largest_merge_bytes = 0;  ///< Written by one merge.
  std::uint64_t merges = 0;
  std::uint64_t moves = 0;
  std::uint64_t most_steps = 0;  ///< The max between two flushes.
  Shape shape;                   ///< At the end.
};

/// Runs the load and, after each flush, every plan of the policy. options.memtable_bytes and table_bytes should match
/// the load. Deterministic on every machine. kInvalidArgument if a plan breaks rule 16 or the policy does not
/// terminate.
Result<SimulatedCost> simulate(const CompactionPolicy& policy, PolicyOptions options, const SimulatedLoad& load);

}  // namespace tamis
