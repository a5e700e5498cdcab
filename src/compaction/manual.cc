// Never by itself: runs accumulate until the user calls compact(). For loads that are compacted once, and to show what
// filters do with a hundred runs.
#include "compaction/policies.h"

namespace tamis {
namespace {

std::optional<CompactionPlan> pick(const Shape& /*shape*/, const PolicyOptions& /*options*/, Admission& /*admission*/) {
  return std::nullopt;
}

/// Nothing is ever due, so writes are never slowed.
double debt(const Shape& /*shape*/, const PolicyOptions& /*options*/) { return 0; }

std::uint64_t backlog(const Shape& /*shape*/, const PolicyOptions& /*options*/) { return 0; }

}  // namespace

constinit const CompactionPolicy kManualPolicy = {
    .name = "manual",
    .summary = "only when compact() is called",
    .pick_beside = pick,
    .debt = debt,
    .backlog = backlog,
    .is_automatic = false,
};

}  // namespace tamis
