// What to rewrite next: pure functions of the shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "entry/entry.h"
#include "tree/shape.h"

namespace tamis {

/// What a policy may look at besides the shape.
struct PolicyOptions {
  std::uint32_t fanout = 10;
  std::uint64_t memtable_bytes = 0;  ///< About the size of a flushed run.
  std::uint64_t table_bytes = 0;
  std::uint64_t now_unix_seconds = 0;  ///< For tombstones that have waited long enough.
};

/// Tables of one run that are merged.
struct CompactionInput {
  std::uint32_t level = 0;
  std::uint64_t run = 0;
  std::vector<std::uint64_t> tables;

  friend bool operator==(const CompactionInput&, const CompactionInput&) = default;
};

/// Inputs become one run, or part of one: the output tables join run `output_run` of `output_level`, which exists
/// already or is new. Inputs are age-contiguous for their keys: no run between two inputs overlaps them (rule 16).
struct CompactionPlan {
  std::vector<CompactionInput> inputs;  ///< Newest first.
  std::uint32_t output_level = 0;
  std::uint64_t output_run = 0;
  bool is_move = false;     ///< One input that goes down as it is.
  std::string_view reason;  ///< "level 0 has 4 runs", in a word or two: what `stats` and the log show.

  friend bool operator==(const CompactionPlan&, const CompactionPlan&) = default;
};

/// One row per policy.
struct CompactionPolicy {
  std::string_view name;
  std::string_view summary;
  /// What to do next, or nothing when the shape is as it should be. Doing all that it asks for ends.
  std::optional<CompactionPlan> (*pick)(const Shape& shape, const PolicyOptions& options) = nullptr;
  /// How far behind compaction is: 0 nothing to do, 1 as much as is tolerable. Writes are slowed from 0.5 on and wait
  /// from 2 on, which therefore bounds the number of runs; then `pick` has something to do.
  double (*debt)(const Shape& shape, const PolicyOptions& options) = nullptr;
};

/// leveled, tiered, lazy, manual.
std::span<const CompactionPolicy> compaction_policies();
/// Null when there is none.
const CompactionPolicy* find_compaction_policy(std::string_view name);

/// What compact(range) is to do. It is fixed when that is called, so that it ends beside writers: all that was in
/// tables then, and overlaps the range, comes into one run of the last level, and what is dead is left out.
struct RangeGoal {
  std::string_view from = {};
  std::optional<std::string_view> to = {};
  /// Up to here all writes were in tables. A table with nothing but younger entries came later and is left alone.
  Sequence newest = kMaxSequence;
  /// The number of the next table. In the last level, tables below it are rewritten if they hold deletes or old
  /// versions; those above have been.
  std::uint64_t first_new_table = 0;
  /// About the inputs of one step, as far as they can be separated.
  std::uint64_t step_bytes = ~std::uint64_t{0};
};
/// The next step, or nothing when the goal is reached.
std::optional<CompactionPlan> pick_for_range(const Shape& shape, const RangeGoal& goal);
/// What has to be rewritten for it, once for each level: 0 when nothing is.
std::uint64_t bytes_left_for_range(const Shape& shape, const RangeGoal& goal);

/// Rule 16 for any plan: kCorruption-free shapes and plans that keep it; the executor stops on any other.
Status check_plan(const Shape& shape, const CompactionPlan& plan);

}  // namespace tamis
