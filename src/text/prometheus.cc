// Statistics in Prometheus's text format: https://prometheus.io/docs/instrumenting/exposition_formats/
#include "tamis/prometheus.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "text/byte_text.h"

namespace tamis {
namespace {

constexpr std::string_view kPrefix = "tamis_";

/// Metrics that end in "_total" are counters, the others gauges. Times are in seconds.
template <typename Of>
struct Metric {
  std::string_view name;
  std::string_view help;
  double (*value)(const Of& of);
};

constexpr double as_number(std::uint64_t number) { return static_cast<double>(number); }

using StoreMetric = Metric<Stats>;
constexpr StoreMetric kStoreMetrics[] = {
    {"gets_total", "Keys looked up.", [](const Stats& s) { return as_number(s.gets); }},
    {"gets_found_total", "Keys found.", [](const Stats& s) { return as_number(s.gets_found); }},
    {"memtable_hits_total", "Keys found in a memtable.", [](const Stats& s) { return as_number(s.memtable_hits); }},
    {"writes_total", "Puts and removes.", [](const Stats& s) { return as_number(s.writes); }},
    {"user_written_bytes_total", "Bytes of keys and values written by users.",
     [](const Stats& s) { return as_number(s.bytes_written_by_users); }},
    {"written_bytes_total", "Bytes written to journals, tables, value files and manifest.",
     [](const Stats& s) { return as_number(s.bytes_written); }},
    {"write_stalls_total", "Writes delayed because compaction or a flush is behind.",
     [](const Stats& s) { return as_number(s.stalls.delayed_writes); }},
    {"write_stall_seconds_total", "Total delay of writes.",
     [](const Stats& s) { return as_number(s.stalls.delay_us) / 1e6; }},
    {"write_stall_longest_seconds", "The longest delay of a write.",
     [](const Stats& s) { return as_number(s.stalls.longest_us) / 1e6; }},
    {"flushes_total", "Memtables written to tables.", [](const Stats& s) { return as_number(s.flushes); }},
    {"compactions_total", "Compactions that merged tables.", [](const Stats& s) { return as_number(s.compactions); }},
    {"moves_total", "Compactions that only moved tables.", [](const Stats& s) { return as_number(s.moves); }},
    {"tables_expired_total", "Tables dropped unread because everything in them had expired.",
     [](const Stats& s) { return as_number(s.expiry.tables_dropped); }},
    {"compaction_backlog_bytes", "Bytes of tables that compaction still has to move to another level.",
     [](const Stats& s) { return as_number(s.compaction_backlog); }},
    {"cache_evictions_total", "Blocks evicted from the cache.",
     [](const Stats& s) { return as_number(s.cache.evictions); }},
    {"cache_blocks", "Blocks in the cache.", [](const Stats& s) { return as_number(s.cache.blocks); }},
    {"cache_bytes", "Bytes of the blocks in the cache.", [](const Stats& s) { return as_number(s.cache.bytes); }},
    {"cache_capacity_bytes", "Most bytes of blocks in the cache.",
     [](const Stats& s) { return as_number(s.cache.capacity_bytes); }},
    {"memory_budget_bytes", "The option memory_bytes.", [](const Stats& s) { return as_number(s.memory.budget); }},
    {"indexes_not_resident_bytes", "Bytes of indexes that are read from disk when needed.",
     [](const Stats& s) { return as_number(s.memory.indexes_not_resident); }},
    {"filters_not_resident_bytes", "Bytes of filters that are not in memory.",
     [](const Stats& s) { return as_number(s.memory.filters_not_resident); }},
    {"filter_loaded_bytes_total", "Bytes of filters read from files.",
     [](const Stats& s) { return as_number(s.memory.filter_bytes_loaded); }},
    {"lookups_without_filter_total", "Table probes that a filter that is not in memory might have avoided.",
     [](const Stats& s) { return as_number(s.memory.lookups_without_filter); }},
    {"journal_files", "Journals needed for recovery.", [](const Stats& s) { return as_number(s.journal.files); }},
    {"journal_bytes", "Size of those journals.", [](const Stats& s) { return as_number(s.journal.bytes); }},
    {"journal_records_total", "Records written to the journal: groups of commits.",
     [](const Stats& s) { return as_number(s.journal.records); }},
    {"journal_syncs_total", "Journal syncs.", [](const Stats& s) { return as_number(s.journal.syncs); }},
    {"transactions_live", "Transactions begun and not ended.",
     [](const Stats& s) { return as_number(s.transactions.live); }},
    {"transactions_committed_total", "Transactions committed with writes.",
     [](const Stats& s) { return as_number(s.transactions.committed); }},
    {"transaction_conflicts_total", "Commits refused because of a conflict.",
     [](const Stats& s) { return as_number(s.transactions.conflicts); }},
    {"snapshots", "Live snapshots.", [](const Stats& s) { return as_number(s.snapshots); }},
    {"disk_bytes", "Bytes of tables and value files.", [](const Stats& s) { return as_number(s.bytes_on_disk); }},
    {"value_files_bytes", "Size of value files.", [](const Stats& s) { return as_number(s.values.bytes); }},
    {"value_files_live_bytes", "Bytes of values in them that tables point to.",
     [](const Stats& s) { return as_number(s.values.live_bytes); }},
    {"space_amplification_ratio", "Bytes of tables per byte of live entries, as estimated; 0 without tables.",
     [](const Stats& s) { return s.space_amplification; }},
    {"background_error", "1 if writes have stopped because of an error, otherwise 0.",
     [](const Stats& s) { return s.background_error.empty() ? 0.0 : 1.0; }},
};

using LevelMetric = Metric<Stats::Level>;
constexpr LevelMetric kLevelMetrics[] = {
    {"level_runs", "Sorted runs.", [](const Stats::Level& l) { return as_number(l.runs); }},
    {"level_tables", "Tables.", [](const Stats::Level& l) { return as_number(l.tables); }},
    {"level_bytes", "Size of the tables.", [](const Stats::Level& l) { return as_number(l.bytes); }},
    {"level_entries", "Entries.", [](const Stats::Level& l) { return as_number(l.entries); }},
    {"level_tombstones", "Entries that are tombstones.", [](const Stats::Level& l) { return as_number(l.tombstones); }},
    {"level_filter_bytes", "Size of the filters.", [](const Stats::Level& l) { return as_number(l.filter_bytes); }},
    {"level_probes_total", "Lookups that reached a table.", [](const Stats::Level& l) { return as_number(l.probes); }},
    {"level_filter_negatives_total", "Probes that filters answered with no.",
     [](const Stats::Level& l) { return as_number(l.negatives); }},
    {"level_filter_false_positives_total", "Probes that filters answered with maybe for an absent key.",
     [](const Stats::Level& l) { return as_number(l.false_positives); }},
    {"level_hits_total", "Lookups that found the key.", [](const Stats::Level& l) { return as_number(l.hits); }},
    {"level_blocks_read_total", "Data blocks that lookups read from files.",
     [](const Stats::Level& l) { return as_number(l.blocks_read); }},
};

using KeyspaceMetric = Metric<KeyspaceInfo>;
constexpr KeyspaceMetric kKeyspaceMetrics[] = {
    {"keyspace_tables", "Tables.", [](const KeyspaceInfo& k) { return as_number(k.tables); }},
    {"keyspace_entries", "Entries, with overwritten ones.", [](const KeyspaceInfo& k) { return as_number(k.entries); }},
    {"keyspace_disk_bytes", "Bytes of tables and value files.",
     [](const KeyspaceInfo& k) { return as_number(k.bytes_on_disk); }},
    {"keyspace_memtable_bytes", "Bytes of memtables.",
     [](const KeyspaceInfo& k) { return as_number(k.memtable_bytes); }},
};

struct Histogram {
  std::string_view name;
  std::string_view help;
  Stats::Latency Stats::Latencies::*latency;
};
constexpr Histogram kHistograms[] = {
    {"get_duration_seconds", "Gets of one key; one in 128 is timed.", &Stats::Latencies::get},
    {"put_duration_seconds", "Puts, removes, batches and commits.", &Stats::Latencies::put},
    {"scan_duration_seconds", "Scans up to their first entry.", &Stats::Latencies::scan},
    {"sync_duration_seconds", "Journal syncs that writes wait for.", &Stats::Latencies::sync},
    {"flush_duration_seconds", "Flushes.", &Stats::Latencies::flush},
    {"compaction_duration_seconds", "Compactions that merged tables.", &Stats::Latencies::compaction},
};

struct MemoryShare {
  std::string_view name;
  std::uint64_t Stats::Memory::*bytes;
};
constexpr MemoryShare kMemoryShares[] = {
    {"memtables", &Stats::Memory::memtables}, {"blocks", &Stats::Memory::blocks},
    {"indexes", &Stats::Memory::indexes},     {"filters", &Stats::Memory::filters},
    {"journal", &Stats::Memory::journal},     {"transactions", &Stats::Memory::transactions}};

/// A label's value: UTF-8 with backslash, quote and line end escaped; other bytes in hexadecimal.
std::string escaped(std::string_view value) {
  if (!is_utf8(value)) return "0x" + to_hex(value);
  std::string text;
  for (const char c : value) {
    switch (c) {
      case '\\': text += "\\\\"; break;
      case '"': text += "\\\""; break;
      case '\n': text += "\\n"; break;
      default: text += c;
    }
  }
  return text;
}

/// The text under construction.
class Exposition {
 public:
  void begin(std::string_view name, std::string_view type, std::string_view help) {
    text_ += fmt::format("# HELP {}{} {}\n# TYPE {}{} {}\n", kPrefix, name, help, kPrefix, name, type);
  }
  template <typename Of>
  void begin(const Metric<Of>& metric) {
    begin(metric.name, metric.name.ends_with("_total") ? "counter" : "gauge", metric.help);
  }
  void add(std::string_view name, double value) { text_ += fmt::format("{}{} {}\n", kPrefix, name, value); }
  void add(std::string_view name, std::string_view label, std::string_view of, double value) {
    text_ += fmt::format("{}{}{{{}=\"{}\"}} {}\n", kPrefix, name, label, escaped(of), value);
  }
  /// A metric of each item.
  template <typename Of, typename Items, typename LabelOf>
  void add_each(const Metric<Of>& metric, const Items& items, std::string_view label, const LabelOf& label_of) {
    if (items.empty()) return;
    begin(metric);
    for (const auto& item : items) add(metric.name, label, label_of(item), metric.value(item));
  }
  void add(const Histogram& histogram, const Stats::Latency& latency) {
    begin(histogram.name, "histogram", histogram.help);
    const std::string bucket = fmt::format("{}_bucket", histogram.name);
    std::uint64_t up_to = 0;
    for (std::size_t i = 0; i + 1 < latency.buckets.size(); ++i) {
      up_to += latency.buckets[i];
      add(bucket, "le", fmt::format("{}", as_number(Stats::Latency::bound_ns(i)) / 1e9), as_number(up_to));
    }
    up_to += latency.buckets.back();
    add(bucket, "le", "+Inf", as_number(up_to));
    add(fmt::format("{}_sum", histogram.name), as_number(latency.sum_ns) / 1e9);
    add(fmt::format("{}_count", histogram.name), as_number(up_to));
  }
  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void add_cache(Exposition& text, const Stats::Cache& cache) {
  text.begin("cache_hits_total", "counter", "Blocks found in the cache, by kind.");
  text.add("cache_hits_total", "kind", "data", as_number(cache.hits - cache.index_hits));
  text.add("cache_hits_total", "kind", "index", as_number(cache.index_hits));
  text.begin("cache_misses_total", "counter", "Blocks not found in the cache, by kind.");
  text.add("cache_misses_total", "kind", "data", as_number(cache.misses - cache.index_misses));
  text.add("cache_misses_total", "kind", "index", as_number(cache.index_misses));
}

}  // namespace

std::string to_prometheus(const Stats& stats, const std::vector<KeyspaceInfo>& keyspaces) {
  Exposition text;
  for (const StoreMetric& metric : kStoreMetrics) {
    text.begin(metric);
    text.add(metric.name, metric.value(stats));
  }
  add_cache(text, stats.cache);
  text.begin("memory_bytes", "gauge", "Memory in use, by what has it.");
  for (const MemoryShare& share : kMemoryShares) {
    text.add("memory_bytes", "share", share.name, as_number(stats.memory.*share.bytes));
  }
  for (const LevelMetric& metric : kLevelMetrics) {
    text.add_each(metric, stats.levels, "level", [](const Stats::Level& level) { return std::to_string(level.level); });
  }
  for (const KeyspaceMetric& metric : kKeyspaceMetrics) {
    text.add_each(metric, keyspaces, "keyspace", [](const KeyspaceInfo& keyspace) { return keyspace.name; });
  }
  for (const Histogram& histogram : kHistograms) text.add(histogram, stats.latencies.*histogram.latency);
  return text.take();
}

}  // namespace tamis
