// What to rewrite next: pure functions of the shape.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// What a user's compact(range) asks for: the next step that brings everything that overlaps the range into one run of
/// the last level, or nothing when that is done. `last` is the last level when it began.
std::optional<CompactionPlan> pick_for_range(const Shape& shape, std::string_view from,
                                             std::optional<std::string_view> to);

/// Rule 16 for any plan: kCorruption-free shapes and plans that keep it; the executor stops on any other.
Status check_plan(const Shape& shape, const CompactionPlan& plan);

}  // namespace tamis
