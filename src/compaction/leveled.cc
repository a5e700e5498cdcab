// One run in every level but the first: few runs to probe, little wasted space, high write amplification.
//
// Level 0 holds the flushed runs. Four of them are merged into level 1, with the tables they overlap there. Every
// deeper level is one run of many tables; a level that is too large pushes down one table at a time.
//
// Level i is full at memtable_bytes · fanout^i. With a new last level, most of the store, and its old versions, would
// be in the levels above. So they also shrink to what the last level calls for, fanout times less with each level up.
// That is not urgent, and nearly free: a young last level overlaps little, so most tables are moved. At rest, about
// 1/(fanout-1) of the store is above the last level.
//
// Termination: every plan moves at least one table down a level or merges several runs into one, and none moves
// anything up.
#include <algorithm>
#include <cmath>

#include "compaction/old_deletes.h"
#include "compaction/plan_parts.h"
#include "compaction/policies.h"

namespace tamis {
namespace {

constexpr std::size_t kLevelZeroRuns = 4;  // As in LevelDB and RocksDB: fewer would rewrite level 1 more often.
constexpr double kMaxLevelZeroRuns = 20;   // Debt 1. LevelDB slows at 8 and stops at 12, RocksDB at 20 and 36.
constexpr double kMaxLevelRatio = 3;       // Debt 1: a level three times its target size.
constexpr double kMaxLevelDebt = 1.5;      // A large level does not slow readers: it slows writers, and stops none.
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

/// 1 or more: the level needs work; the highest first.
double score_of(const Shape& shape, std::uint32_t level, const PolicyOptions& options) {
  const std::span<const Run> runs = runs_of(shape, level);
  if (level == 0) return static_cast<double>(runs.size()) / kLevelZeroRuns;
  if (level >= kDeepest) return 0;
  const auto bytes = static_cast<double>(bytes_of_level(shape, level));
  if (const double ratio = bytes / full_bytes(level, options); ratio > 1) return ratio;
  return level < shape.last_level() && bytes > lean_bytes(shape, level, options) ? 1 : 0;
}

/// The oldest run alone if it can be moved, so that a load in key order costs nothing. Otherwise all.
CompactionPlan compact_level_zero(const Shape& shape, std::string_view reason) {
  const Run& oldest = runs_of(shape, 0).back();
  const Run* below = newest_run(shape, 1);
  const std::uint64_t target = below != nullptr ? below->id : new_run_id(shape, 1);
  if ((below == nullptr || !overlap(oldest, *below)) && may_move_to(shape, 1, target, oldest.transients())) {
    return {
        .inputs = {whole_run(0, oldest)}, .output_level = 1, .output_run = target, .is_move = true, .reason = reason};
  }
  return merge_level_into_next(shape, 0, reason);
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

/// The table with the fewest overlapped bytes per byte of its own: the cheapest way to shrink the level.
const TableFacts& table_of_least_overlap(const Shape& shape, std::uint32_t level) {
  const Run& run = runs_of(shape, level).front();
  const Run* below = newest_run(shape, level + 1);
  if (below == nullptr) return *run.tables.front();
  const TableFacts* best = nullptr;
  double least = 0;
  for (const auto& table : run.tables) {
    const double overlapped = static_cast<double>(bytes_of(overlapping(*below, span_of(*table)))) /
                              static_cast<double>(table->file_bytes + 1);
    if (best == nullptr || overlapped < least) {
      best = table.get();
      least = overlapped;
    }
  }
  return *best;
}

std::optional<CompactionPlan> pick_by_size(const Shape& shape, const PolicyOptions& options) {
  std::uint32_t fullest = 0;
  double highest = 0;
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    if (const double score = score_of(shape, level, options); score > highest) {
      fullest = level;
      highest = score;
    }
  }
  if (highest < 1) return std::nullopt;
  if (fullest == 0) return compact_level_zero(shape, "level 0 has many runs");
  return push_down(shape, fullest, table_of_least_overlap(shape, fullest), "level is too large");
}

std::optional<CompactionPlan> pick_by_deletes(const Shape& shape, const PolicyOptions& options) {
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    for (const Run& run : runs_of(shape, level)) {
      if (is_oldest(shape, level, run.id)) continue;
      for (const auto& table : run.tables) {
        const std::string_view reason = reason_of_deletes(*table, level, options);
        if (reason.empty()) continue;
        return level == 0 ? compact_level_zero(shape, reason) : push_down(shape, level, *table, reason);
      }
    }
  }
  return std::nullopt;
}

std::optional<CompactionPlan> pick(const Shape& shape, const PolicyOptions& options) {
  for (std::uint32_t level = 1; level < shape.levels.size(); ++level) {  // From another policy.
    if (shape.levels[level].size() > 1) return merge_inside_level(shape, level, "level has several runs");
  }
  if (auto plan = pick_by_size(shape, options)) return plan;
  return pick_by_deletes(shape, options);
}

/// From level 0, which affects readers, and the fullest level, which is deferred work.
double debt(const Shape& shape, const PolicyOptions& options) {
  const auto runs = static_cast<double>(runs_of(shape, 0).size());
  double debt = std::max(0.0, (runs - kLevelZeroRuns) / (kMaxLevelZeroRuns - kLevelZeroRuns));
  for (std::uint32_t level = 1; level < std::min<std::size_t>(shape.levels.size(), kDeepest); ++level) {
    const double ratio = static_cast<double>(bytes_of_level(shape, level)) / full_bytes(level, options);
    debt = std::max(debt, std::min(kMaxLevelDebt, (ratio - 1) / (kMaxLevelRatio - 1)));
  }
  return debt;
}

}  // namespace

constinit const CompactionPolicy kLeveledPolicy = {
    .name = "leveled",
    .summary = "one run per level: fewest runs, least space, most write amplification",
    .pick = pick,
    .debt = debt,
};

}  // namespace tamis
