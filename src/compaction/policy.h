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

/// A policy's inputs besides the shape.
struct PolicyOptions {
  std::uint32_t fanout = 10;
  std::uint64_t memtable_bytes = 0;  ///< About the size of a flushed run.
  std::uint64_t table_bytes = 0;
  std::uint64_t now_unix_seconds = 0;  ///< For tombstones that have waited long enough.
  double overwritten = 0;              ///< The fraction of level 0 that overwrites what is below, as merges have found.
  std::uint64_t extra_runs_scanned = 0;  ///< As Version::extra_runs_scanned.
};

/// Tables of one run to merge.
struct CompactionInput {
  std::uint32_t level = 0;
  std::uint64_t run = 0;
  std::vector<std::uint64_t> tables;

  friend bool operator==(const CompactionInput&, const CompactionInput&) = default;
};

/// Inputs become one run, or part of one: the output tables join run `output_run` of `output_level`, which may be new.
/// Inputs are age-contiguous for their keys: no run between two inputs overlaps them (rule 16).
struct CompactionPlan {
  std::vector<CompactionInput> inputs;  ///< Newest first.
  std::uint32_t output_level = 0;
  std::uint64_t output_run = 0;
  bool is_move = false;  ///< One input that moves down unchanged.
  bool is_drop = false;  ///< One input that goes unread: everything in it has expired (rule 28).
  /// Value files whose values are copied to new ones, ascending; the inputs point into them (rule 41).
  std::vector<std::uint64_t> collected = {};
  std::string_view reason;  ///< A few words for `stats` and the log, such as "level 0 has 4 runs".

  friend bool operator==(const CompactionPlan&, const CompactionPlan&) = default;
};

class Admission;  // claims.h

/// One row per policy.
struct CompactionPolicy {
  std::string_view name;
  std::string_view summary;
  /// The next plan that may begin beside those that run, or nothing if there is none. It puts off what is due and must
  /// wait. Executing all plans terminates.
  std::optional<CompactionPlan> (*pick_beside)(const Shape& shape, const PolicyOptions& options,
                                               Admission& admission) = nullptr;
  /// How far behind compaction is: 0 nothing to do, 1 as much as is tolerable. Writes are slowed from 0.5 on and wait
  /// from 2 on, which bounds the number of runs; `pick` then has a plan.
  double (*debt)(const Shape& shape, const PolicyOptions& options) = nullptr;
  /// The bytes of tables that have to leave their level before nothing is due because of sizes and numbers of runs.
  std::uint64_t (*backlog)(const Shape& shape, const PolicyOptions& options) = nullptr;
  /// False: only compact() rewrites anything. Otherwise tables are also dropped and rewritten because their entries
  /// have expired (expired_tables.h), and value files because of their garbage (value_plan.h).
  bool is_automatic = true;
  /// Whether parts of level 0 go down alone: then its tables end where those of other flushes do.
  bool takes_parts_of_level_zero = false;

  /// The next plan if none runs.
  [[nodiscard]] std::optional<CompactionPlan> pick(const Shape& shape, const PolicyOptions& options) const;
};

/// leveled, tiered, lazy, manual.
std::span<const CompactionPolicy> compaction_policies();
/// Null if there is none.
const CompactionPolicy* find_compaction_policy(std::string_view name);

/// The goal of compact(range). It is fixed at the call, so that it terminates despite concurrent writes: everything
/// then in tables that overlaps the range is merged into one run of the last level, without dead entries.
struct RangeGoal {
  std::string_view from = {};
  std::optional<std::string_view> to = {};
  /// All writes up to here were in tables. A table with only newer entries came later and is ignored.
  Sequence newest = kMaxSequence;
  /// The number of the next table. In the last level, tables below it are rewritten if they hold tombstones or old
  /// versions; those above already were.
  std::uint64_t first_new_table = 0;
  /// Entries that are due by then have expired for every reader.
  std::uint64_t expired_by = 0;
  /// The approximate input size of one step, as far as inputs can be separated.
  std::uint64_t step_bytes = ~std::uint64_t{0};
};
/// The next step, or nothing if the goal is reached.
std::optional<CompactionPlan> pick_for_range(const Shape& shape, const RangeGoal& goal);
/// The bytes left to rewrite, counted once per level; 0 if none.
std::uint64_t bytes_left_for_range(const Shape& shape, const RangeGoal& goal);

/// Checks rule 16 for any plan; the executor rejects plans that break it.
Status check_plan(const Shape& shape, const CompactionPlan& plan);

}  // namespace tamis
