// A level of several runs of similar size, shared by the tiered and the lazy policy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "compaction/claims.h"
#include "compaction/policy.h"

namespace tamis {

/// The number of runs that fills a tier: the fanout, at least 2.
std::size_t runs_of_full_tier(const PolicyOptions& options);

/// Nothing unless the tier is full; otherwise, in this order:
///  - Moves the oldest run into the newest of the next level if it overlaps neither that nor any run of its own level:
///    a load in key order is never rewritten.
///  - Moves the oldest run down as a separate run if it is as large as a full tier of the others: it came from another
///    policy or such a load, and rewriting it with small runs would gain nothing.
///  - Merges all runs into a new one in the next level or, in the deepest level, in their place.
/// Runs that are being rewritten do not count. A plan that must wait is put off.
std::optional<CompactionPlan> pick_from_tier(const Shape& shape, std::uint32_t level, const PolicyOptions& options,
                                             Admission& admission);

/// Only the first of the three, for the oldest of these runs.
std::optional<CompactionPlan> move_into_next_level(const Shape& shape, std::uint32_t level, std::span<const Run> runs);

/// The largest of the first `levels` tiers: 0 up to a full tier; 1 at twice as many runs, or at eight more if that is
/// larger.
double debt_of_tiers(const Shape& shape, std::size_t levels, const PolicyOptions& options);

/// The bytes of those of the first `levels` tiers that are full.
std::uint64_t backlog_of_tiers(const Shape& shape, std::size_t levels, const PolicyOptions& options);

}  // namespace tamis
