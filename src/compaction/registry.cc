// One line per policy, the default first.
#include <array>

#include "compaction/claims.h"
#include "compaction/policies.h"

namespace tamis {

std::span<const CompactionPolicy> compaction_policies() {
  static const std::array policies = {
      kLeveledPolicy,
      kTieredPolicy,
      kLazyPolicy,
      kManualPolicy,
  };
  return policies;
}

std::optional<CompactionPlan> CompactionPolicy::pick(const Shape& shape, const PolicyOptions& options) const {
  Admission alone;
  return pick_beside(shape, options, alone);
}

const CompactionPolicy* find_compaction_policy(std::string_view name) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    if (policy.name == name) return &policy;
  }
  return nullptr;
}

}  // namespace tamis
