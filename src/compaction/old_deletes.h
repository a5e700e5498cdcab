// When the tombstones or merge operands of a table justify rewriting it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compaction/claims.h"
#include "compaction/policy.h"
#include "table/table_facts.h"

namespace tamis {

/// How long a tombstone may wait for an ordinary compaction in level 0; each deeper level doubles it. Deleted data
/// should be gone in days, 2^levels of them. But deeper levels are larger and merged into still larger ones, so
/// rewriting them every day would cost more than all other compaction.
inline constexpr std::uint64_t kDeleteWaitSeconds = 24 * 60 * 60;

/// Why the table should move down although its level is not full; empty: it need not. The reasons are
///  - age: its oldest tombstone entered a table longer ago than the wait of this level or, if the clock was set back,
///    as far in the future;
///  - density: more than half of its entries are tombstones. Not in level 0, where the next merge is near; a load of
///    many deletes would otherwise rewrite level 1 with each flush (leveled.cc has an exception). The same for merge
///    operands: further down, they are folded with those of older runs and with values.
/// Only for tables with something older below them: only there do tombstones cover anything, and only moving down is
/// progress. In the last position, a snapshot could keep them, and they would be rewritten for ever.
std::string_view reason_of_deletes(const TableFacts& table, std::uint32_t level, const PolicyOptions& options);

/// Merges the whole run of such a table, with the tables it overlaps in the next older run, into that run: for policies
/// with several runs per level. The oldest such run first. Each plan leaves one run fewer, so this terminates.
std::optional<CompactionPlan> pick_run_of_deletes(const Shape& shape, const PolicyOptions& options,
                                                  const Admission& admission);

}  // namespace tamis
