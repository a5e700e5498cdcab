// What compact(range) does, step by step.
//
// From level 0 down, what overlaps the range in a level goes into the next level where anything is in its way, at most
// into the last: every step is about as large as what it must rewrite. In the last level what overlaps the range in
// several runs goes into the oldest of them.
//
// The last level is the deepest that holds anything, but at least level 1. So a store with nothing but level 0 is
// rewritten once, and what is in one run of the last level is left alone, whatever outdated versions it still has for
// the sake of a snapshot: steps always go down, or leave less runs, and therefore end.
#include <algorithm>

#include "compaction/plan_parts.h"

namespace tamis {
namespace {

struct Range {
  std::string_view from;
  std::optional<std::string_view> to;

  [[nodiscard]] bool overlaps(const TableFacts& table) const {
    return table.largest_key >= from && (!to || table.smallest_key < *to);
  }
  [[nodiscard]] bool overlaps(const Run& run) const {
    return std::ranges::any_of(run.tables, [&](const auto& table) { return overlaps(*table); });
  }
};

/// From the first to the last key of what overlaps the range in this level, and of what overlaps that, and so on: a
/// table can only leave its level together with all older ones it overlaps.
std::optional<KeySpan> closure(std::span<const Run> runs, const Range& range) {
  std::optional<KeySpan> span;
  for (const Run& run : runs) {
    for (const auto& table : run.tables) {
      if (range.overlaps(*table)) span = span ? span->joined(span_of(*table)) : span_of(*table);
    }
  }
  for (bool grows = span.has_value(); grows;) {
    const KeySpan before = *span;
    for (const Run& run : runs) {
      const auto tables = overlapping(run, *span);
      if (!tables.empty()) span = span->joined(span_of(*tables.front())).joined(span_of(*tables.back()));
    }
    grows = span->smallest != before.smallest || span->largest != before.largest;
  }
  return span;
}

bool has_overlap(const Shape& shape, std::uint32_t level, const KeySpan& span) {
  return std::ranges::any_of(runs_of(shape, level), [&](const Run& run) { return !overlapping(run, span).empty(); });
}

/// Moved if there is nothing to leave out. Not from level 0: its tables have the filters and the codec of tables that
/// live for a short time.
bool may_move(const Shape& shape, const CompactionPlan& plan) {
  if (plan.inputs.size() != 1 || plan.inputs.front().level == 0) return false;
  const Run* run = shape.find_run(plan.inputs.front().level, plan.inputs.front().run);
  return std::ranges::all_of(run->tables, [&](const auto& table) {
    return std::ranges::count(plan.inputs.front().tables, table->number) == 0 ||
           (table->deletes == 0 && table->entries == table->keys);
  });
}

CompactionPlan go_down(const Shape& shape, std::uint32_t level, std::uint32_t last, const KeySpan& span) {
  std::uint32_t target = level + 1;
  while (target < last && !has_overlap(shape, target, span)) ++target;
  const Run* below = newest_run(shape, target);
  CompactionPlan plan = {.inputs = {},
                         .output_level = target,
                         .output_run = below != nullptr ? below->id : new_run_id(shape, target),
                         .is_move = false,
                         .reason = "compact was called"};
  for (const Run& run : runs_of(shape, level)) add_overlapping(plan, level, run, span);
  if (below != nullptr) add_overlapping(plan, target, *below, span);
  plan.is_move = may_move(shape, plan);
  return plan;
}

}  // namespace

std::optional<CompactionPlan> pick_for_range(const Shape& shape, std::string_view from,
                                             std::optional<std::string_view> to) {
  const Range range = {.from = from, .to = to};
  if (to && *to <= from) return std::nullopt;
  const std::uint32_t last = std::max<std::uint32_t>(1, shape.last_level());
  for (std::uint32_t level = 0; level < last; ++level) {
    if (const auto span = closure(runs_of(shape, level), range)) return go_down(shape, level, last, *span);
  }

  const std::span<const Run> runs = runs_of(shape, last);
  if (std::ranges::count_if(runs, [&](const Run& run) { return range.overlaps(run); }) < 2) return std::nullopt;
  const auto span = closure(runs, range);
  CompactionPlan plan = {
      .inputs = {}, .output_level = last, .output_run = 0, .is_move = false, .reason = "compact was called"};
  for (const Run& run : runs) add_overlapping(plan, last, run, *span);
  plan.output_run = plan.inputs.back().run;
  return plan;
}

}  // namespace tamis
