// When expired entries justify dropping or rewriting a table.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compaction/claims.h"
#include "compaction/policy.h"
#include "entry/entry.h"
#include "tree/shape.h"

namespace tamis {

/// Rule 28: whether the table may go unread. All its entries expire, all of them are due for every reader, and no older
/// run overlaps it. `expired_by` belongs to `snapshots`, as in RewriteSpec.
bool may_go_unread(const TableFacts& table, const std::vector<const Run*>& older,
                   const std::vector<Sequence>& snapshots, const std::vector<std::uint64_t>& expired_by);

/// The tables of a run that may go unread, if any. `expired_by` is the time by which an entry must be due to be expired
/// for every reader, whatever its sequence.
std::optional<CompactionPlan> pick_wholly_expired(const Shape& shape, std::uint64_t expired_by,
                                                  const Admission& admission = {});
/// A table of which more than half has expired, by the estimate of its facts: it is rewritten in place. Nothing that is
/// due by then is left in it, so this terminates.
std::optional<CompactionPlan> pick_mostly_expired(const Shape& shape, std::uint64_t expired_by,
                                                  const Admission& admission = {});

}  // namespace tamis
