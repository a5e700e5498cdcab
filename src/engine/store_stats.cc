// Statistics of an open store.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/slot_memory.h"
#include "compaction/filter_planner.h"
#include "engine/store.h"
#include "filter/filter_kind.h"

namespace tamis {
namespace {

std::string_view kind_name(std::uint8_t id) {
  const FilterKind* const kind = find_filter_kind(id);
  return kind != nullptr ? kind->info.name : "none";
}

void add_table(Stats::Level& level, const Table& table) {
  const TableFacts& facts = table.facts();
  const std::string_view kind = kind_name(facts.filter_kind);
  level.filter_kind = level.tables == 0 || level.filter_kind == kind ? std::string(kind) : "mixed";
  ++level.tables;
  level.bytes += facts.file_bytes;
  level.entries += facts.entries;
  level.tombstones += facts.deletes;
  level.merge_operands += facts.operands;
  level.filter_bytes += facts.filter_bytes;
  level.bits_per_key += 8 * static_cast<double>(facts.filter_bytes);           // Divided by the keys at the end.
  level.designed_rate += facts.filter_rate * static_cast<double>(facts.keys);  // The same.
}

void add_counts(Stats::Level& level, const TableCounts& counts) {
  level.probes += std::max(counts.probes, counts.positives);
  level.negatives += std::max(counts.probes, counts.positives) - counts.positives;
  level.false_positives += counts.false_positives;
  level.hits += counts.hits;
  level.blocks_read += counts.blocks_read;
}

/// Adds the runs of one tree. Rates and bits per key are sums over keys until `finish`.
void add_runs(Stats::Level& level, const Version& version, Stats::Memory& memory, std::uint64_t& keys) {
  for (const Run& run : version.shape().levels[level.level]) {
    ++level.runs;
    keys += run.keys();
    for (const auto& facts : run.tables) {
      const std::shared_ptr<Table> table = version.table(facts->number);
      const TableCounts counts = table->counts();
      add_table(level, *table);
      add_counts(level, counts);
      if (!table->has_filter_in_memory()) {
        memory.filters_not_resident += facts->filter_bytes + facts->scan_filter_bytes();
      }
      if (!table->has_index_in_memory()) memory.indexes_not_resident += table->index_memory_bytes();
      memory.metadata_loads += counts.metadata_loads;
      memory.filter_bytes_loaded += counts.filter_bytes_read;
      memory.lookups_without_filter += counts.unfiltered;
    }
  }
}

void set_observed_rate(Stats::Level& level) {
  const std::uint64_t absent = level.negatives + level.false_positives;
  if (absent > 0) level.observed_rate = static_cast<double>(level.false_positives) / static_cast<double>(absent);
}

void finish(Stats::Level& level, std::uint64_t keys) {
  if (keys > 0) {
    level.bits_per_key /= static_cast<double>(keys);
    level.designed_rate /= static_cast<double>(keys);
  }
  set_observed_rate(level);
}

/// What a store's stats take from its trees.
struct TreeSums {
  std::uint64_t time = 0;  // Of readers.
  ReadCounts reads;
  std::vector<std::uint64_t> keys;  // By level.
  std::uint64_t slot_hits = 0;
  std::uint64_t memtable_bytes = 0;
  double live_bytes = 0;  // An estimate.
};

/// Memory kept for future blocks. The process shares it, so this counts no more than this cache may use.
std::uint64_t spare_bytes(const CacheStats& cache) {
  const std::size_t taken = cache.bytes_used + cache.bytes_reserved;
  return taken >= cache.capacity_bytes ? 0 : std::min(SlotMemory::free_bytes(), cache.capacity_bytes - taken);
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// Bytes of live entries in tables: an estimate, because a key may be in several runs. Sequences tell what share of the
/// writes merged into the largest run is still in it. The other runs are assumed to have the same share.
double live_bytes(const Shape& shape, std::uint64_t writes_in_tables) {
  const Run* largest = nullptr;
  double entries = 0;
  double live_in_all = 0;  // Bytes, if nothing were overwritten.
  double largest_live = 0;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) {
      double run_entries = 0;
      double run_deletes = 0;
      for (const auto& table : run.tables) {
        run_entries += static_cast<double>(table->entries);
        run_deletes += static_cast<double>(table->deletes);
      }
      if (run_entries == 0) continue;
      const double live = static_cast<double>(run.bytes()) * (run_entries - run_deletes) / run_entries;
      entries += run_entries;
      live_in_all += live;
      if (largest != nullptr && run.bytes() < largest->bytes()) continue;
      largest = &run;
      largest_live = live;
    }
  }
  if (largest == nullptr) return 0;
  double largest_entries = 0;
  for (const auto& table : largest->tables) largest_entries += static_cast<double>(table->entries);
  const double merged = static_cast<double>(writes_in_tables) - (entries - largest_entries);
  const double kept = merged > largest_entries ? largest_entries / merged : 1;
  return largest_live + kept * (live_in_all - largest_live);
}

void add_tree(const OpenKeyspace& keyspace, std::uint64_t sequence, Stats& stats, TreeSums& sums) {
  const std::shared_ptr<const Version> version = keyspace.tree.version();
  const Shape& shape = version->shape();
  std::vector<TableCounts> retired = keyspace.tree.retired_counts();
  retired.resize(std::max(retired.size(), shape.levels.size()));
  while (stats.levels.size() < shape.levels.size()) {
    stats.levels.push_back({.level = static_cast<std::uint32_t>(stats.levels.size())});
    sums.keys.push_back(0);
  }
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    add_runs(stats.levels[level], *version, stats.memory, sums.keys[level]);
    add_counts(stats.levels[level], retired[level]);
  }
  for (const TableCounts& counts : retired) sums.slot_hits += counts.slot_hits;
  for (const std::shared_ptr<Table>& table : version->tables()) {
    sums.slot_hits += table->counts().slot_hits;
    stats.expiry.entries += table->facts().expiring;
    stats.expiry.expired += table->facts().expired_by(sums.time);
  }
  stats.compaction_backlog += keyspace.tree.compaction_backlog();
  sums.memtable_bytes += keyspace.tree.memtable_bytes();
  const std::uint64_t writes_in_memory = keyspace.tree.entries_in_memtables();
  sums.live_bytes += live_bytes(shape, sequence - std::min(sequence, writes_in_memory));
  stats.bytes_on_disk += shape.bytes();
  for (const ValueFileUse& use : shape.value_use()) {
    ++stats.values.files;
    stats.values.bytes += use.facts.file_bytes;
    stats.values.values += use.values;
    stats.values.live_bytes += use.live_bytes;
  }
  sums.reads += keyspace.reader.counts();
}

/// Blocks that are found in slots are data.
Stats::Cache cache_part(const CacheStats& cache, std::uint64_t slot_hits) {
  return {.policy = std::string(BlockCache::policy()),
          .hits = cache.hits + slot_hits,
          .misses = cache.misses,
          .index_hits = cache.index_hits,
          .index_misses = cache.index_misses,
          .evictions = cache.evictions,
          .blocks = cache.blocks_kept,
          .bytes = cache.bytes_used,
          .capacity_bytes = cache.capacity_bytes};
}

/// What a writer counted, and what a follower's view of the files tells.
Stats with_files_of(Stats counted, const Stats& follower) {
  std::vector<Stats::Level> levels = follower.levels;
  while (levels.size() < counted.levels.size()) {
    levels.push_back({.level = static_cast<std::uint32_t>(levels.size()), .filter_kind = "none"});
  }
  counted.levels.resize(levels.size());
  for (std::size_t i = 0; i < levels.size(); ++i) {
    levels[i].probes = counted.levels[i].probes;
    levels[i].negatives = counted.levels[i].negatives;
    levels[i].false_positives = counted.levels[i].false_positives;
    levels[i].hits = counted.levels[i].hits;
    levels[i].blocks_read = counted.levels[i].blocks_read;
    levels[i].observed_rate = 0;
    set_observed_rate(levels[i]);
  }
  counted.levels = std::move(levels);
  counted.values = follower.values;
  counted.expiry.entries = follower.expiry.entries;
  counted.expiry.expired = follower.expiry.expired;
  counted.bytes_on_disk = follower.bytes_on_disk;
  counted.space_amplification = follower.space_amplification;
  return counted;
}

}  // namespace

Stats Store::stats() {
  Stats stats;
  if (is_of_another_process()) return stats;
  stats.sequence = number_of(published_.newest());
  TreeSums sums;
  sums.time = context_->expiry.time_of_read();
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    add_tree(*keyspace, stats.sequence, stats, sums);
  }
  sums.reads += keyspaces_.reads_of_dropped();
  stats.bytes_on_disk += stats.values.bytes;
  sums.live_bytes += static_cast<double>(stats.values.live_bytes);
  stats.gets = sums.reads.all();
  stats.gets_found = sums.reads.found();
  stats.memtable_hits = sums.reads.from_memtables;
  for (Stats::Level& level : stats.levels) finish(level, sums.keys[level.level]);
  const CacheStats cache = memory_->cache().stats();
  stats.cache = cache_part(cache, sums.slot_hits);
  const Journals::Counts journal = journals_.counts();
  stats.journal = {.files = journal.files,
                   .bytes = journal.bytes,
                   .recycled_files = journal.recycled_files,
                   .records = journal.records,
                   .syncs = journal.syncs};
  Stats::Memory& memory = stats.memory;
  memory.budget = memory_->options().memory_bytes;
  memory.memtables = sums.memtable_bytes + memory_->spare()->bytes();
  memory.blocks = cache.bytes_used + cache.bytes_reserved + spare_bytes(cache);
  memory.indexes = memory_->index_budget().used_bytes();
  memory.filters = memory_->filter_budget().used_bytes();
  memory.filter_plans = residency_.plans();
  memory.journal = journal.window_bytes;
  stats.transactions = writer_.window().stats();
  memory.transactions = stats.transactions.window_bytes;
  memory.used =
      memory.memtables + memory.blocks + memory.indexes + memory.filters + memory.journal + memory.transactions;
  stats.stalls = writer_.stalls();
  if (const std::optional<Health::Stop> stop = health_.stop()) stats.background_error = stop->why.message();
  stats.latencies = context_->timed.latencies();
  stats.writes = writer_.writes();
  stats.snapshots = live_handles_.snapshots();
  const TableRewrites::Counts rewrites = rewrites_.counts();
  stats.flushes = rewrites.flushes;
  stats.expiry.tables_dropped = rewrites.tables_expired;
  stats.compactions = rewrites.compactions;
  stats.moves = rewrites.moves;
  stats.bytes_written_by_users = writer_.bytes_written();
  stats.bytes_written = journal.bytes_written + rewrites.bytes_written;
  stats.write_amplification = ratio(stats.bytes_written, stats.bytes_written_by_users);
  if (sums.live_bytes > 0) {
    stats.space_amplification = std::max(1.0, static_cast<double>(stats.bytes_on_disk) / sums.live_bytes);
  }
  return stats;
}

std::optional<WriterStats> Store::writer_stats() {
  if (follower_ == nullptr || !is_open()) return std::nullopt;
  std::optional<PublishedCounters> counters = CountersFile::read(*context_);
  if (!counters) return std::nullopt;
  const std::uint64_t now = context_->precise_unix_milliseconds();
  const std::uint64_t age = now - std::min(now, counters->unix_milliseconds);
  return WriterStats{counters->process_id, std::chrono::milliseconds(age),
                     with_files_of(std::move(counters->stats), stats())};
}

std::vector<KeyspaceInfo> Store::keyspaces() {
  if (is_of_another_process()) return {};
  std::map<KeyspaceId, std::string> options;
  catalog_.inspect([&](const ManifestState& state) {
    for (const auto& [id, keyspace] : state.keyspaces) options.emplace(id, keyspace.options);
  });
  std::vector<KeyspaceInfo> infos;
  for (const std::shared_ptr<OpenKeyspace>& keyspace : keyspaces_.all()) {
    const std::shared_ptr<const Version> version = keyspace->tree.version();
    KeyspaceInfo& info = infos.emplace_back();
    info.name = keyspace->name;
    info.id = number_of(keyspace->id());
    info.options = options[keyspace->id()];
    info.tables = version->tables().size();
    info.entries = keyspace->tree.entries_in_memtables();
    for (const std::shared_ptr<Table>& table : version->tables()) info.entries += table->facts().entries;
    info.bytes_on_disk = version->shape().bytes();
    for (const ValueFileFacts& file : version->shape().value_files) info.bytes_on_disk += file.file_bytes;
    info.memtable_bytes = keyspace->tree.memtable_bytes();
  }
  return infos;
}

PlanReport Store::plan(std::optional<std::uint64_t> filter_memory) {
  if (is_of_another_process()) return {};
  const Tree& tree = keyspaces_.default_keyspace().tree;
  const std::shared_ptr<const Version> version = tree.version();
  FilterPlanOptions options = tree.filter_plan_options();
  if (filter_memory) options.memory_bytes = filter_memory;
  const StoreFilterPlan plan = plan_filters(version->shape(), options);
  PlanReport report{.filter_memory = plan.memory_bytes,
                    .wasted_reads = plan.wasted_probes,
                    .wasted_reads_uniform = plan.wasted_probes_uniform};
  for (const PlannedRunFilter& run : plan.runs) {
    report.runs.push_back({.level = run.level,
                           .run = run.run,
                           .keys = run.keys,
                           .kind = run.kind.empty() ? "none" : run.kind,
                           .bits_per_key = run.bits_per_key,
                           .bytes = static_cast<std::uint64_t>(run.bits_per_key * static_cast<double>(run.keys) / 8),
                           .rate = run.rate});
  }
  residency_.report(report);
  return report;
}

}  // namespace tamis
