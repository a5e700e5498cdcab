// Several runs of similar size in every level; `fanout` of them become one run of the next. Every entry is rewritten
// once per level, the least of all policies. Runs and old versions are many; filters make up for the former.
//
// Termination: every plan leaves fewer runs or moves a whole run down a level, and none moves anything up.
#include "compaction/level_zero.h"
#include "compaction/old_deletes.h"
#include "compaction/policies.h"
#include "compaction/tiers.h"

namespace tamis {
namespace {

/// The smallest runs first: they arrive fastest.
std::optional<CompactionPlan> pick(const Shape& shape, const PolicyOptions& options, Admission& admission) {
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    if (auto plan = pick_from_tier(shape, level, options, admission)) return plan;
  }
  if (auto plan = relieve_level_zero(shape, options, admission)) return plan;
  return pick_run_of_deletes(shape, options, admission);
}

double debt(const Shape& shape, const PolicyOptions& options) {
  return debt_of_tiers(shape, shape.levels.size(), options);
}

std::uint64_t backlog(const Shape& shape, const PolicyOptions& options) {
  return backlog_of_tiers(shape, shape.levels.size(), options);
}

}  // namespace

constinit const CompactionPolicy kTieredPolicy = {
    .name = "tiered",
    .summary = "several runs per level: most runs and space, least write amplification",
    .pick_beside = pick,
    .debt = debt,
    .backlog = backlog,
};

}  // namespace tamis
