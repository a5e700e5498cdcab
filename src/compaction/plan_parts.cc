#include "compaction/plan_parts.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace tamis {

KeySpan KeySpan::joined(const KeySpan& other) const {
  return {.smallest = std::min(smallest, other.smallest), .end = std::max(end, other.end)};
}

KeyRange KeySpan::to_range() const {
  KeyRange range{std::string(smallest), std::nullopt};
  if (end.kind != KeyEnd::Kind::kNowhere) range.to.emplace(end.key);
  if (end.kind == KeyEnd::Kind::kWith) range.to->push_back('\0');
  return range;
}

KeySpan span_of(const TableFacts& table) { return {.smallest = table.begin(), .end = table.end()}; }

KeySpan span_of(const Run& run) {
  TAMIS_INVARIANT(!run.tables.empty());
  return {.smallest = run.tables.front()->begin(), .end = run.tables.back()->end()};
}

KeySpan span_of(std::span<const Run> runs) {
  TAMIS_INVARIANT(!runs.empty());
  KeySpan span = span_of(runs.front());
  for (const Run& run : runs) span = span.joined(span_of(run));
  return span;
}

std::span<const std::shared_ptr<const TableFacts>> overlapping(const Run& run, const KeySpan& span) {
  const auto begin = std::ranges::partition_point(
      run.tables, [&](const auto& table) { return table->end().is_before(span.smallest); });
  const auto end = std::partition_point(begin, run.tables.end(),
                                        [&](const auto& table) { return !span.end.is_before(table->begin()); });
  return {begin, end};
}

std::uint64_t bytes_of(std::span<const std::shared_ptr<const TableFacts>> tables) {
  std::uint64_t bytes = 0;
  for (const auto& table : tables) bytes += table->file_bytes;
  return bytes;
}

bool overlap(const Run& a, const Run& b) {
  return std::ranges::any_of(a.tables, [&](const auto& table) { return !overlapping(b, span_of(*table)).empty(); });
}

std::span<const Run> runs_of(const Shape& shape, std::uint32_t level) {
  if (level >= shape.levels.size()) return {};
  return shape.levels[level];
}

std::uint64_t bytes_of_level(const Shape& shape, std::uint32_t level) {
  std::uint64_t bytes = 0;
  for (const Run& run : runs_of(shape, level)) bytes += run.bytes();
  return bytes;
}

const Run* newest_run(const Shape& shape, std::uint32_t level) {
  const std::span<const Run> runs = runs_of(shape, level);
  return runs.empty() ? nullptr : &runs.front();
}

std::uint64_t new_run_id(const Shape& shape, std::uint32_t level) {
  const Run* newest = newest_run(shape, level);
  return newest == nullptr ? 1 : newest->id + 1;
}

bool is_oldest(const Shape& shape, std::uint32_t level, std::uint64_t run) {
  for (std::uint32_t deeper = level + 1; deeper < shape.levels.size(); ++deeper) {
    if (!shape.levels[deeper].empty()) return false;
  }
  return runs_of(shape, level).empty() || runs_of(shape, level).back().id >= run;
}

std::vector<const Run*> runs_older_than_inputs(const Shape& shape, const CompactionPlan& plan) {
  const CompactionInput& oldest = plan.inputs.back();
  std::vector<const Run*> older;
  for (std::uint32_t level = oldest.level; level < shape.levels.size(); ++level) {
    for (const Run& run : shape.levels[level]) {
      if (level > oldest.level || run.id < oldest.run) older.push_back(&run);
    }
  }
  return older;
}

CompactionInput whole_run(std::uint32_t level, const Run& run) {
  CompactionInput input = {.level = level, .run = run.id, .tables = {}};
  for (const auto& table : run.tables) input.tables.push_back(table->number);
  return input;
}

bool add_overlapping(CompactionPlan& plan, std::uint32_t level, const Run& run, const KeySpan& span) {
  CompactionInput input = {.level = level, .run = run.id, .tables = {}};
  for (const auto& table : overlapping(run, span)) input.tables.push_back(table->number);
  if (input.tables.empty()) return false;
  plan.inputs.push_back(std::move(input));
  return true;
}

CompactionPlan merge_in_place(std::uint32_t level, std::span<const Run> runs, std::string_view reason) {
  CompactionPlan plan = {
      .inputs = {}, .output_level = level, .output_run = runs.front().id, .is_move = false, .reason = reason};
  for (const Run& run : runs) plan.inputs.push_back(whole_run(level, run));
  return plan;
}

CompactionPlan merge_into_next(const Shape& shape, std::uint32_t level, std::vector<CompactionInput> inputs,
                               const KeySpan& span, std::string_view reason) {
  const Run* below = newest_run(shape, level + 1);
  CompactionPlan plan = {.inputs = std::move(inputs),
                         .output_level = level + 1,
                         .output_run = below != nullptr ? below->id : new_run_id(shape, level + 1),
                         .is_move = false,
                         .reason = reason};
  if (below != nullptr) add_overlapping(plan, level + 1, *below, span);
  return plan;
}

CompactionPlan merge_into_next(const Shape& shape, std::uint32_t level, std::span<const Run> runs,
                               std::string_view reason) {
  std::vector<CompactionInput> inputs;
  for (const Run& run : runs) inputs.push_back(whole_run(level, run));
  return merge_into_next(shape, level, std::move(inputs), span_of(runs), reason);
}

bool may_move_to(const Shape& shape, std::uint32_t level, std::uint64_t run, std::uint64_t transients) {
  return transients == 0 || !is_oldest(shape, level, run);
}

}  // namespace tamis
