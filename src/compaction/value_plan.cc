#include "compaction/value_plan.h"

#include <algorithm>
#include <unordered_set>

#include "compaction/plan_parts.h"
#include "table/value_pointers.h"

namespace tamis {
namespace {

constexpr std::uint64_t kGarbagePart = 9;  // At most one of so many parts of all bytes, known to be garbage.
constexpr std::uint64_t kHiddenPart = 10;  // At most one of so many parts of what the oldest run points to.
/// One plan reads tables once for several files: until this part of the garbage is gone that exceeds nothing.
constexpr std::uint64_t kPartPerPlan = 4;

bool is_mostly_live(const ValueFileUse& use) { return use.garbage_bytes() * kGarbagePart <= use.facts.file_bytes; }

std::uint64_t values_of(const Run& run) {
  std::uint64_t bytes = 0;
  for (const auto& table : run.tables) bytes += sum_of(table->values_apart).bytes;
  return bytes;
}

/// Oldest first; empty if there is little garbage.
std::vector<std::uint64_t> files_to_collect(const Shape& shape, std::span<const std::uint64_t> damaged) {
  std::uint64_t all = 0;
  std::uint64_t garbage = 0;
  std::vector<ValueFileUse> uses = shape.value_use();
  std::erase_if(uses, [&](const ValueFileUse& use) {
    return std::ranges::binary_search(damaged, use.facts.number) || use.values == 0;
  });
  for (const ValueFileUse& use : uses) {
    all += use.facts.file_bytes;
    garbage += use.garbage_bytes();
  }
  std::vector<std::uint64_t> chosen;
  if (garbage * kGarbagePart <= all) return chosen;
  std::uint64_t freed = 0;
  for (const ValueFileUse& use : uses) {
    if (is_mostly_live(use)) continue;
    chosen.push_back(use.facts.number);
    freed += use.garbage_bytes();
    if (freed * kPartPerPlan >= garbage) break;
  }
  return chosen;
}

bool points_into(const TableFacts& table, const std::vector<std::uint64_t>& files) {
  return std::ranges::any_of(
      table.values_apart, [&](const ValuesOfTable& values) { return std::ranges::binary_search(files, values.file); });
}

/// Rewrites the run from its first to its last table that points into the files.
std::optional<CompactionPlan> collect_from(const Shape& shape, const std::vector<std::uint64_t>& files,
                                           const Admission& admission) {
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    for (const Run& run : shape.levels[level]) {
      CompactionInput input = {.level = level, .run = run.id, .tables = {}};
      std::size_t wanted = 0;
      for (const auto& table : run.tables) {
        const bool points = points_into(*table, files);
        if (!points && input.tables.empty()) continue;
        input.tables.push_back(table->number);
        if (points) wanted = input.tables.size();
      }
      if (wanted == 0) continue;
      input.tables.resize(wanted);
      CompactionPlan plan = {.inputs = {std::move(input)},
                             .output_level = level,
                             .output_run = run.id,
                             .is_move = false,
                             .collected = files,
                             .reason = "value files with garbage"};
      if (admission.admits(shape, plan)) return plan;
    }
  }
  return std::nullopt;
}

/// All runs become one, in the last level.
std::optional<CompactionPlan> merge_pointers(const Shape& shape) {
  std::uint64_t oldest = 0;
  std::uint64_t all = 0;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      const std::uint64_t values = values_of(run);
      all += values;
      if (values > 0) oldest = values;
    }
  }
  const std::uint64_t newer = all - oldest;
  if (shape.runs() < 2 || newer * kHiddenPart <= oldest || shape.bytes() > newer) return std::nullopt;
  const std::uint32_t last = std::max(shape.last_level(), std::uint32_t{1});
  const Run* const below = newest_run(shape, last);
  CompactionPlan plan = {.inputs = {},
                         .output_level = last,
                         .output_run = below != nullptr ? below->id : new_run_id(shape, last),
                         .is_move = false,
                         .collected = {},
                         .reason = "pointers to values"};
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    for (const Run& run : shape.levels[level]) plan.inputs.push_back(whole_run(level, run));
  }
  return plan;
}

}  // namespace

std::optional<CompactionPlan> pick_values(const Shape& shape, std::span<const std::uint64_t> damaged,
                                          const Admission& admission) {
  if (shape.value_files.empty()) return std::nullopt;
  if (std::optional<CompactionPlan> merged = merge_pointers(shape)) {
    if (!admission.admits(shape, *merged)) return std::nullopt;
    return merged;
  }
  std::vector<std::uint64_t> files = files_to_collect(shape, damaged);
  return files.empty() ? std::nullopt : collect_from(shape, files, admission);
}

std::vector<std::uint64_t> unused_values(const Shape& shape, const ShapeEdit& edit) {
  if (shape.value_files.empty()) return {};
  std::unordered_set<std::uint64_t> used;
  const std::unordered_set<std::uint64_t> removed(edit.removed.begin(), edit.removed.end());
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      for (const auto& table : run.tables) {
        if (removed.contains(table->number)) continue;
        for (const ValuesOfTable& values : table->values_apart) used.insert(values.file);
      }
    }
  }
  for (const ShapeEdit::Added& added : edit.added) {
    for (const ValuesOfTable& values : added.facts->values_apart) used.insert(values.file);
  }
  std::vector<std::uint64_t> unused;
  for (const ValueFileFacts& file : shape.value_files) {
    if (!used.contains(file.number)) unused.push_back(file.number);
  }
  return unused;
}

}  // namespace tamis
