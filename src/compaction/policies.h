// The policies, each defined in its own .cc; registry.cc orders them.
#pragma once

#include "compaction/policy.h"

namespace tamis {

extern const CompactionPolicy kLeveledPolicy;
extern const CompactionPolicy kTieredPolicy;
extern const CompactionPolicy kLazyPolicy;
extern const CompactionPolicy kManualPolicy;

}  // namespace tamis
