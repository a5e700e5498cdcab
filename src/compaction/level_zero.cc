#include "compaction/level_zero.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "compaction/plan_parts.h"

namespace tamis {
namespace {

constexpr std::size_t kManyRuns = 8;      // Twice what is merged downwards, which would save this rewrite.
constexpr std::uint64_t kMuchLarger = 2;  // Than a memtable: flushed runs differ in size.
constexpr double kMaxDebtOfBytes = 1.5;

}  // namespace

std::optional<CompactionPlan> relieve_level_zero(const Shape& shape, const PolicyOptions& options,
                                                 const Admission& admission) {
  if (runs_of(shape, 0).empty() || !admission.oldest_free(shape, 0).empty()) return std::nullopt;
  const std::span<const Run> free = admission.newest_free(shape, 0);
  const auto end =
      std::ranges::find_if(free, [&](const Run& run) { return run.bytes() > kMuchLarger * options.memtable_bytes; });
  const std::span<const Run> runs(free.begin(), end);
  if (runs.size() < kManyRuns) return std::nullopt;
  CompactionPlan plan = merge_in_place(0, runs, "level 0 waits for another compaction");
  if (!admission.admits(shape, plan)) return std::nullopt;
  return plan;
}

double debt_of_level_zero_bytes(const Shape& shape, const PolicyOptions& options, double usual, double slack) {
  if (static_cast<double>(runs_of(shape, 0).size()) < usual) return 0;
  const double memtables =
      static_cast<double>(bytes_of_level(shape, 0)) / std::max(1.0, static_cast<double>(options.memtable_bytes));
  return std::clamp((memtables - usual) / slack, 0.0, kMaxDebtOfBytes);
}

}  // namespace tamis
