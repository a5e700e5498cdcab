// Never by itself: runs pile up until the user asks. For loads that are compacted once, and to see what filters do
// when there are a hundred runs.
#include "compaction/policies.h"

namespace tamis {
namespace {

std::optional<CompactionPlan> pick(const Shape& /*shape*/, const PolicyOptions& /*options*/) { return std::nullopt; }

/// Nothing is ever due, so nobody is ever slowed down.
double debt(const Shape& /*shape*/, const PolicyOptions& /*options*/) { return 0; }

}  // namespace

constinit const CompactionPolicy kManualPolicy = {
    .name = "manual",
    .summary = "never by itself; only when compact() is called",
    .pick = pick,
    .debt = debt,
};

}  // namespace tamis
