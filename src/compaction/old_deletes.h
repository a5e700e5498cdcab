// When the deletes of a table are reason enough to rewrite it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "compaction/policy.h"
#include "table/table_facts.h"

namespace tamis {

/// How long a delete may wait for an ordinary compaction in level 0; in each deeper level twice as long as in the one
/// above. What a user deleted should be gone in days, 2^levels of them; but deeper levels are larger and merged into
/// still larger ones, so going through them every day would cost more than all other compaction.
inline constexpr std::uint64_t kDeleteWaitSeconds = 24 * 60 * 60;

/// Why the table should go down though its level has room; empty: it need not. A table goes for
///  - age: its oldest delete came into a table longer ago than deletes may wait in this level, or, by a clock that was
///    set back, as far ahead;
///  - density: more than half of its entries are deletes. Not in level 0, where the next merge is near; a load of many
///    deletes would otherwise rewrite level 1 with each flush.
/// Asked only of tables that have something older beneath them: only there deletes have something to cover, and only
/// going down is progress. Rewritten in the last place they could stay for a snapshot's sake, and be asked for for
/// ever.
std::string_view reason_of_deletes(const TableFacts& table, std::uint32_t level, const PolicyOptions& options);

/// The whole run in which such a table is, with what it overlaps of the next older run, into that run: for policies
/// with several runs in a level. The oldest such run first. There is one run less afterwards, so this ends.
std::optional<CompactionPlan> pick_run_of_deletes(const Shape& shape, const PolicyOptions& options);

}  // namespace tamis
