// Several runs of about one size in every level; `fanout` of them become one of the next: every entry is rewritten once
// per level, least of all policies. Runs to ask and outdated versions are many; the filters make up for the first.
//
// Why it ends: every plan leaves less runs, or brings a whole run a level down, and none brings anything up.
#include <algorithm>

#include "compaction/old_deletes.h"
#include "compaction/policies.h"
#include "compaction/tiers.h"

namespace tamis {
namespace {

/// The smallest runs first: they arrive fastest.
std::optional<CompactionPlan> pick(const Shape& shape, const PolicyOptions& options) {
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    if (auto plan = pick_from_tier(shape, level, options)) return plan;
  }
  return pick_run_of_deletes(shape, options);
}

double debt(const Shape& shape, const PolicyOptions& options) {
  double debt = 0;
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    debt = std::max(debt, debt_of_tier(shape, level, options));
  }
  return debt;
}

}  // namespace

constinit const CompactionPolicy kTieredPolicy = {
    .name = "tiered",
    .summary = "several runs per level: least rewriting, most runs and space",
    .pick = pick,
    .debt = debt,
};

}  // namespace tamis
