// What policies make plans of.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "compaction/policy.h"
#include "tree/shape.h"

namespace tamis {

/// From the smallest to the largest key of some tables, both included. The views belong to the tables' facts.
struct KeySpan {
  std::string_view smallest;
  std::string_view largest;

  [[nodiscard]] KeySpan joined(const KeySpan& other) const;
  [[nodiscard]] bool overlaps(const TableFacts& table) const { return table.overlaps(smallest, largest); }
};

KeySpan span_of(const TableFacts& table);
KeySpan span_of(const Run& run);
/// Of all runs of a level; it has at least one.
KeySpan span_of(std::span<const Run> runs);

/// The tables of the run that overlap the span; they stand next to each other. log2 of the number of tables.
std::span<const std::shared_ptr<const TableFacts>> overlapping(const Run& run, const KeySpan& span);
std::uint64_t bytes_of(std::span<const std::shared_ptr<const TableFacts>> tables);
/// Whether any table of one lies over any table of the other.
bool overlap(const Run& a, const Run& b);

/// The runs of a level; none for one beyond the last.
std::span<const Run> runs_of(const Shape& shape, std::uint32_t level);
std::uint64_t bytes_of_level(const Shape& shape, std::uint32_t level);
/// Null when the level is empty.
const Run* newest_run(const Shape& shape, std::uint32_t level);
/// An id for a run newer than all of the level.
std::uint64_t new_run_id(const Shape& shape, std::uint32_t level);
/// Whether nothing in the store is older than this run.
bool is_oldest(const Shape& shape, std::uint32_t level, std::uint64_t run);

/// The runs that are older than all inputs, newest first: what RewriteSpec::older_runs asks for (rule 17).
std::vector<const Run*> runs_older_than_inputs(const Shape& shape, const CompactionPlan& plan);

CompactionInput whole_run(std::uint32_t level, const Run& run);
CompactionInput one_table(std::uint32_t level, const Run& run, const TableFacts& table);
/// Adds the run's tables that overlap the span to the plan's inputs; nothing when there are none. True when there were.
bool add_overlapping(CompactionPlan& plan, std::uint32_t level, const Run& run, const KeySpan& span);

/// All runs of a level into one in their place.
CompactionPlan merge_inside_level(const Shape& shape, std::uint32_t level, std::string_view reason);
/// All runs of a level, with what they overlap of the newest run of the next level, into that run or a new one.
CompactionPlan merge_level_into_next(const Shape& shape, std::uint32_t level, std::string_view reason);

/// Deletes are not moved, as they are, to a place where nothing is older: there, a rewrite would drop them.
bool may_move_to(const Shape& shape, std::uint32_t level, std::uint64_t run, std::uint64_t deletes);

}  // namespace tamis
