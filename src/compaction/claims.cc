#include "compaction/claims.h"

#include <algorithm>

#include "base/check.h"

namespace tamis {

bool PlanReach::meets(const PlanReach& other) const {
  if (oldest < other.newest || other.oldest < newest) return false;
  return !keys.ends_before(other.keys.from) && !other.keys.ends_before(keys.from);
}

PlanReach reach_of(const Shape& shape, const CompactionPlan& plan) {
  const RunAge output = {.level = plan.output_level, .run = plan.output_run};
  PlanReach reach = {.newest = output, .oldest = output};
  std::optional<KeySpan> keys;
  for (const CompactionInput& input : plan.inputs) {
    const RunAge age = {.level = input.level, .run = input.run};
    reach.newest = std::min(reach.newest, age);
    reach.oldest = std::max(reach.oldest, age);
    const Run* const run = shape.find_run(input.level, input.run);
    TAMIS_CHECK(run != nullptr);
    const std::unordered_set<std::uint64_t> wanted(input.tables.begin(), input.tables.end());
    for (const auto& table : run->tables) {
      if (wanted.contains(table->number)) keys = keys ? keys->joined(span_of(*table)) : span_of(*table);
    }
  }
  TAMIS_CHECK(keys);
  reach.keys = keys->to_range();
  return reach;
}

Claims::Id Claims::begin(const Shape& shape, const CompactionPlan& plan) {
  Running running{.reach = reach_of(shape, plan), .tables = {}};
  TAMIS_CHECK(!meets(running.reach));
  for (const CompactionInput& input : plan.inputs) {
    running.tables.insert(running.tables.end(), input.tables.begin(), input.tables.end());
  }
  tables_.insert(running.tables.begin(), running.tables.end());
  running_.emplace(next_, std::move(running));
  return next_++;
}

void Claims::end(Id id) {
  const auto ended = running_.find(id);
  TAMIS_CHECK(ended != running_.end());
  for (const std::uint64_t table : ended->second.tables) tables_.erase(table);
  running_.erase(ended);
}

bool Claims::has_any_of(const Run& run) const {
  return std::ranges::any_of(run.tables, [&](const auto& table) { return has(table->number); });
}

bool Claims::meets(const PlanReach& reach) const {
  return std::ranges::any_of(running_, [&](const auto& running) { return running.second.reach.meets(reach); });
}

std::span<const Run> Admission::oldest_free(const Shape& shape, std::uint32_t level) const {
  const std::span<const Run> runs = runs_of(shape, level);
  if (claims_ == nullptr) return runs;
  std::size_t begin = runs.size();
  while (begin > 0 && !claims_->has_any_of(runs[begin - 1])) --begin;
  return runs.subspan(begin);
}

std::span<const Run> Admission::newest_free(const Shape& shape, std::uint32_t level) const {
  const std::span<const Run> runs = runs_of(shape, level);
  if (claims_ == nullptr) return runs;
  std::size_t end = 0;
  while (end < runs.size() && !claims_->has_any_of(runs[end])) ++end;
  return runs.first(end);
}

bool Admission::admits(const Shape& shape, const CompactionPlan& plan) const {
  if (claims_ == nullptr) return true;
  const PlanReach reach = reach_of(shape, plan);
  if (claims_->meets(reach) || (claims_->reserved() && claims_->reserved()->meets(reach))) return false;
  return std::ranges::none_of(put_off_, [&](const PlanReach& other) { return other.meets(reach); });
}

std::optional<CompactionPlan> Admission::admit_or_put_off(const Shape& shape, CompactionPlan plan) {
  if (admits(shape, plan)) return plan;
  put_off_.push_back(reach_of(shape, plan));
  return std::nullopt;
}

}  // namespace tamis
