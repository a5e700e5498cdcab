#include "compaction/old_deletes.h"

#include <algorithm>

#include "compaction/plan_parts.h"

namespace tamis {
namespace {

std::string_view reason_of_deletes(const Run& run, std::uint32_t level, const PolicyOptions& options) {
  for (const auto& table : run.tables) {
    if (const std::string_view reason = reason_of_deletes(*table, level, options); !reason.empty()) return reason;
  }
  return {};
}

}  // namespace

std::string_view reason_of_deletes(const TableFacts& table, std::uint32_t level, const PolicyOptions& options) {
  if (level > 0 && table.operands > table.entries / 2) return "merge operands are many";
  if (table.tombstones() == 0) return {};
  // After a clock was set back, earlier writes seem to be in the future. Their tombstones must not wait for the clock
  // to catch up.
  const std::uint64_t since = table.oldest_delete_unix_seconds;
  const std::uint64_t now = options.now_unix_seconds;
  const std::uint64_t wait = kDeleteWaitSeconds << level;
  if (since != 0 && std::max(now, since) - std::min(now, since) > wait) return "deletes are old";
  if (level > 0 && table.tombstones() > table.entries / 2) return "deletes are many";
  return {};
}

std::optional<CompactionPlan> pick_run_of_deletes(const Shape& shape, const PolicyOptions& options,
                                                  const Admission& admission) {
  const Run* older = nullptr;  // The run older than the current one.
  std::uint32_t older_level = 0;
  for (auto level = static_cast<std::uint32_t>(shape.levels.size()); level-- > 0;) {
    const std::span<const Run> runs = runs_of(shape, level);
    for (std::size_t i = runs.size(); i-- > 0;) {
      const Run& run = runs[i];
      const std::string_view reason = older != nullptr ? reason_of_deletes(run, level, options) : std::string_view();
      if (!reason.empty()) {
        CompactionPlan plan = {.inputs = {whole_run(level, run)},
                               .output_level = older_level,
                               .output_run = older->id,
                               .is_move = false,
                               .reason = reason};
        const bool overlaps = add_overlapping(plan, older_level, *older, span_of(run));
        plan.is_move = !overlaps && may_move_to(shape, older_level, older->id, run.transients());
        if (admission.admits(shape, plan)) return plan;
      }
      older = &run;
      older_level = level;
    }
  }
  return std::nullopt;
}

}  // namespace tamis
