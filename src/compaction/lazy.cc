// Tiers above one run that is nearly the whole store ("lazy leveling"). Old versions are few, as in the leveled policy,
// because only the tiers can hold them. Entries are rewritten once per tier, as in the tiered one, and then with the
// last level.
//
// The last level is level 1 at first. It moves down unchanged when it outgrows what the tiers above can feed in
// reasonable portions: memtable_bytes · fanout^(level + 1), fanout times the full tier above. A full tier is merged
// into it as a whole. That compaction is as large as the part of the last level it overlaps, normally all of it, and
// needs that much free space.
//
// Termination: every plan leaves fewer runs or moves a whole run down a level, and none moves anything up.
#include <algorithm>
#include <cmath>

#include "compaction/level_zero.h"
#include "compaction/old_deletes.h"
#include "compaction/plan_parts.h"
#include "compaction/policies.h"
#include "compaction/tiers.h"

namespace tamis {
namespace {

std::uint32_t last_level_of(const Shape& shape) { return std::max<std::uint32_t>(1, shape.last_level()); }

double most_bytes_of_last(std::uint32_t level, const PolicyOptions& options) {
  return std::max(1.0, static_cast<double>(options.memtable_bytes)) *
         std::pow(static_cast<double>(runs_of_full_tier(options)), level + 1);
}

std::optional<CompactionPlan> pick_from_last_tier(const Shape& shape, std::uint32_t level, const PolicyOptions& options,
                                                  Admission& admission) {
  const std::span<const Run> runs = admission.oldest_free(shape, level);
  if (runs.size() < runs_of_full_tier(options)) return std::nullopt;
  if (auto plan = move_into_next_level(shape, level, runs); plan && admission.admits(shape, *plan)) return plan;
  return admission.admit_or_put_off(shape, merge_into_next(shape, level, runs, "last tier is full"));
}

/// Its tombstones may move with it: nothing was older where it was.
std::optional<CompactionPlan> deepen(const Shape& shape, std::uint32_t last, const PolicyOptions& options) {
  const Run* run = newest_run(shape, last);
  if (run == nullptr || last + 1 == Shape::kMaxLevels) return std::nullopt;
  if (static_cast<double>(run->bytes()) <= most_bytes_of_last(last, options)) return std::nullopt;
  return CompactionPlan{.inputs = {whole_run(last, *run)},
                        .output_level = last + 1,
                        .output_run = new_run_id(shape, last + 1),
                        .is_move = true,
                        .reason = "last level is too large"};
}

std::optional<CompactionPlan> pick(const Shape& shape, const PolicyOptions& options, Admission& admission) {
  const std::uint32_t last = last_level_of(shape);
  for (std::uint32_t level = 0; level + 1 < last; ++level) {
    if (auto plan = pick_from_tier(shape, level, options, admission)) return plan;
  }
  if (const std::span<const Run> runs = runs_of(shape, last); runs.size() > 1) {
    auto plan = admission.admit_or_put_off(shape, merge_in_place(last, runs, "last level has several runs"));
    if (plan) return plan;
  }
  if (auto plan = pick_from_last_tier(shape, last - 1, options, admission)) return plan;
  if (auto plan = deepen(shape, last, options); plan && admission.admits(shape, *plan)) return plan;
  if (auto plan = relieve_level_zero(shape, options, admission)) return plan;
  return pick_run_of_deletes(shape, options, admission);
}

double debt(const Shape& shape, const PolicyOptions& options) {
  return debt_of_tiers(shape, last_level_of(shape), options);
}

std::uint64_t backlog(const Shape& shape, const PolicyOptions& options) {
  const std::uint32_t last = last_level_of(shape);
  const std::uint64_t of_tiers = backlog_of_tiers(shape, last, options);
  const bool is_due = runs_of(shape, last).size() > 1 || deepen(shape, last, options);
  return of_tiers + (is_due ? bytes_of_level(shape, last) : 0);
}

}  // namespace

constinit const CompactionPolicy kLazyPolicy = {
    .name = "lazy",
    .summary = "tiers over one last run: less write amplification than leveled at nearly its space",
    .pick_beside = pick,
    .debt = debt,
    .backlog = backlog,
};

}  // namespace tamis
