#include "compaction/growth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/try.h"
#include "compaction/simulator.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMaxSimulated = 8 * 32 * 32;  // Ten seconds.
constexpr std::uint64_t kTierOfStep = 8;              // Min flushes of a step's smaller store: level 1 exists.
constexpr std::uint64_t kEntriesPerFlush = 32;        // Sampled keys per memtable. 64 change the cost by 1 %.

double fanout_of(const GrowthQuestion& question) { return std::max(2.0, static_cast<double>(question.options.fanout)); }

Result<SimulatedCost> simulate_flushes(const GrowthQuestion& question, std::uint64_t flushes) {
  const std::uint64_t entry_bytes = std::max<std::uint64_t>(1, question.flush_bytes / kEntriesPerFlush);
  PolicyOptions options = question.options;
  // Smaller tables slow the simulation and change little: a table is rewritten with its neighbour either way.
  options.table_bytes = std::max(options.table_bytes, entry_bytes * kEntriesPerFlush);
  return simulate(*question.policy, options,
                  {.flushes = flushes, .keys_per_flush = kEntriesPerFlush, .entry_bytes = entry_bytes});
}

/// How many times to divide the store by the fanout before simulating it.
Result<std::uint32_t> levels_beyond(const GrowthQuestion& question) {
  const double fanout = fanout_of(question);
  const double wanted = std::max(static_cast<double>(question.most_simulated), kTierOfStep * fanout * fanout);
  double flushes = static_cast<double>(question.flushes);
  std::uint32_t levels = 0;
  for (; flushes > wanted; flushes /= fanout) ++levels;
  if (levels > 0 && wanted > kMaxSimulated) {
    return Status::not_supported(
        fmt::format("a fanout of {} over {} memtables is beyond the simulation, which extrapolates up to 32",
                    question.options.fanout, question.flushes));
  }
  return levels;
}

/// Levels 0 and 1 unchanged, level 1 repeatedly, each time `fanout` times larger, then the others scaled like the
/// store.
std::vector<GrownRun> grown_runs(const Shape& shape, std::uint32_t beyond, const GrowthQuestion& question) {
  const double fanout = fanout_of(question);
  std::vector<GrownRun> runs;
  const auto add_level = [&](std::uint32_t from, std::uint32_t to) {
    if (from >= shape.levels.size()) return;
    const double times = std::pow(fanout, to - from);
    for (const Run& run : shape.levels[from]) {
      const double bytes = static_cast<double>(run.bytes()) * times;
      runs.push_back({.level = to, .bytes = bytes, .tables = static_cast<double>(run.tables.size()) * times});
    }
  };
  add_level(0, 0);
  for (std::uint32_t level = 1; level <= beyond; ++level) add_level(1, level);
  for (std::uint32_t level = 1; level < shape.levels.size(); ++level) add_level(level, level + beyond);
  return runs;
}

/// Scales to the requested bytes: the simulation has a whole number of flushes, and the added levels come on top. Also
/// splits the simulation's larger tables to the requested size.
void fit_to_size(Growth& growth, const GrowthQuestion& question) {
  double sum = 0;
  for (const GrownRun& run : growth.runs) sum += run.bytes;
  if (sum <= 0) return;
  const double all = static_cast<double>(question.flush_bytes) * static_cast<double>(question.flushes);
  growth.largest_merge_bytes = std::min(growth.largest_merge_bytes, all);
  const double times = all / sum;
  const double smaller =
      std::max(1.0, static_cast<double>(question.flush_bytes) /
                        static_cast<double>(std::max<std::uint64_t>(1, question.options.table_bytes)));
  for (GrownRun& run : growth.runs) {
    run.bytes *= times;
    run.tables = std::max(1.0, run.tables * times * smaller);
  }
}

/// The simulated costs, plus, for each added level, what the step from the small to the large store added. The largest
/// merge grows with the store, or not at all.
void take_costs(const SimulatedCost& small, const SimulatedCost& large, Growth& growth) {
  const double levels = growth.levels_beyond;
  const auto beyond = [&](double SimulatedCost::*cost) { return large.*cost + levels * (large.*cost - small.*cost); };
  growth.write_amplification = beyond(&SimulatedCost::write_amplification);
  growth.late_amplification = beyond(&SimulatedCost::late_write_amplification);
  growth.runs_per_lookup = beyond(&SimulatedCost::runs_per_lookup);
  const double times = static_cast<double>(large.largest_merge_bytes) /
                       static_cast<double>(std::max<std::uint64_t>(1, small.largest_merge_bytes));
  growth.largest_merge_bytes = static_cast<double>(large.largest_merge_bytes) * std::pow(std::max(1.0, times), levels);
}

}  // namespace

Result<Growth> grow(const GrowthQuestion& question) {
  Growth growth;
  TAMIS_TRY(growth.levels_beyond, levels_beyond(question));
  const double fanout = fanout_of(question);
  const double flushes = static_cast<double>(question.flushes) / std::pow(fanout, growth.levels_beyond);
  growth.simulated = static_cast<std::uint64_t>(std::llround(flushes));
  SimulatedCost small;
  if (growth.levels_beyond > 0) {
    TAMIS_TRY(small, simulate_flushes(question, static_cast<std::uint64_t>(std::llround(flushes / fanout))));
    if (small.shape.levels.size() < 2) {
      return Status::not_supported(fmt::format("compaction {} leaves {} runs in level 0: no rule extrapolates that",
                                               question.policy->name, question.flushes));
    }
  }
  TAMIS_TRY(const SimulatedCost large, simulate_flushes(question, growth.simulated));
  if (growth.levels_beyond > 0 && large.shape.last_level() + growth.levels_beyond >= Shape::kMaxLevels) {
    return Status::invalid_argument(
        fmt::format("{} memtables at a fanout of {} need more than {} levels: increase memtable_bytes or fanout",
                    question.flushes, question.options.fanout, Shape::kMaxLevels));
  }
  take_costs(small, large, growth);
  growth.runs = grown_runs(large.shape, growth.levels_beyond, question);
  fit_to_size(growth, question);
  return growth;
}

}  // namespace tamis
