// Building blocks of compaction plans.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "compaction/policy.h"
#include "entry/key_range.h"
#include "tree/shape.h"

namespace tamis {

/// The age of a run: smaller is newer.
struct RunAge {
  std::uint32_t level = 0;
  std::uint64_t run = 0;

  friend bool operator==(const RunAge&, const RunAge&) = default;
  friend bool operator<(const RunAge& a, const RunAge& b) {
    return std::tie(a.level, b.run) < std::tie(b.level, a.run);
  }
};

/// From the beginning to the end of some tables, range deletes included (rule 25). The views belong to their facts.
struct KeySpan {
  std::string_view smallest;
  KeyEnd end;

  [[nodiscard]] KeySpan joined(const KeySpan& other) const;
  [[nodiscard]] bool overlaps(const TableFacts& table) const { return table.overlaps(smallest, end); }
  [[nodiscard]] KeyRange to_range() const;
};

KeySpan span_of(const TableFacts& table);
KeySpan span_of(const Run& run);
/// The span of all runs of a level, which has at least one.
KeySpan span_of(std::span<const Run> runs);

/// The tables of the run that overlap the span, which are adjacent. Binary search.
std::span<const std::shared_ptr<const TableFacts>> overlapping(const Run& run, const KeySpan& span);
std::uint64_t bytes_of(std::span<const std::shared_ptr<const TableFacts>> tables);
/// Whether any table of one overlaps any table of the other.
bool overlap(const Run& a, const Run& b);

/// The runs of a level; none beyond the last level.
std::span<const Run> runs_of(const Shape& shape, std::uint32_t level);
std::uint64_t bytes_of_level(const Shape& shape, std::uint32_t level);
/// Null if the level is empty.
const Run* newest_run(const Shape& shape, std::uint32_t level);
/// An id for a run newer than all of the level.
std::uint64_t new_run_id(const Shape& shape, std::uint32_t level);
/// Whether nothing in the store is older than this run.
bool is_oldest(const Shape& shape, std::uint32_t level, std::uint64_t run);

/// The runs older than all inputs, newest first, for RewriteSpec::older_runs (rule 17).
std::vector<const Run*> runs_older_than_inputs(const Shape& shape, const CompactionPlan& plan);

CompactionInput whole_run(std::uint32_t level, const Run& run);
/// Adds the run's tables that overlap the span to the plan's inputs. Returns whether there were any.
bool add_overlapping(CompactionPlan& plan, std::uint32_t level, const Run& run, const KeySpan& span);

/// Merges adjacent runs of a level, newest first, into one in their place.
CompactionPlan merge_in_place(std::uint32_t level, std::span<const Run> runs, std::string_view reason);
/// Merges inputs of a level into the newest run of the next level, with what the span overlaps there, or into a new
/// one.
CompactionPlan merge_into_next(const Shape& shape, std::uint32_t level, std::vector<CompactionInput> inputs,
                               const KeySpan& span, std::string_view reason);
/// The same with the oldest runs of the level.
CompactionPlan merge_into_next(const Shape& shape, std::uint32_t level, std::span<const Run> runs,
                               std::string_view reason);

/// Tombstones and merge operands are not moved to a place where nothing is older: a rewrite drops or folds them there.
bool may_move_to(const Shape& shape, std::uint32_t level, std::uint64_t run, std::uint64_t transients);

}  // namespace tamis
