// What to do with level 0 while the way down is taken.
#pragma once

#include <optional>

#include "compaction/claims.h"
#include "compaction/policy.h"
#include "tree/shape.h"

namespace tamis {

/// Merges the newest runs of level 0 into one in their place if they are many and the older ones are on their way down,
/// which these cannot pass: meanwhile readers have fewer runs to ask. A run that is much larger than a memtable stays
/// as it is. So an entry is rewritten once at most, and the number of runs still grows when level 0 does: there is an
/// end.
std::optional<CompactionPlan> relieve_level_zero(const Shape& shape, const PolicyOptions& options,
                                                 const Admission& admission);

/// 0 up to `usual` times a memtable in level 0, 1 when `slack` more are there, and at most 1.5: many bytes slow writers
/// and do not stop them. 0 too with fewer than `usual` runs: there is nothing to wait for.
double debt_of_level_zero_bytes(const Shape& shape, const PolicyOptions& options, double usual, double slack);

}  // namespace tamis
