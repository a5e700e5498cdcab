// What a policy costs, found by letting it work without files.
#pragma once

#include <cstdint>

#include "compaction/policy.h"
#include "tamis/status.h"

namespace tamis {

/// Writes that arrive one full memtable after the other.
struct SimulatedLoad {
  enum class Order : std::uint8_t { kRandom, kSequential };
  Order order = Order::kRandom;  ///< Of new keys: uniform over all there could be, or ascending.
  std::uint64_t flushes = 100;
  std::uint64_t keys_per_flush = 1000;
  double overwrites = 0;  ///< This part of the writes goes to keys written before, any of them alike.
  double deletes = 0;     ///< And this part deletes such a key.
  std::uint64_t entry_bytes = 128;
  std::uint64_t seconds_per_flush = 1;
  std::uint64_t seed = 1;
};

/// Amplifications as usual: how many times more than the user asked for.
struct SimulatedCost {
  double write_amplification = 0;       ///< Bytes written to tables, for each byte flushed; a flush alone is 1.
  double late_write_amplification = 0;  ///< The same over the second half of the load.
  /// How many runs have a key of the store in their bounds: what a lookup would touch without filters. Mean over the
  /// second half of the load, each moment after all that was due is done.
  double runs_per_lookup = 0;
  double space_amplification = 0;  ///< Bytes in tables, for each byte that can still be read. Mean over the same.
  std::uint64_t largest_merge_bytes = 0;  ///< Written by one merge.
  std::uint64_t merges = 0;
  std::uint64_t moves = 0;
  std::uint64_t most_steps = 0;  ///< Of all between two flushes.
  Shape shape;                   ///< At the end.
};

/// Runs the load; after each flush, everything the policy asks for. options.memtable_bytes and table_bytes should fit
/// the load. The same arguments give the same cost, anywhere. kInvalidArgument when a plan breaks rule 16, or the
/// policy does not come to an end.
Result<SimulatedCost> simulate(const CompactionPolicy& policy, PolicyOptions options, const SimulatedLoad& load);

}  // namespace tamis
