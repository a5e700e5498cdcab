#include "engine/residency.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/epoch.h"
#include "filter/filter_kind.h"

namespace tamis {
namespace {

constexpr std::uint64_t kGetsBetweenReviews = 8192;  // Enough to tell tables apart, few enough to follow a change.
/// A plan must be that much better than what is in memory: estimates differ a little without any change.
constexpr double kWorthChanging = 1.03;
constexpr std::uint64_t kGetsOfAskedStore = 256;  // Between two calls.
constexpr auto kShortPause = std::chrono::milliseconds(10);
constexpr int kShare = 20;  // One part in so many of a core.
/// At most one part in so many of the filters is in memory twice while columns are dropped.
constexpr std::uint64_t kPartsInMemoryTwice = 16;

Resident resident_filter(const Table& table) {
  const TableFacts& facts = table.facts();
  const std::uint64_t columns = table.usable_filter_columns();
  return {.columns = columns,
          .first_bytes = facts.filter_bytes_with(1) + facts.scan_filter_bytes(),
          .column_bytes = facts.filter_slices ? facts.filter_slices->column_bytes : 0,
          .rest = columns > 1 ? facts.filter_slices->list_rate : facts.filter_rate_with(1)};
}

void add_tables(const OpenKeyspace& keyspace, std::vector<WeighedTable>& tables) {
  const std::shared_ptr<const Version> version = keyspace.tree.version();
  std::uint32_t place = 0;
  for (std::uint32_t level = 0; level < version->shape().levels.size(); ++level) {
    for (const Run& run : version->shape().levels[level]) {
      const bool is_in_run_index = version->run_index().has_column(place++);
      for (const std::shared_ptr<const TableFacts>& facts : run.tables) {
        tables.push_back({.table = version->table(facts->number),
                          .facts = facts,
                          .tree = number_of(keyspace.id()),
                          .level = level,
                          .run = run.id,
                          .keys_of_run = run.keys(),
                          .is_in_run_index = is_in_run_index});
      }
    }
  }
}

std::uint64_t bytes_of_all(std::span<const Resident> residents) {
  std::uint64_t bytes = 0;
  for (const Resident& resident : residents) bytes += resident.bytes_with(resident.columns);
  return bytes;
}

}  // namespace

std::uint64_t Residency::gets() const {
  std::uint64_t gets = keyspaces_.reads_of_dropped().all();
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) gets += keyspace->reader.counts().all();
  return gets;
}

Residency::Found Residency::find_tables() const {
  Found found;
  found.gets = gets();
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) add_tables(*keyspace, found.tables);
  found.index_limit = memory_.index_budget().limit_bytes();
  std::uint64_t slots = 0;
  for (const WeighedTable& weighed : found.tables) {
    slots += slot_bytes(*weighed.table);
    found.filters.push_back(resident_filter(*weighed.table));
    found.indexes.push_back({.first_bytes = weighed.table->index_memory_bytes()});
  }
  found.filter_limit = memory_.filter_budget().unreserved_bytes();
  found.index_limit -= std::min(found.index_limit, slots);
  return found;
}

void Residency::review() {
  if (is_reviewing_.exchange(true, std::memory_order_acquire)) return;
  const auto begin = std::chrono::steady_clock::now();
  const bool filters_fit = review_tables(exceeds_limits());
  const bool is_asked = gets() - gets_at_last_call_ >= kGetsOfAskedStore;
  gets_at_last_call_ = gets();
  const auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begin);
  const auto pause = filters_fit || !is_asked ? kLongPause : std::clamp(kShare * taken, kShortPause, kLongPause);
  pause_ms_.store(static_cast<std::uint32_t>(pause.count()), std::memory_order_relaxed);
  end_turn();
}

void Residency::begin_turn() {
  while (is_reviewing_.exchange(true, std::memory_order_acquire)) is_reviewing_.wait(true, std::memory_order_relaxed);
}

void Residency::end_turn() {
  is_reviewing_.store(false, std::memory_order_release);
  is_reviewing_.notify_all();
}

/// A lookup that had begun to load something may have taken its memory before the limit fell: then once more.
void Residency::fit() {
  constexpr int kTries = 8;
  begin_turn();
  for (int i = 0; i < kTries; ++i) {
    (void)review_tables(true);
    if (!exceeds_limits()) break;
  }
  end_turn();
}

bool Residency::exceeds_limits() const {
  const auto exceeds = [](const MetadataBudget& budget) { return budget.used_bytes() > budget.limit_bytes(); };
  return exceeds(memory_.filter_budget()) || exceeds(memory_.index_budget());
}

bool Residency::review_tables(bool must) {
  Found found = find_tables();
  const bool filters_fit = bytes_of_all(found.filters) <= found.filter_limit;
  const bool indexes_fit = bytes_of_all(found.indexes) <= found.index_limit;
  const bool everything_is_there = filters_fit && columns_.empty() && !is_loading_;
  if ((everything_is_there && indexes_fit) || !(must || is_due(found))) return filters_fit;
  if (!everything_is_there) {
    weights_.observe(found.tables, found.gets - gets_at_last_review_);
    const std::vector<std::uint64_t> columns = choose_columns(found);
    if (filters_fit) columns_.clear();
    drop_columns(found, columns);
    load_columns(found, columns);
    weights_.begin(found.tables);
  }
  gets_at_last_review_ = found.gets;
  if (!indexes_fit) drop_indexes(found);
  return filters_fit;
}

/// The next lookups load others, as far as they fit.
void Residency::drop_indexes(Found& found) {
  for (std::size_t i = 0; i < found.indexes.size(); ++i) {
    found.indexes[i].weight = static_cast<double>(found.tables[i].table->counts().positives);
  }
  const ResidentPlan plan = plan_residents(found.indexes, found.index_limit);
  std::vector<UnloadedMetadata> unloaded;
  for (std::size_t i = 0; i < found.indexes.size(); ++i) {
    Table& table = *found.tables[i].table;
    if (plan.columns[i] == 0 && table.has_index_in_memory()) unloaded.push_back(table.unload_index());
  }
  if (!unloaded.empty()) epoch::wait(epoch::retire());
}

bool Residency::is_due(const Found& found) const {
  if (is_loading_ || found.gets - gets_at_last_review_ >= kGetsBetweenReviews) return true;
  if (columns_.empty() && bytes_of_all(found.filters) <= found.filter_limit) return false;  // Indexes alone.
  if (found.filter_limit != filter_limit_ || columns_.size() != found.tables.size()) return true;
  return !std::ranges::all_of(found.tables,
                              [&](const WeighedTable& weighed) { return columns_.contains(weighed.facts->number); });
}

std::vector<std::uint64_t> Residency::choose_columns(const Found& found) {
  std::vector<Resident> filters = found.filters;
  const std::vector<double> weights = weights_.weights(found.tables);
  for (std::size_t i = 0; i < filters.size(); ++i) filters[i].weight = weights[i];
  ResidentPlan plan = plan_residents(filters, found.filter_limit);

  ResidentPlan kept = plan;  // What is in memory; new tables as planned.
  kept.bytes = 0;
  kept.reads = 0;
  bool has_changed = false;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const auto before = columns_.find(found.tables[i].facts->number);
    if (before != columns_.end()) kept.columns[i] = std::min(before->second, filters[i].columns);
    kept.bytes += filters[i].bytes_with(kept.columns[i]);
    kept.reads += filters[i].reads_with(kept.columns[i]);
    has_changed = has_changed || kept.columns[i] != plan.columns[i];
  }
  const bool is_worth_it = kept.bytes > found.filter_limit || kept.reads > kWorthChanging * plan.reads;
  if (has_changed && is_worth_it) plans_.fetch_add(1, std::memory_order_relaxed);
  std::vector<std::uint64_t> columns = std::move(is_worth_it ? plan.columns : kept.columns);
  columns_.clear();
  for (std::size_t i = 0; i < columns.size(); ++i) columns_.emplace(found.tables[i].facts->number, columns[i]);
  filter_limit_ = found.filter_limit;
  return columns;
}

/// Also tells the tables that are not in memory what to load.
void Residency::drop_columns(const Found& found, std::span<const std::uint64_t> columns) {
  std::vector<UnloadedMetadata> unloaded;
  std::uint64_t bytes = 0;
  const auto free = [&] {
    if (!unloaded.empty()) epoch::wait(epoch::retire());  // Then nobody looks at them any more.
    unloaded.clear();
    bytes = 0;
  };
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Table& table = *found.tables[i].table;
    if (columns[i] > table.filter_columns() && table.has_filter_in_memory()) continue;
    UnloadedMetadata dropped = table.plan_filter(columns[i], false);
    if (dropped.filter == nullptr) continue;
    unloaded.push_back(std::move(dropped));
    bytes += found.filters[i].bytes_with(columns[i]);
    if (bytes > found.filter_limit / kPartsInMemoryTwice) free();
  }
  free();
}

void Residency::load_columns(const Found& found, std::span<const std::uint64_t> columns) {
  std::uint64_t loaded = 0;
  is_loading_ = false;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    Table& table = *found.tables[i].table;
    const std::uint64_t held = table.filter_columns();
    if (columns[i] <= held) continue;
    const bool may_load = loaded < kLoadedBytes;
    is_loading_ = is_loading_ || !may_load;
    if (!may_load && held > 0) continue;  // Without any, a lookup may load it before the next review.
    const std::uint64_t before = table.counts().filter_bytes_read;
    const UnloadedMetadata replaced = table.plan_filter(columns[i], may_load);
    if (replaced.filter != nullptr) epoch::wait(epoch::retire());  // Also if a lookup has just loaded it.
    loaded += table.counts().filter_bytes_read - before;
  }
}

void Residency::report(PlanReport& report) {
  begin_turn();
  const Found found = find_tables();
  LookupWeights weights = weights_;
  weights.observe(found.tables, found.gets - gets_at_last_review_);
  end_turn();

  std::vector<Resident> filters = found.filters;
  const std::vector<double> asked = weights.weights(found.tables);
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const WeighedTable& weighed = found.tables[i];
    const TableFacts& facts = *weighed.facts;
    const std::uint64_t columns = weighed.table->planned_filter_columns();
    const FilterKind* const kind = find_filter_kind(facts.filter_kind);
    filters[i].weight = asked[i];
    report.filter_bytes_now += filters[i].bytes_with(columns);
    const double planned = filters[i].reads_with(columns);
    const double observed = weights.observed_reads(weighed);
    report.wasted_reads_now += planned;
    report.wasted_reads_observed += observed;
    report.tables.push_back({.table = facts.number,
                             .level = weighed.level,
                             .run = weighed.run,
                             .keys = facts.keys,
                             .bytes = facts.file_bytes,
                             .smallest_key = facts.smallest_key,
                             .largest_key = facts.largest_key,
                             .kind = std::string(kind == nullptr ? "none" : kind->info.name),
                             .columns = columns,
                             .stored_columns = facts.filter_columns(),
                             .first_bytes = filters[i].first_bytes,
                             .column_bytes = filters[i].column_bytes,
                             .rate = facts.filter_rate_with(columns),
                             .stored_rate = facts.filter_rate_with(facts.filter_columns()),
                             .asked_in_vain = asked[i],
                             .wasted_reads = planned,
                             .observed_reads = observed});
  }
  report.wasted_reads_best = plan_residents(filters, report.filter_bytes_now).reads;
  for (std::uint64_t eighths = 1; eighths <= 64; eighths *= 2) {
    const std::uint64_t memory = report.filter_bytes_now / 8 * eighths;
    report.other_memory.push_back({memory, plan_residents(filters, memory).reads});
  }
}

}  // namespace tamis
