#include "compaction/expired_tables.h"

#include <algorithm>

#include "compaction/plan_parts.h"
#include "entry/drop_rule.h"

namespace tamis {
namespace {

/// Calls `pick` with every run and its level, the oldest first, until it returns a plan.
template <typename Pick>
std::optional<CompactionPlan> first_of_runs(const Shape& shape, Pick pick) {
  for (auto level = static_cast<std::uint32_t>(shape.levels.size()); level-- > 0;) {
    const std::span<const Run> runs = runs_of(shape, level);
    for (std::size_t i = runs.size(); i-- > 0;) {
      if (std::optional<CompactionPlan> plan = pick(level, runs[i])) return plan;
    }
  }
  return std::nullopt;
}

CompactionPlan in_place(std::uint32_t level, const Run& run, std::string_view reason) {
  return {.inputs = {{.level = level, .run = run.id, .tables = {}}},
          .output_level = level,
          .output_run = run.id,
          .is_move = false,
          .is_drop = false,
          .reason = reason};
}

/// Range deletes do not expire.
bool has_only_expired(const TableFacts& table, std::uint64_t expired_by) {
  const bool all_expire = table.expiring != 0 && table.expiring == table.entries && table.range_deletes == 0;
  return all_expire && table.latest_due <= expired_by;
}

bool is_overlapped(const TableFacts& table, const std::vector<const Run*>& older) {
  return std::ranges::any_of(older, [&](const Run* run) { return !overlapping(*run, span_of(table)).empty(); });
}

}  // namespace

bool may_go_unread(const TableFacts& table, const std::vector<const Run*>& older,
                   const std::vector<Sequence>& snapshots, const std::vector<std::uint64_t>& expired_by) {
  const std::size_t stripe = stripe_of(table.smallest_sequence, snapshots);
  return stripe < expired_by.size() && has_only_expired(table, expired_by[stripe]) && !is_overlapped(table, older);
}

std::optional<CompactionPlan> pick_wholly_expired(const Shape& shape, std::uint64_t expired_by,
                                                  const Admission& admission) {
  if (expired_by == 0) return std::nullopt;
  return first_of_runs(shape, [&](std::uint32_t level, const Run& run) -> std::optional<CompactionPlan> {
    CompactionPlan plan = in_place(level, run, "tables have expired");
    plan.is_drop = true;
    std::vector<std::uint64_t>& tables = plan.inputs.front().tables;
    for (const auto& table : run.tables) {
      if (admission.is_free(*table) && has_only_expired(*table, expired_by)) tables.push_back(table->number);
    }
    if (tables.empty()) return std::nullopt;
    const std::vector<const Run*> older = runs_older_than_inputs(shape, plan);
    std::erase_if(tables,
                  [&](std::uint64_t number) { return is_overlapped(**shape.find_table(number)->facts, older); });
    if (tables.empty() || !admission.admits(shape, plan)) return std::nullopt;
    return plan;
  });
}

std::optional<CompactionPlan> pick_mostly_expired(const Shape& shape, std::uint64_t expired_by,
                                                  const Admission& admission) {
  if (expired_by == 0) return std::nullopt;
  return first_of_runs(shape, [&](std::uint32_t level, const Run& run) -> std::optional<CompactionPlan> {
    for (const auto& table : run.tables) {
      if (table->expired_by(expired_by) <= table->entries / 2) continue;
      CompactionPlan plan = in_place(level, run, "entries have expired");
      plan.inputs.front().tables.push_back(table->number);
      if (admission.admits(shape, plan)) return plan;
    }
    return std::nullopt;
  });
}

}  // namespace tamis
