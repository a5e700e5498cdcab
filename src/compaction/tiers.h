// A level of several runs of about one size: what the tiered and the lazy policy have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "compaction/policy.h"

namespace tamis {

/// How many runs a tier has when they are merged: the fanout, at least 2.
std::size_t runs_of_full_tier(const PolicyOptions& options);

/// For a tier that has that many runs, otherwise nothing; in this order:
///  - The oldest run is moved into the newest of the next level if it overlaps neither that nor any run of its own
///    level: a load in key order is never rewritten.
///  - The oldest run is moved down as a run of its own if it is as large as a full tier of the others: it came from
///    another policy or such a load, and rewriting it together with small runs would gain nothing.
///  - All runs are merged into a new one of the next level; at the deepest level, in their place.
std::optional<CompactionPlan> pick_from_tier(const Shape& shape, std::uint32_t level, const PolicyOptions& options);

/// The first of the three alone.
std::optional<CompactionPlan> move_into_next_level(const Shape& shape, std::uint32_t level);

/// 0 up to a full tier, 1 when there are twice as many runs, or eight more if that is more.
double debt_of_tier(const Shape& shape, std::uint32_t level, const PolicyOptions& options);

}  // namespace tamis
