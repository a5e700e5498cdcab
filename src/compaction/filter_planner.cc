// The plan is the textbook one (filter_plan): rates proportional to the keys of a run, with three additions.
//
// Kinds with different prices. A run costs keys · price bits for each halving of its rate, 1.5 for line and 1.01 for
// ribbon. That equals a run of keys · price keys at a price of 1. So passing the products to the plan handles mixed
// kinds exactly.
//
// The run index. With more than 10 bits per key and many runs, the index uses the excess better than filters would: one
// probe instead of one per run. So its bytes are set aside, and runs that it can hold get at most 10 bits; the others
// share the rest.
//
// Ribbons have whole columns, in slices or not: the rate is a power of ½. Their columns are rounded down, or up, or up
// where it fits, whichever wastes least; the others share the rest.
#include "compaction/filter_planner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>
#include <utility>

#include "tree/run_matrix.h"

namespace tamis {
namespace {

constexpr double kBitsPerKey = 10;   // The default memory: a rate of 1 % for line, 0.2 % for ribbon.
constexpr double kMaxLineBits = 16;  // Above, line pays more than 1.57 bits per halving, and rising (decision 0005).
constexpr double kMaxHalvings = 24;  // One in 17 million: more, for a tiny run beside a huge one, is useless.
constexpr double kMaxBitsPerKey = 1024;   // The max for a filter.
constexpr double kMaxRoundingBits = 512;  // Per run: its filter has whole lines.
constexpr double kColumnSlack = 0.01;     // Bits per key, so that no rounding loses a column.
/// A rate of 1 in 65,536: a table that is asked so much that it wants more is in the cache.
constexpr std::uint64_t kMostReservedColumns = 16;

struct KindPrice {
  std::string_view kind;
  double bits_per_halving;
};
// At 10 bits per key, from filter_size; fuse and cuckoo by their 8 and 12 bits.
constexpr std::array<KindPrice, 9> kPrices = {{{"line", 1.5},
                                               {"ribbon", 1.01},
                                               {"fuse", 1.13},
                                               {"bloom", 1.44},
                                               {"split", 1.59},
                                               {"cuckoo", 1.52},
                                               {"counting", 5.8},
                                               {"scalable", 1.46},
                                               {"sliced", 1.02}}};

double price_of(std::string_view kind) {
  for (const KindPrice& price : kPrices) {
    if (price.kind == kind) return price.bits_per_halving;
  }
  return 1.5;
}

/// The real filter of `keys` keys with about these bits; a kind with a larger min size takes that. No filter if
/// impossible.
PlannedRunFilter fitted(PlannedRunFilter run, double bits_per_key) {
  run.bits_per_key = 0;
  run.rate = run.keys == 0 ? 0 : 1;
  if (run.keys == 0 || !(bits_per_key > 0) || run.kind.empty()) {
    run.kind.clear();
    return run;
  }
  auto size = filter_size(run.kind, run.keys, {SizeTarget::Measure::kBitsPerKey, bits_per_key});
  if (!size.ok()) size = filter_size(run.kind, run.keys, {SizeTarget::Measure::kRate, 0.4});
  if (!size.ok() || size->rate >= 0.5) {
    run.kind.clear();
    return run;
  }
  run.bits_per_key = size->bits_per_key();
  run.rate = size->rate;
  return run;
}

bool has_columns(std::string_view kind) { return kind == "ribbon" || kind == "sliced"; }

/// The bits a ribbon needs for this many columns.
double bits_of_columns(std::string_view kind, std::uint64_t keys, double columns) {
  const auto size = filter_size(kind, keys, {SizeTarget::Measure::kRate, std::exp2(-columns)});
  return size.ok() ? size->bits_per_key() + kColumnSlack : columns * price_of(kind);
}

double keys_of(const std::vector<PlannedRunFilter>& runs) {
  double sum = 0;
  for (const PlannedRunFilter& run : runs) sum += static_cast<double>(run.keys);
  return sum;
}

double wasted(const std::vector<PlannedRunFilter>& runs) {
  double sum = 0;
  for (const PlannedRunFilter& run : runs) sum += run.rate;
  return sum;
}

/// The number of halvings of each run's rate, by the formula; 0: no filter.
std::vector<double> plan_halvings(const std::vector<PlannedRunFilter>& runs, double budget_bits) {
  std::vector<PlannedRun> priced;
  priced.reserve(runs.size());
  for (const PlannedRunFilter& run : runs) {
    priced.push_back({.keys = run.kind.empty() ? 0 : static_cast<double>(run.keys) * price_of(run.kind)});
  }
  std::vector<double> halvings;
  for (const RunFilter& filter : filter_plan(priced, std::max(0.0, budget_bits), 1).runs) {
    halvings.push_back(std::min(filter.bits_per_key, kMaxHalvings));
  }
  return halvings;
}

double bits_of(const std::vector<PlannedRunFilter>& runs) {
  double sum = 0;
  for (const PlannedRunFilter& run : runs) sum += run.bits_per_key * static_cast<double>(run.keys);
  return sum;
}

/// Kinds are given; ribbons take these columns, and the others share the rest.
std::vector<PlannedRunFilter> plan_with_columns(const std::vector<PlannedRunFilter>& runs,
                                                const std::vector<double>& columns, double budget_bits) {
  std::vector<PlannedRunFilter> planned = runs;
  std::vector<PlannedRunFilter> others = runs;  // Ribbons removed.
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!has_columns(runs[i].kind)) continue;
    others[i].kind.clear();
    planned[i] = fitted(runs[i], columns[i] < 1 ? 0 : bits_of_columns(runs[i].kind, runs[i].keys, columns[i]));
    budget_bits -= planned[i].bits_per_key * static_cast<double>(planned[i].keys);
  }
  const std::vector<double> rest = plan_halvings(others, budget_bits);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!has_columns(runs[i].kind)) planned[i] = fitted(runs[i], rest[i] * price_of(runs[i].kind));
  }
  return planned;
}

/// Rounded down, and then up where that fits, beginning where it saves most per bit.
std::vector<double> round_columns(const std::vector<PlannedRunFilter>& runs, const std::vector<double>& halvings,
                                  double budget_bits) {
  std::vector<double> columns;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    columns.push_back(std::floor(halvings[i]));
    const double planned = has_columns(runs[i].kind) ? columns[i] : halvings[i];
    if (!runs[i].kind.empty()) budget_bits -= planned * price_of(runs[i].kind) * static_cast<double>(runs[i].keys);
    if (has_columns(runs[i].kind) && runs[i].keys > 0) order.push_back(i);
  }
  const auto gain = [&](std::size_t i) { return std::exp2(-columns[i]) / static_cast<double>(runs[i].keys); };
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return gain(a) > gain(b); });
  for (const std::size_t i : order) {
    const double bits = price_of(runs[i].kind) * static_cast<double>(runs[i].keys);
    if (bits > budget_bits) continue;
    budget_bits -= bits;
    ++columns[i];
  }
  return columns;
}

/// Level 0 is never the last: it is rewritten soon.
std::uint32_t last_level(const std::vector<PlannedRunFilter>& runs) {
  std::uint32_t last = 1;
  for (const PlannedRunFilter& run : runs) last = std::max(last, run.level);
  return last;
}

/// The first level whose filters are in slices, for `auto`. The last level always: it is large and long-lived. With
/// little memory every level but 0, so that all of it can follow what is asked: tables move down with their filters.
std::uint32_t first_sliced_level(const std::vector<PlannedRunFilter>& runs, double budget_bits) {
  constexpr double kLittle = 0.95 * kBitsPerKey;
  return budget_bits < kLittle * keys_of(runs) ? 1 : last_level(runs);
}

/// The kind of each run by its level. `auto`: a ribbon in slices, so that memory can follow what is asked, or line,
/// which builds faster.
void choose_kinds_by_level(std::vector<PlannedRunFilter>& runs, const std::string& kind, double budget_bits) {
  const std::uint32_t first = first_sliced_level(runs, budget_bits);
  for (PlannedRunFilter& run : runs) {
    run.kind = kind == "none" ? "" : kind != "auto" ? kind : run.level >= first ? "sliced" : "line";
  }
}

/// The same, and slices where line would waste too many bits.
void choose_kinds(std::vector<PlannedRunFilter>& runs, const std::string& kind, double budget_bits) {
  choose_kinds_by_level(runs, kind, budget_bits);
  if (kind != "auto") return;
  for (bool is_changed = true; is_changed;) {  // Each round changes at least one line.
    is_changed = false;
    const std::vector<double> halvings = plan_halvings(runs, budget_bits);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (runs[i].kind != "line" || halvings[i] * price_of("line") <= kMaxLineBits) continue;
      runs[i].kind = "sliced";
      is_changed = true;
    }
  }
}

double memory_bits(const std::vector<PlannedRunFilter>& runs, const FilterPlanOptions& options) {
  if (options.memory_bytes) return 8.0 * static_cast<double>(*options.memory_bytes);
  return std::min(kBitsPerKey * keys_of(runs), 8.0 * static_cast<double>(options.most_bytes));
}

/// The waste of the same memory spent evenly, with the kinds that `auto` picks at that many bits.
double wasted_if_uniform(std::vector<PlannedRunFilter> runs, const FilterPlanOptions& options, double budget_bits) {
  choose_kinds_by_level(runs, options.kind, budget_bits);
  const double keys = keys_of(runs);
  const double bits = keys > 0 ? budget_bits / keys : 0;
  for (PlannedRunFilter& run : runs) {
    if (options.kind == "auto" && bits > kMaxLineBits) run.kind = "sliced";
    run = fitted(run, std::min(bits, kMaxHalvings * price_of(run.kind)));
  }
  return wasted(runs);
}

/// The run index that fits in the memory above 10 bits per key.
RunMatrixPlan plan_run_index(const std::vector<PlannedRunFilter>& runs, double budget_bits) {
  std::vector<std::uint64_t> keys_of_runs;
  keys_of_runs.reserve(runs.size());
  for (const PlannedRunFilter& run : runs) keys_of_runs.push_back(run.keys);
  const double room_bytes = std::clamp((budget_bits - kBitsPerKey * keys_of(runs)) / 8, 0.0, 0x1p62);
  return plan_run_matrix(std::move(keys_of_runs), static_cast<std::uint64_t>(room_bytes));
}

/// Limits runs that the index can hold to 10 bits per key.
void limit_indexed(std::vector<PlannedRunFilter>& runs, const RunMatrixPlan& index) {
  if (index.rows == 0) return;
  for (PlannedRunFilter& run : runs) {
    if (!run.kind.empty() && run.bits_per_key > kBitsPerKey && index.takes(run.keys)) run = fitted(run, kBitsPerKey);
  }
}

/// `runs` has level, run and keys; this fills in the rest.
StoreFilterPlan plan_runs(std::vector<PlannedRunFilter> runs, const FilterPlanOptions& options) {
  double budget_bits = memory_bits(runs, options);
  StoreFilterPlan plan;
  plan.wasted_probes_uniform = wasted_if_uniform(runs, options, budget_bits);

  const RunMatrixPlan index = options.kind == "none" ? RunMatrixPlan() : plan_run_index(runs, budget_bits);
  budget_bits -= 8 * static_cast<double>(index.bytes());
  choose_kinds(runs, options.kind, budget_bits);
  const std::vector<double> halvings = plan_halvings(runs, budget_bits);
  std::vector<double> down;
  std::vector<double> up;
  for (const double planned : halvings) {
    down.push_back(std::floor(planned));
    up.push_back(planned < 1 ? 0 : std::ceil(planned));
  }
  plan.runs = plan_with_columns(runs, down, budget_bits);
  const double rounding = kMaxRoundingBits * static_cast<double>(runs.size());
  for (const std::vector<double>& columns : {up, round_columns(runs, halvings, budget_bits)}) {
    std::vector<PlannedRunFilter> other = plan_with_columns(runs, columns, budget_bits);
    if (bits_of(other) <= budget_bits + rounding && wasted(other) < wasted(plan.runs)) plan.runs = std::move(other);
  }
  limit_indexed(plan.runs, index);
  plan.wasted_probes = wasted(plan.runs);
  plan.memory_bytes = static_cast<std::uint64_t>(bits_of(plan.runs) / 8);
  return plan;
}

std::vector<PlannedRunFilter> runs_without(const Shape& shape, const std::unordered_set<std::uint64_t>& replaced) {
  std::vector<PlannedRunFilter> runs;
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    for (const Run& run : shape.levels[level]) {
      std::uint64_t keys = 0;
      bool is_left = false;
      for (const auto& table : run.tables) {
        if (replaced.contains(table->number)) continue;
        keys += table->keys;
        is_left = true;
      }
      if (is_left) runs.push_back({.level = level, .run = run.id, .keys = keys, .kind = {}});
    }
  }
  return runs;
}

}  // namespace

StoreFilterPlan plan_filters(const Shape& shape, const FilterPlanOptions& options) {
  return plan_runs(runs_without(shape, {}), options);
}

FilterPlanner::FilterPlanner(const Shape& shape, const std::vector<std::uint64_t>& replaced, std::uint32_t level,
                             std::uint64_t run, std::uint64_t expected_keys, const FilterPlanOptions& options)
    : options_(options) {
  std::vector<PlannedRunFilter> runs = runs_without(shape, {replaced.begin(), replaced.end()});
  const auto is_new_run = [&](const PlannedRunFilter& other) { return other.level == level && other.run == run; };
  auto at = std::ranges::find_if(runs, is_new_run);
  if (at == runs.end()) at = runs.insert(at, {.level = level, .run = run, .keys = 0, .kind = {}});
  at->keys += expected_keys;
  const double budget_bits = memory_bits(runs, options);
  const bool is_low = level >= first_sliced_level(runs, budget_bits);
  const StoreFilterPlan plan = plan_runs(std::move(runs), options);
  planned_ = *std::ranges::find_if(plan.runs, is_new_run);
  const bool may_have_slices = options.kind == "sliced" || (options.kind == "auto" && is_low);
  has_slices_ = planned_.kind == "sliced" || (may_have_slices && budget_bits > 0);
}

FilterChoice FilterPlanner::choose(std::uint64_t keys, std::uint64_t table_bytes) const {
  if (keys == 0) return {};
  if (has_slices_) return choose_slices(keys, table_bytes);
  if (planned_.kind.empty()) return {};
  double bits_per_key = planned_.bits_per_key;
  if (has_columns(planned_.kind)) {
    bits_per_key = bits_of_columns(planned_.kind, keys, std::round(std::log2(1 / planned_.rate)));
  }
  PlannedRunFilter table = planned_;
  table.keys = keys;
  table = fitted(table, bits_per_key);
  if (table.kind.empty()) return {};
  // A kind's min size may be thousands of bits for a single key; with fewer, it is left out.
  return {.kind = table.kind, .bits_per_key = std::min(std::max(bits_per_key, table.bits_per_key), kMaxBitsPerKey)};
}

/// As many columns as are planned, and those that the reserve has room for.
FilterChoice FilterPlanner::choose_slices(std::uint64_t keys, std::uint64_t table_bytes) const {
  const std::uint64_t reserved_bits = table_bytes / 100 * options_.reserve_percent * 8 / keys;
  const std::uint64_t reserved = std::min(reserved_bits, kMostReservedColumns);
  const double planned = planned_.rate > 0 ? std::round(std::log2(1 / planned_.rate)) : 0;
  const double columns = std::clamp(planned, static_cast<double>(reserved), kMaxHalvings);
  if (columns < 1) return {};
  return {.kind = "sliced", .bits_per_key = bits_of_columns("sliced", keys, columns), .rate = std::exp2(-columns)};
}

}  // namespace tamis
