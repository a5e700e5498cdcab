// One line per policy, the default first.
#include <array>

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

const CompactionPolicy* find_compaction_policy(std::string_view name) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    if (policy.name == name) return &policy;
  }
  return nullptr;
}

}  // namespace tamis
