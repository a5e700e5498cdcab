#include "engine/explained_steps.h"

#include <iterator>
#include <utility>

#include "filter/filter_kind.h"

namespace tamis {
namespace {

// In the order of the enumerators.
constexpr std::string_view kVerdicts[] = {"", "no", "maybe", "not in memory", "not asked: the run index says no"};
constexpr std::string_view kSources[] = {"", "cache", "disk"};
constexpr std::string_view kOutcomes[] = {"ruled out", "absent",        "found",  "deleted",
                                          "expired",   "merge operand", "outside"};
static_assert(std::size(kVerdicts) == static_cast<std::size_t>(FilterVerdict::kNoByRunIndex) + 1);
static_assert(std::size(kSources) == static_cast<std::size_t>(BlockSource::kDisk) + 1);
static_assert(std::size(kOutcomes) == static_cast<std::size_t>(TableOutcome::kOutside) + 1);

std::string_view text_of(TableOutcome outcome) { return kOutcomes[static_cast<std::size_t>(outcome)]; }

/// Level and run come from the shape: a table may have moved since it was written.
Explanation::Step explained_step(const TableStep& step, const Shape& shape) {
  const TableFacts& facts = step.table->facts();
  Explanation::Step result;
  const std::optional<TablePlace> place = shape.find_table(facts.number);
  result.level = place->level;
  result.run = place->run->id;
  result.outcome = text_of(step.outcome);
  const bool is_whole_run = step.outcome == TableOutcome::kOutside && place->run->tables.size() > 1;
  result.where = is_whole_run ? "run" : "table";
  if (!is_whole_run) result.table = facts.number;
  result.reads = step.blocks_read;
  result.metadata_reads = step.metadata_reads;
  if (step.outcome == TableOutcome::kOutside) return result;  // No filter was asked.
  if (const FilterKind* const kind = find_filter_kind(facts.filter_kind)) result.filter_kind = kind->info.name;
  const std::uint64_t bytes_in_memory = facts.filter_bytes_with(step.table->filter_columns());
  result.bits_per_key = 8 * static_cast<double>(bytes_in_memory) / static_cast<double>(facts.keys);
  if (facts.filter_slices) {
    result.columns = step.table->filter_columns();
    result.stored_columns = facts.filter_columns();
  }
  result.filter_verdict = kVerdicts[static_cast<std::size_t>(step.verdict)];
  result.block_source = kSources[static_cast<std::size_t>(step.source)];
  return result;
}

}  // namespace

void ExplainedSteps::add_memtable(std::string_view where, const std::optional<FoundEntry>& found) {
  Explanation::Step step;
  step.where = where;
  step.outcome = text_of(found ? outcome_of(*found) : TableOutcome::kAbsent);
  step.nanoseconds = time_until(Clock::now());
  steps.push_back(std::move(step));
}

/// Only the last step has found anything, and only now it is known whether that was due.
void ExplainedSteps::end_lookup(Visible meaning, bool is_hidden) {
  const RecordedSteps recorded = std::exchange(tables, {});
  for (std::size_t i = 0; i < recorded.steps.size(); ++i) {
    Explanation::Step& step = steps.emplace_back(explained_step(recorded.steps[i], view->version->shape()));
    step.nanoseconds = time_until(recorded.ends[i]);
    reads += step.reads;
    metadata_reads += step.metadata_reads;
  }
  Explanation::Step& last = steps.back();
  if (last.outcome == text_of(TableOutcome::kExpires) && (meaning != Visible::kDeleted || is_hidden)) {
    last.outcome = text_of(TableOutcome::kFound);
  }
  if (is_hidden) steps.push_back({.where = "range delete", .outcome = "hides it"});
}

void ExplainedSteps::add_value_file(std::uint64_t number) {
  ++reads;
  Explanation::Step step;
  step.where = "value file";
  step.table = number;
  step.block_source = kSources[static_cast<std::size_t>(BlockSource::kDisk)];
  step.outcome = text_of(TableOutcome::kFound);
  step.reads = 1;
  steps.push_back(std::move(step));
}

std::uint64_t ExplainedSteps::time_until(Clock::time_point end) {
  const auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(end - end_of_last_step);
  end_of_last_step = end;
  return static_cast<std::uint64_t>(time.count());
}

}  // namespace tamis
