#include "compaction/tiers.h"

#include <algorithm>
#include <utility>

#include "compaction/level_zero.h"
#include "compaction/plan_parts.h"

namespace tamis {
namespace {

constexpr double kMinSlack = 8;  // At a fanout of 2, a debt of 1 at 4 runs would slow writes for two flushes.

bool is_outgrown(std::span<const Run> runs, const PolicyOptions& options) {
  std::uint64_t largest_other = 0;
  for (const Run& run : runs.first(runs.size() - 1)) largest_other = std::max(largest_other, run.bytes());
  return runs.back().bytes() / runs_of_full_tier(options) >= std::max<std::uint64_t>(1, largest_other);
}

}  // namespace

std::size_t runs_of_full_tier(const PolicyOptions& options) { return std::max<std::size_t>(2, options.fanout); }

std::optional<CompactionPlan> move_into_next_level(const Shape& shape, std::uint32_t level, std::span<const Run> runs) {
  const Run& oldest = runs.back();
  for (const Run& run : runs.first(runs.size() - 1)) {
    if (overlap(oldest, run)) return std::nullopt;
  }
  const Run* below = newest_run(shape, level + 1);
  if (below != nullptr && overlap(oldest, *below)) return std::nullopt;
  const std::uint64_t target = below != nullptr ? below->id : new_run_id(shape, level + 1);
  if (!may_move_to(shape, level + 1, target, oldest.transients())) return std::nullopt;
  return CompactionPlan{.inputs = {whole_run(level, oldest)},
                        .output_level = level + 1,
                        .output_run = target,
                        .is_move = true,
                        .reason = "run overlaps nothing"};
}

std::optional<CompactionPlan> pick_from_tier(const Shape& shape, std::uint32_t level, const PolicyOptions& options,
                                             Admission& admission) {
  const std::span<const Run> runs = admission.oldest_free(shape, level);
  if (runs.size() < runs_of_full_tier(options)) return std::nullopt;
  if (level + 1 == Shape::kMaxLevels) {
    return admission.admit_or_put_off(shape, merge_in_place(level, runs, "tier is full"));
  }
  if (auto plan = move_into_next_level(shape, level, runs); plan && admission.admits(shape, *plan)) return plan;

  CompactionPlan plan = {.inputs = {},
                         .output_level = level + 1,
                         .output_run = new_run_id(shape, level + 1),
                         .is_move = false,
                         .reason = "tier is full"};
  if (is_outgrown(runs, options)) {
    plan.inputs = {whole_run(level, runs.back())};
    plan.is_move = true;
    plan.reason = "run outgrew its tier";
  } else {
    for (const Run& run : runs) plan.inputs.push_back(whole_run(level, run));
  }
  return admission.admit_or_put_off(shape, std::move(plan));
}

double debt_of_tiers(const Shape& shape, std::size_t levels, const PolicyOptions& options) {
  const auto full = static_cast<double>(runs_of_full_tier(options));
  const double slack = std::max(full, kMinSlack);
  double debt = debt_of_level_zero_bytes(shape, options, full, slack);
  for (std::uint32_t level = 0; level < levels; ++level) {
    const auto runs = static_cast<double>(runs_of(shape, level).size());
    debt = std::max(debt, (runs - full) / slack);
  }
  return debt;
}

std::uint64_t backlog_of_tiers(const Shape& shape, std::size_t levels, const PolicyOptions& options) {
  std::uint64_t backlog = 0;
  for (std::uint32_t level = 0; level < levels; ++level) {
    if (runs_of(shape, level).size() >= runs_of_full_tier(options)) backlog += bytes_of_level(shape, level);
  }
  return backlog;
}

}  // namespace tamis
