// The kinds, each defined in its own .cc; registry.cc orders them.
#pragma once

#include "filter/filter_kind.h"

namespace tamis {

extern const FilterKind kBloomKind;
extern const FilterKind kLineKind;
extern const FilterKind kRibbonKind;
extern const FilterKind kFuseKind;
extern const FilterKind kSplitKind;
extern const FilterKind kCuckooKind;
extern const FilterKind kCountingKind;
extern const FilterKind kScalableKind;

}  // namespace tamis
