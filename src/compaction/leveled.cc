// One run in every level but the first: few runs to probe, little wasted space, high write amplification.
//
// Level 0 holds the flushed runs. Their tables fall into groups that do not overlap (level_zero.h); four in a group are
// merged into level 1, with the tables they overlap there. Every deeper level is one run of many tables; a level that
// is too large pushes down one table at a time.
//
// Level i is full at memtable_bytes · fanout^i. With a new last level, most of the store, and its old versions, would
// be in the levels above. So they also shrink to what the last level calls for, fanout times less with each level up.
// That is not urgent, and nearly free: a young last level overlaps little, so most tables are moved. At rest, about
// 1/(fanout-1) of the store is above the last level.
//
// A store that is scanned much merges level 0 before it has four runs.
//
// Termination: every plan moves at least one table down a level or merges several runs into one, and none moves
// anything up.
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "compaction/claims.h"
#include "compaction/level_zero.h"
#include "compaction/old_deletes.h"
#include "compaction/plan_parts.h"
#include "compaction/policies.h"

namespace tamis {
namespace {

constexpr std::uint64_t kManyDeletes = 1000;  // A scan passes them in some 80 microseconds.
constexpr double kMaxLevelZeroRuns = 20;      // Debt 1. LevelDB slows at 8 and stops at 12, RocksDB at 20 and 36.
constexpr double kMaxLevelRatio = 3;          // Debt 1: a level three times its target size.
constexpr double kMaxLevelDebt = 1.5;         // A large level does not slow readers: it slows writers, and stops none.
constexpr std::uint32_t kDeepest = Shape::kMaxLevels - 1;  // Takes any size.

double fanout_of(const PolicyOptions& options) { return std::max(2.0, static_cast<double>(options.fanout)); }

/// The size above which shrinking a level is urgent.
double full_bytes(std::uint32_t level, const PolicyOptions& options) {
  return std::max(1.0, static_cast<double>(options.memtable_bytes)) * std::pow(fanout_of(options), level);
}

/// The target size of a level above the last, so that the last one is nearly the whole store.
double lean_bytes(const Shape& shape, std::uint32_t level, const PolicyOptions& options) {
  const std::uint32_t last = shape.last_level();
  const double share = static_cast<double>(bytes_of_level(shape, last)) / std::pow(fanout_of(options), last - level);
  return std::max(full_bytes(1, options), share);
}

std::uint64_t free_bytes_of_level(const Shape& shape, std::uint32_t level, const Admission& admission) {
  std::uint64_t bytes = 0;
  for (const Run& run : runs_of(shape, level)) {
    for (const auto& table : run.tables) bytes += admission.is_free(*table) ? table->file_bytes : 0;
  }
  return bytes;
}

/// What needs work are four runs in one place, or in all.
double score_of_level_zero(const Shape& shape, const PolicyOptions& options, const Admission& admission) {
  const std::size_t usual = usual_runs_of_level_zero(shape, options);
  if (runs_of(shape, 0).size() < usual) return 0;
  std::size_t most = usual;
  for (const OverlapGroup& group : groups_of_level_zero(shape, admission)) {
    if (group.is_free) most = std::max(most, group.runs());
  }
  return static_cast<double>(most) / static_cast<double>(usual);
}

/// 1 or more: the level needs work; the highest first. What is being rewritten does not count.
double score_of(const Shape& shape, std::uint32_t level, const PolicyOptions& options, const Admission& admission) {
  if (level == 0) return score_of_level_zero(shape, options, admission);
  if (level >= kDeepest) return 0;
  const auto bytes = static_cast<double>(free_bytes_of_level(shape, level, admission));
  if (const double ratio = bytes / full_bytes(level, options); ratio > 1) return ratio;
  return level < shape.last_level() && bytes > lean_bytes(shape, level, options) ? 1 : 0;
}

/// The oldest run if it can be moved, so that a load in key order costs nothing.
std::optional<CompactionPlan> move_from_level_zero(const Shape& shape, std::string_view reason,
                                                   const Admission& admission) {
  const std::span<const Run> runs = admission.oldest_free(shape, 0);
  if (runs.empty()) return std::nullopt;
  const Run& oldest = runs.back();
  const Run* below = newest_run(shape, 1);
  const std::uint64_t target = below != nullptr ? below->id : new_run_id(shape, 1);
  if ((below != nullptr && overlap(oldest, *below)) || !may_move_to(shape, 1, target, oldest.transients())) {
    return std::nullopt;
  }
  CompactionPlan plan = {
      .inputs = {whole_run(0, oldest)}, .output_level = 1, .output_run = target, .is_move = true, .reason = reason};
  if (!admission.admits(shape, plan)) return std::nullopt;
  return plan;
}

/// Those that are free, the one with the most runs first.
template <typename IsDue>
std::vector<OverlapGroup> due_groups(const Shape& shape, const Admission& admission, IsDue is_due) {
  std::vector<OverlapGroup> groups = groups_of_level_zero(shape, admission);
  std::erase_if(groups, [&](const OverlapGroup& group) { return !group.is_free || !is_due(group); });
  std::ranges::stable_sort(groups, std::greater(), &OverlapGroup::runs);
  return groups;
}

std::optional<CompactionPlan> merge_first(const Shape& shape, const std::vector<OverlapGroup>& groups,
                                          std::string_view reason, Admission& admission) {
  if (groups.empty()) return std::nullopt;
  for (const OverlapGroup& group : groups) {
    CompactionPlan plan = merge_into_next(shape, 0, group.inputs, group.span, reason);
    if (admission.admits(shape, plan)) return plan;
  }
  const OverlapGroup& most = groups.front();
  return admission.admit_or_put_off(shape, merge_into_next(shape, 0, most.inputs, most.span, reason));
}

/// A due group, unless the oldest run can be moved instead.
template <typename IsDue>
std::optional<CompactionPlan> leave_level_zero(const Shape& shape, std::string_view reason, Admission& admission,
                                               IsDue is_due) {
  const std::vector<OverlapGroup> groups = due_groups(shape, admission, is_due);
  if (groups.empty()) return std::nullopt;
  if (auto plan = move_from_level_zero(shape, reason, admission)) return plan;
  return merge_first(shape, groups, reason, admission);
}

/// Of groups with fewer runs than usual only those that the oldest run is in.
std::optional<CompactionPlan> shrink_level_zero(const Shape& shape, const PolicyOptions& options,
                                                Admission& admission) {
  const std::size_t usual = usual_runs_of_level_zero(shape, options);
  const std::uint64_t oldest = runs_of(shape, 0).back().id;
  return leave_level_zero(shape, "level 0 has many runs", admission, [&](const OverlapGroup& group) {
    return group.runs() >= usual || group.inputs.back().run == oldest;
  });
}

/// Pushes one table of a level's run into the next level.
CompactionPlan push_down(const Shape& shape, std::uint32_t level, const TableFacts& table, std::string_view reason) {
  const Run& run = runs_of(shape, level).front();
  const Run* below = newest_run(shape, level + 1);
  CompactionPlan plan = {.inputs = {{.level = level, .run = run.id, .tables = {table.number}}},
                         .output_level = level + 1,
                         .output_run = below != nullptr ? below->id : new_run_id(shape, level + 1),
                         .is_move = false,
                         .reason = reason};
  const bool overlaps = below != nullptr && add_overlapping(plan, level + 1, *below, span_of(table));
  plan.is_move = !overlaps && may_move_to(shape, level + 1, plan.output_run, table.transients());
  return plan;
}

/// Of the tables that may be pushed down now the one with the fewest overlapped bytes per byte of its own: the cheapest
/// way to shrink the level.
std::optional<CompactionPlan> shrink(const Shape& shape, std::uint32_t level, const Admission& admission) {
  const Run& run = runs_of(shape, level).front();
  const Run* below = newest_run(shape, level + 1);
  std::vector<std::pair<double, const TableFacts*>> candidates;
  for (const auto& table : run.tables) {
    if (!admission.is_free(*table)) continue;
    const std::uint64_t overlapped = below == nullptr ? 0 : bytes_of(overlapping(*below, span_of(*table)));
    candidates.emplace_back(static_cast<double>(overlapped) / static_cast<double>(table->file_bytes + 1), table.get());
  }
  std::ranges::stable_sort(candidates, {}, [](const auto& candidate) { return candidate.first; });
  for (const auto& [overlapped, table] : candidates) {
    CompactionPlan plan = push_down(shape, level, *table, "level is too large");
    if (admission.admits(shape, plan)) return plan;
  }
  return std::nullopt;
}

std::optional<CompactionPlan> pick_by_size(const Shape& shape, const PolicyOptions& options, Admission& admission) {
  std::vector<std::pair<double, std::uint32_t>> levels;
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    if (const double score = score_of(shape, level, options, admission); score >= 1) levels.emplace_back(score, level);
  }
  std::ranges::stable_sort(levels, std::greater(), [](const auto& scored) { return scored.first; });
  for (const auto& [score, level] : levels) {
    std::optional<CompactionPlan> plan =
        level == 0 ? shrink_level_zero(shape, options, admission) : shrink(shape, level, admission);
    if (!plan && level == 0) plan = relieve_level_zero(shape, options, admission);
    if (plan) return plan;
  }
  return std::nullopt;
}

/// Whether most of the group's entries are deletes, at least half as many as the entries that they lie over: its merge
/// writes little, and spares readers what would be walked in vain. A few can be walked.
bool removes_much(const Shape& shape, const OverlapGroup& group) {
  const Run* below = newest_run(shape, 1);
  if (below == nullptr || group.tombstones < kManyDeletes || group.tombstones <= group.entries / 2) return false;
  std::uint64_t entries_below = 0;
  for (const auto& table : overlapping(*below, group.span)) entries_below += table->entries;
  return entries_below > 0 && group.tombstones >= entries_below / 2;
}

std::optional<CompactionPlan> pick_by_deletes(const Shape& shape, const PolicyOptions& options, Admission& admission) {
  auto removal = leave_level_zero(shape, "deletes are many", admission,
                                  [&](const OverlapGroup& group) { return removes_much(shape, group); });
  if (removal) return removal;
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    for (const Run& run : runs_of(shape, level)) {
      if (is_oldest(shape, level, run.id)) continue;
      for (const auto& table : run.tables) {
        const std::string_view reason = reason_of_deletes(*table, level, options);
        if (reason.empty() || !admission.is_free(*table)) continue;
        if (level == 0) {
          return leave_level_zero(shape, reason, admission, [&](const OverlapGroup& group) {
            return std::ranges::any_of(group.inputs, [&](const CompactionInput& input) {
              return input.run == run.id && std::ranges::count(input.tables, table->number) > 0;
            });
          });
        }
        CompactionPlan plan = push_down(shape, level, *table, reason);
        if (admission.admits(shape, plan)) return plan;
      }
    }
  }
  return std::nullopt;
}

std::uint64_t blocks_below(const Shape& shape, const OverlapGroup& group) {
  const Run* below = newest_run(shape, 1);
  if (below == nullptr) return 0;
  std::uint64_t blocks = 0;
  for (const auto& table : overlapping(*below, group.span)) blocks += table->blocks;
  return blocks;
}

/// Whether scans have looked at as many blocks of the runs that an empty level 0 spares them as emptying it reads. Even
/// if each was read from disk, the merges cost no more than they would have saved.
bool is_scanned_often(const Shape& shape, const PolicyOptions& options, const Admission& admission) {
  std::uint64_t blocks = 0;
  for (const OverlapGroup& group : groups_of_level_zero(shape, admission)) {
    blocks += group.blocks + blocks_below(shape, group);
  }
  const std::size_t spared = runs_of(shape, 0).size() - (newest_run(shape, 1) != nullptr ? 0 : 1);
  return options.extra_runs_scanned * spared > (shape.runs() - 1) * blocks;
}

/// A store that is read, and no longer written, has no other reason to merge its last few runs.
std::optional<CompactionPlan> pick_by_scans(const Shape& shape, const PolicyOptions& options, Admission& admission) {
  if (options.extra_runs_scanned == 0 || runs_of(shape, 0).empty()) return std::nullopt;
  if (!is_scanned_often(shape, options, admission)) return std::nullopt;
  const auto spares_runs = [&](const OverlapGroup& group) {
    return group.runs() > 1 || blocks_below(shape, group) > 0;
  };
  return merge_first(shape, due_groups(shape, admission, spares_runs), "scans merge several runs", admission);
}

std::optional<CompactionPlan> pick(const Shape& shape, const PolicyOptions& options, Admission& admission) {
  for (std::uint32_t level = 1; level < shape.levels.size(); ++level) {  // From another policy.
    const std::span<const Run> runs = runs_of(shape, level);
    if (runs.size() < 2) continue;
    auto plan = admission.admit_or_put_off(shape, merge_in_place(level, runs, "level has several runs"));
    if (plan) return plan;
  }
  if (auto plan = pick_by_size(shape, options, admission)) return plan;
  if (auto plan = pick_by_deletes(shape, options, admission)) return plan;
  return pick_by_scans(shape, options, admission);
}

/// From level 0, which affects readers, and the fullest level, which is deferred work.
double debt(const Shape& shape, const PolicyOptions& options) {
  const auto runs = static_cast<double>(runs_of(shape, 0).size());
  constexpr double kSlack = kMaxLevelZeroRuns - kUsualRunsOfLevelZero;
  double debt = std::max({0.0, (runs - kUsualRunsOfLevelZero) / kSlack,
                          debt_of_level_zero_bytes(shape, options, kUsualRunsOfLevelZero, kSlack),
                          debt_of_overwritten_bytes(shape, options)});
  for (std::uint32_t level = 1; level < std::min<std::size_t>(shape.levels.size(), kDeepest); ++level) {
    const double ratio = static_cast<double>(bytes_of_level(shape, level)) / full_bytes(level, options);
    debt = std::max(debt, std::min(kMaxLevelDebt, (ratio - 1) / (kMaxLevelRatio - 1)));
  }
  return debt;
}

/// As score_of, without regard to what is being rewritten.
std::uint64_t backlog(const Shape& shape, const PolicyOptions& options) {
  std::uint64_t backlog = 0;
  if (runs_of(shape, 0).size() >= usual_runs_of_level_zero(shape, options)) backlog += bytes_of_level(shape, 0);
  for (std::uint32_t level = 1; level < shape.levels.size(); ++level) {
    const std::uint64_t bytes = bytes_of_level(shape, level);
    if (runs_of(shape, level).size() > 1) {  // From another policy.
      backlog += bytes;
    } else if (level < kDeepest) {
      double most = full_bytes(level, options);
      if (level < shape.last_level()) most = std::min(most, lean_bytes(shape, level, options));
      if (static_cast<double>(bytes) > most) backlog += bytes - static_cast<std::uint64_t>(most);
    }
  }
  return backlog;
}

}  // namespace

constinit const CompactionPolicy kLeveledPolicy = {
    .name = "leveled",
    .summary = "one run per level: fewest runs, least space, most write amplification",
    .pick_beside = pick,
    .debt = debt,
    .backlog = backlog,
    .takes_parts_of_level_zero = true,
};

}  // namespace tamis
