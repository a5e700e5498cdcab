#include "compaction/level_zero.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace tamis {
namespace {

constexpr std::size_t kManyRuns = 8;      // Twice what is merged downwards, which would save this rewrite.
constexpr std::uint64_t kMuchLarger = 2;  // Than a memtable: flushed runs differ in size.
constexpr double kMaxDebtOfBytes = 1.5;
constexpr std::size_t kRunsThatMayMerge = 2;

constexpr std::uint64_t kMaxParts = 16;              // Rewriting one needs a sixteenth of level 1 on disk.
constexpr std::uint64_t kMinBytesOfTable = 4 << 20;  // Of a flush: each table costs a sync.

/// The bytes that level 0 overwrites, as a fraction of those below; 0 if it has a single run, which may stay.
double overwritten_below(const Shape& shape, const PolicyOptions& options) {
  constexpr std::uint64_t kFewMemtables = 2;  // A smaller store is no larger than its journals.
  if (runs_of(shape, 0).size() < kRunsThatMayMerge) return 0;
  const std::uint64_t in_level_zero = bytes_of_level(shape, 0);
  const std::uint64_t below = std::max(shape.bytes() - in_level_zero, kFewMemtables * options.memtable_bytes);
  if (below == 0) return 0;
  return options.overwritten * static_cast<double>(in_level_zero) / static_cast<double>(below);
}

}  // namespace

std::vector<OverlapGroup> groups_of_level_zero(const Shape& shape, const Admission& admission) {
  struct Place {
    const Run* run;
    const TableFacts* table;
  };
  std::vector<Place> places;
  for (const Run& run : runs_of(shape, 0)) {
    for (const auto& table : run.tables) places.push_back({&run, table.get()});
  }
  std::ranges::stable_sort(places, {}, [](const Place& place) { return place.table->begin(); });
  std::vector<OverlapGroup> groups;
  for (auto first = places.begin(); first != places.end();) {
    OverlapGroup group;
    group.span = span_of(*first->table);
    auto last = first;
    for (; last != places.end() && group.span.overlaps(*last->table); ++last) {
      group.span = group.span.joined(span_of(*last->table));
      group.is_free &= admission.is_free(*last->table);
      group.entries += last->table->entries;
      group.tombstones += last->table->tombstones();
      group.blocks += last->table->blocks;
    }
    std::stable_sort(first, last, [](const Place& a, const Place& b) { return a.run->id > b.run->id; });
    for (; first != last; ++first) {
      if (group.inputs.empty() || group.inputs.back().run != first->run->id) {
        group.inputs.push_back({.level = 0, .run = first->run->id, .tables = {}});
      }
      group.inputs.back().tables.push_back(first->table->number);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

LevelZeroCuts cuts_for_level_zero(const Shape& shape, std::uint64_t memtable_bytes, const LevelZeroCuts& before) {
  const std::uint64_t parts = std::min(kMaxParts, memtable_bytes / kMinBytesOfTable);
  const std::span<const Run> runs = runs_of(shape, 0);
  const Run* const below = newest_run(shape, 1);
  if (parts < 2 || runs.empty()) return before;
  const Run* const older = below == nullptr && runs.size() > 1 ? &runs[1] : below;
  if (older == nullptr || !overlap(runs.front(), *older)) return before;

  LevelZeroCuts cuts;
  const bool has_many_below = below != nullptr && below->tables.size() >= parts / 2;
  const Run& guide = has_many_below ? *below : runs.front();
  const std::uint64_t part_bytes = guide.bytes() / parts;
  auto kept = before.keys.begin();
  std::uint64_t since_kept = 0;
  std::uint64_t since_cut = 0;
  for (const auto& table : guide.tables) {
    for (; kept != before.keys.end() && *kept <= table->begin(); ++kept) {
      if (since_kept < part_bytes / 4) continue;
      cuts.keys.push_back(*kept);
      since_kept = since_cut = 0;
    }
    if (since_cut >= part_bytes + part_bytes / 2) {
      cuts.keys.emplace_back(table->begin());
      since_cut = 0;
    }
    since_kept += table->file_bytes;
    since_cut += table->file_bytes;
  }
  if (cuts.keys.size() < parts / 4) cuts.bytes_in_level_zero = memtable_bytes / parts;
  cuts.bytes_in_level_one = std::max(memtable_bytes, bytes_of_level(shape, 0) + bytes_of_level(shape, 1)) / parts;
  return cuts;
}

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

std::size_t usual_runs_of_level_zero(const Shape& shape, const PolicyOptions& options) {
  constexpr double kMuch = 0.18;
  if (overwritten_below(shape, options) < kMuch) return kUsualRunsOfLevelZero;
  return std::min(runs_of(shape, 0).size(), kUsualRunsOfLevelZero);
}

double debt_of_overwritten_bytes(const Shape& shape, const PolicyOptions& options) {
  constexpr double kAllThatIsTolerable = 0.36;
  return std::min(overwritten_below(shape, options) / kAllThatIsTolerable, kMaxDebtOfBytes);
}

double debt_of_level_zero_bytes(const Shape& shape, const PolicyOptions& options, double usual, double slack) {
  if (static_cast<double>(runs_of(shape, 0).size()) < usual) return 0;
  const double memtables =
      static_cast<double>(bytes_of_level(shape, 0)) / std::max(1.0, static_cast<double>(options.memtable_bytes));
  return std::clamp((memtables - usual) / slack, 0.0, kMaxDebtOfBytes);
}

}  // namespace tamis
