// The steps of compact(range).
//
// From level 0 down, the tables of the goal are merged into the next level that they overlap, at most the last, and
// there into the oldest run that has keys in the range. A step begins with some tables of the newest run of the level
// that has any of the goal. It adds the tables of older runs that they overlap, and those that these overlap. Newer
// ones stay above. In the last level, tables that still hold tombstones or old versions are rewritten in place.
//
// The last level is the deepest non-empty one, but at least level 1. So a store with only level 0 is rewritten once,
// and that run of the last level is left alone unless something can be dropped.
//
// Termination, whatever flushes and other compactions do between steps: nothing of the goal moves up, and nothing is
// added to it. Above the last level, each step moves some of it further down; in the last level, each step leaves fewer
// old tables with dead entries.
#include <algorithm>

#include "compaction/plan_parts.h"

namespace tamis {
namespace {

using Tables = std::vector<std::shared_ptr<const TableFacts>>;

constexpr std::string_view kReason = "compact was called";

bool is_in_range(const RangeGoal& goal, const TableFacts& table) {
  return table.overlaps(goal.from, goal.to ? KeyEnd::before(*goal.to) : KeyEnd::nowhere());
}

/// Whether the table holds something that existed when the goal was set.
bool is_of_goal(const RangeGoal& goal, const TableFacts& table) {
  return is_in_range(goal, table) && table.smallest_sequence <= goal.newest;
}

bool holds_nothing_dead(const TableFacts& table, const RangeGoal& goal) {
  const bool has_expired = table.expiring != 0 && table.earliest_due <= goal.expired_by;
  return table.tombstones() == 0 && table.operands == 0 && table.entries == table.keys && !has_expired;
}

bool is_to_be_cleaned(const RangeGoal& goal, const TableFacts& table) {
  return is_in_range(goal, table) && table.number < goal.first_new_table && !holds_nothing_dead(table, goal);
}

std::uint32_t last_level_of(const Shape& shape) { return std::max<std::uint32_t>(1, shape.last_level()); }

/// The target position in the last level: the oldest run that has keys in the range.
std::size_t place_of_target(std::span<const Run> runs, const RangeGoal& goal) {
  for (std::size_t place = runs.size(); place-- > 0;) {
    if (std::ranges::any_of(runs[place].tables, [&](const auto& table) { return is_in_range(goal, *table); })) {
      return place;
    }
  }
  return 0;
}

/// The runs of a level that the goal must leave.
std::span<const Run> runs_to_leave(const Shape& shape, std::uint32_t level, const RangeGoal& goal) {
  const std::span<const Run> runs = runs_of(shape, level);
  return level < last_level_of(shape) ? runs : runs.first(place_of_target(runs, goal));
}

/// A plan that grows from newer runs to older ones.
struct Descent {
  const RangeGoal& goal;
  CompactionPlan plan = {};
  KeySpan hull = {};  // Of all inputs.
  std::uint64_t bytes = 0;
  bool holds_nothing_dead = true;

  void add(std::uint32_t level, const Run& run, std::span<const std::shared_ptr<const TableFacts>> tables) {
    if (tables.empty()) return;
    CompactionInput& input = plan.inputs.emplace_back(CompactionInput{.level = level, .run = run.id, .tables = {}});
    for (const auto& table : tables) {
      input.tables.push_back(table->number);
      holds_nothing_dead = holds_nothing_dead && tamis::holds_nothing_dead(*table, goal);
    }
    const KeySpan span = span_of(*tables.front()).joined(span_of(*tables.back()));
    hull = plan.inputs.size() == 1 ? span : hull.joined(span);
    bytes += bytes_of(tables);
  }
  void add_overlapping(std::uint32_t level, std::span<const Run> runs) {
    for (const Run& run : runs) add(level, run, overlapping(run, hull));
  }
  /// Same, but includes runs with little of the goal as a whole: otherwise runs flushed in key order would stay as many
  /// small tables.
  void add_overlapping_or_small(std::uint32_t level, std::span<const Run> runs) {
    for (const Run& run : runs) {
      KeySpan widened = hull;
      std::uint64_t bytes_of_goal = 0;
      for (const auto& table : run.tables) {
        if (!is_of_goal(goal, *table)) continue;
        widened = widened.joined(span_of(*table));
        bytes_of_goal += table->file_bytes;
      }
      if (bytes + bytes_of_goal <= goal.step_bytes) hull = widened;
      add(level, run, overlapping(run, hull));
    }
  }
};

bool has_overlap(const Shape& shape, std::uint32_t level, const KeySpan& span) {
  return std::ranges::any_of(runs_of(shape, level), [&](const Run& run) { return !overlapping(run, span).empty(); });
}

/// These tables of a run, in key order, and everything that must go with them.
Descent descend(const Shape& shape, std::uint32_t level, const Run& run,
                std::span<const std::shared_ptr<const TableFacts>> tables, const RangeGoal& goal) {
  const std::uint32_t last = last_level_of(shape);
  Descent descent{.goal = goal};
  descent.plan.reason = kReason;
  descent.add(level, run, tables);
  const std::span<const Run> to_leave = runs_to_leave(shape, level, goal);
  const auto older = static_cast<std::size_t>(&run - to_leave.data()) + 1;
  descent.add_overlapping_or_small(level, to_leave.subspan(older));
  if (level == last) descent.add_overlapping(level, runs_of(shape, level).subspan(to_leave.size(), 1));
  std::uint32_t target = level;
  if (level < last) {
    do ++target;
    while (target < last && !has_overlap(shape, target, descent.hull));
  }
  const std::span<const Run> below = runs_of(shape, target);
  const std::size_t place = target == last ? place_of_target(below, goal) : 0;
  descent.plan.output_level = target;
  descent.plan.output_run = below.empty() ? new_run_id(shape, target) : below[place].id;
  if (target > level && !below.empty()) descent.add_overlapping(target, below.first(place + 1));
  // Moved if nothing can be dropped. Not from level 0: its tables have the filters and codec of short-lived tables.
  descent.plan.is_move = level > 0 && descent.plan.inputs.size() == 1 && descent.holds_nothing_dead;
  return descent;
}

/// As many tables of the run as fit in a step.
std::optional<CompactionPlan> leave_run(const Shape& shape, std::uint32_t level, const Run& run,
                                        const RangeGoal& goal) {
  Tables chosen;
  std::ranges::copy_if(run.tables, std::back_inserter(chosen),
                       [&](const auto& table) { return is_of_goal(goal, *table); });
  if (chosen.empty()) return std::nullopt;
  for (std::size_t count = 1;; count *= 2) {
    Descent descent = descend(shape, level, run, std::span(chosen).first(std::min(count, chosen.size())), goal);
    if (count >= chosen.size() || descent.bytes >= goal.step_bytes) return std::move(descent.plan);
  }
}

/// Tables of the last level, in place.
std::optional<CompactionPlan> clean_last_level(const Shape& shape, const RangeGoal& goal) {
  const std::uint32_t last = last_level_of(shape);
  const std::span<const Run> runs = runs_of(shape, last);
  if (runs.empty()) return std::nullopt;
  const Run& run = runs[place_of_target(runs, goal)];
  CompactionPlan plan = {.inputs = {{.level = last, .run = run.id, .tables = {}}},
                         .output_level = last,
                         .output_run = run.id,
                         .is_move = false,
                         .reason = kReason};
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t>& tables = plan.inputs.front().tables;
  for (const auto& table : run.tables) {
    const bool is_one = is_to_be_cleaned(goal, *table);
    if (is_one) tables.push_back(table->number);
    if (is_one) bytes += table->file_bytes;
    if (!tables.empty() && (!is_one || bytes >= goal.step_bytes)) break;
  }
  return tables.empty() ? std::nullopt : std::optional(std::move(plan));
}

}  // namespace

std::optional<CompactionPlan> pick_for_range(const Shape& shape, const RangeGoal& goal) {
  if (goal.to && *goal.to <= goal.from) return std::nullopt;
  const std::uint32_t last = last_level_of(shape);
  for (std::uint32_t level = 0; level <= last; ++level) {
    for (const Run& run : runs_to_leave(shape, level, goal)) {
      if (auto plan = leave_run(shape, level, run, goal)) return plan;
    }
  }
  return clean_last_level(shape, goal);
}

std::uint64_t bytes_left_for_range(const Shape& shape, const RangeGoal& goal) {
  if (goal.to && *goal.to <= goal.from) return 0;
  const std::uint32_t last = last_level_of(shape);
  std::uint64_t left = 0;
  for (std::uint32_t level = 0; level <= last; ++level) {
    for (const Run& run : runs_to_leave(shape, level, goal)) {
      for (const auto& table : run.tables) {
        if (is_of_goal(goal, *table)) left += table->file_bytes * std::max(1U, last - level);
      }
    }
  }
  const std::span<const Run> runs = runs_of(shape, last);
  if (runs.empty()) return left;
  for (const auto& table : runs[place_of_target(runs, goal)].tables) {
    if (is_to_be_cleaned(goal, *table)) left += table->file_bytes;
  }
  return left;
}

}  // namespace tamis
