// Reports of a store as JSON.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "tamis/keyspace.h"
#include "tamis/stats.h"
#include "text/json.h"

namespace tamis {
namespace {

JsonObject level_json(const Stats::Level& level) {
  return JsonObject()
      .add("level", level.level)
      .add("runs", level.runs)
      .add("tables", level.tables)
      .add("bytes", level.bytes)
      .add("entries", level.entries)
      .add("tombstones", level.tombstones)
      .add("merge_operands", level.merge_operands)
      .add("filter_kind", level.filter_kind)
      .add("bits_per_key", level.bits_per_key)
      .add("filter_bytes", level.filter_bytes)
      .add("fpr_designed", level.designed_rate)
      .add("fpr_observed", level.observed_rate)
      .add("probes", level.probes)
      .add("negatives", level.negatives)
      .add("false_positives", level.false_positives)
      .add("hits", level.hits)
      .add("blocks_read", level.blocks_read);
}

JsonObject cache_json(const Stats::Cache& cache) {
  return JsonObject()
      .add("policy", cache.policy)
      .add("hits", cache.hits)
      .add("misses", cache.misses)
      .add("index_hits", cache.index_hits)
      .add("index_misses", cache.index_misses)
      .add("evictions", cache.evictions)
      .add("blocks", cache.blocks)
      .add("bytes", cache.bytes)
      .add("capacity_bytes", cache.capacity_bytes);
}

JsonObject journal_json(const Stats::Journal& journal) {
  return JsonObject()
      .add("files", journal.files)
      .add("bytes", journal.bytes)
      .add("recycled_files", journal.recycled_files)
      .add("records", journal.records)
      .add("syncs", journal.syncs);
}

JsonObject memory_json(const Stats::Memory& memory) {
  return JsonObject()
      .add("budget", memory.budget)
      .add("used", memory.used)
      .add("memtables", memory.memtables)
      .add("blocks", memory.blocks)
      .add("indexes", memory.indexes)
      .add("filters", memory.filters)
      .add("journal", memory.journal)
      .add("transactions", memory.transactions)
      .add("indexes_not_resident", memory.indexes_not_resident)
      .add("filters_not_resident", memory.filters_not_resident)
      .add("metadata_loads", memory.metadata_loads)
      .add("filter_bytes_loaded", memory.filter_bytes_loaded)
      .add("filter_plans", memory.filter_plans)
      .add("lookups_without_filter", memory.lookups_without_filter);
}

JsonObject stalls_json(const Stats::Stalls& stalls) {
  return JsonObject()
      .add("delayed_writes", stalls.delayed_writes)
      .add("delay_us", stalls.delay_us)
      .add("longest_us", stalls.longest_us)
      .add("reason", stalls.reason);
}

JsonObject latency_json(const Stats::Latency& latency) {
  return JsonObject()
      .add("count", latency.count)
      .add("sum_ns", latency.sum_ns)
      .add("p50_ns", latency.p50_ns)
      .add("p90_ns", latency.p90_ns)
      .add("p99_ns", latency.p99_ns)
      .add("p999_ns", latency.p999_ns)
      .add("max_ns", latency.max_ns)
      .add("buckets", std::vector<std::uint64_t>(latency.buckets.begin(), latency.buckets.end()));
}

JsonObject latencies_json(const Stats::Latencies& latencies) {
  return JsonObject()
      .add("get", latency_json(latencies.get))
      .add("put", latency_json(latencies.put))
      .add("scan", latency_json(latencies.scan))
      .add("sync", latency_json(latencies.sync))
      .add("flush", latency_json(latencies.flush))
      .add("compaction", latency_json(latencies.compaction));
}

JsonObject values_json(const Stats::Values& values) {
  return JsonObject()
      .add("files", values.files)
      .add("bytes", values.bytes)
      .add("values", values.values)
      .add("live_bytes", values.live_bytes);
}

JsonObject transactions_json(const Stats::Transactions& transactions) {
  return JsonObject()
      .add("live", transactions.live)
      .add("committed", transactions.committed)
      .add("conflicts", transactions.conflicts)
      .add("window_bytes", transactions.window_bytes);
}

JsonObject step_json(const Explanation::Step& step) {
  JsonObject object;
  object.add("where", step.where).add("level", step.level).add("run", step.run).add("table", step.table);
  std::optional<JsonObject> filter;
  if (!step.filter_verdict.empty()) {
    filter = JsonObject()
                 .add("kind", step.filter_kind)
                 .add("bits_per_key", step.bits_per_key)
                 .add("columns", step.columns)
                 .add("stored_columns", step.stored_columns)
                 .add("verdict", step.filter_verdict);
  }
  std::optional<JsonObject> block;
  if (!step.block_source.empty()) block = JsonObject().add("source", step.block_source);
  return object.add("filter", filter)
      .add("block", block)
      .add("outcome", step.outcome)
      .add("reads", step.reads)
      .add("metadata_reads", step.metadata_reads)
      .add("nanoseconds", step.nanoseconds);
}

JsonObject run_json(const PlanReport::Run& run) {
  return JsonObject()
      .add("level", run.level)
      .add("run", run.run)
      .add("keys", run.keys)
      .add("kind", run.kind)
      .add("bits_per_key", run.bits_per_key)
      .add("bytes", run.bytes)
      .add("fpr", run.rate);
}

JsonObject planned_table_json(const PlanReport::Table& table) {
  return JsonObject()
      .add("table", table.table)
      .add("level", table.level)
      .add("run", table.run)
      .add("keys", table.keys)
      .add("bytes", table.bytes)
      .add("kind", table.kind)
      .add("columns", table.columns)
      .add("stored_columns", table.stored_columns)
      .add("first_bytes", table.first_bytes)
      .add("column_bytes", table.column_bytes)
      .add("fpr", table.rate)
      .add("fpr_stored", table.stored_rate)
      .add("asked_in_vain", table.asked_in_vain)
      .add("wasted_reads", table.wasted_reads)
      .add("observed_reads", table.observed_reads);
}

JsonObject point_json(const PlanReport::Point& point) {
  return JsonObject().add("filter_memory", point.filter_memory).add("wasted_reads", point.wasted_reads);
}

JsonObject problem_json(const Problem& problem) {
  return JsonObject().add("file", problem.file).add("offset", problem.offset).add("what", problem.what);
}

/// Of lines "name=value".
JsonObject options_json(std::string_view lines) {
  JsonObject options;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    const std::size_t equals = line.find('=');
    options.add(line.substr(0, equals), line.substr(equals + 1));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  }
  return options;
}

}  // namespace

std::string Stats::to_json() const {
  return JsonObject()
      .add_list("levels", levels, level_json)
      .add("cache", cache_json(cache))
      .add("journal", journal_json(journal))
      .add("memory", memory_json(memory))
      .add("values", values_json(values))
      .add("stalls", stalls_json(stalls))
      .add("transactions", transactions_json(transactions))
      .add("latencies", latencies_json(latencies))
      .add("gets", gets)
      .add("gets_found", gets_found)
      .add("memtable_hits", memtable_hits)
      .add("writes", writes)
      .add("sequence", sequence)
      .add("snapshots", snapshots)
      .add("expiring_entries", expiry.entries)
      .add("expired_entries", expiry.expired)
      .add("tables_expired", expiry.tables_dropped)
      .add("flushes", flushes)
      .add("compactions", compactions)
      .add("moves", moves)
      .add("compaction_backlog", compaction_backlog)
      .add("bytes_written_by_users", bytes_written_by_users)
      .add("bytes_written", bytes_written)
      .add("bytes_on_disk", bytes_on_disk)
      .add("write_amplification", write_amplification)
      .add("space_amplification", space_amplification)
      .add("background_error", background_error)
      .text();
}

std::string Explanation::to_json(bool bytes_in_hex) const {
  JsonObject object;
  object.add_bytes("key", key, bytes_in_hex).add("found", found);
  if (value) object.add_bytes("value", *value, bytes_in_hex);
  if (!operands.empty()) {
    object.add("fold_error", fold_error).add_list("operands", operands, [&](const std::string& operand) {
      return JsonObject().add_bytes("bytes", operand, bytes_in_hex);
    });
  }
  return object.add("reads", reads)
      .add("metadata_reads", metadata_reads)
      .add("nanoseconds", nanoseconds)
      .add_list("steps", steps, step_json)
      .text();
}

std::string PlanReport::to_json() const {
  return JsonObject()
      .add_list("runs", runs, run_json)
      .add("filter_memory", filter_memory)
      .add("wasted_reads", wasted_reads)
      .add("wasted_reads_uniform", wasted_reads_uniform)
      .add_list("tables", tables, planned_table_json)
      .add("filter_bytes_now", filter_bytes_now)
      .add("wasted_reads_now", wasted_reads_now)
      .add("wasted_reads_best", wasted_reads_best)
      .add("wasted_reads_observed", wasted_reads_observed)
      .add_list("other_memory", other_memory, point_json)
      .text();
}

std::string VerifyReport::to_json() const {
  return JsonObject()
      .add("ok", ok())
      .add_list("problems", problems, problem_json)
      .add("files", files)
      .add("bytes", bytes)
      .add("entries", entries)
      .add("journal_entries", journal_entries)
      .add("journal_bytes", journal_bytes)
      .text();
}

std::string RepairReport::to_json(bool bytes_in_hex) const {
  const auto doubt_json = [&](const Doubt& doubt) {
    return JsonObject()
        .add_bytes("from", doubt.from, bytes_in_hex)
        .add_bytes("to", doubt.to, bytes_in_hex)
        .add("why", doubt.why)
        .add("keyspace", doubt.keyspace);
  };
  return JsonObject()
      .add("dry_run", is_dry_run)
      .add("manifest_lost", manifest_lost)
      .add("tables_kept", tables_kept)
      .add("tables_rewritten", tables_rewritten)
      .add("tables_left_out", tables_left_out)
      .add("entries", entries)
      .add("journal_entries", journal_entries)
      .add("bytes_looked_at", bytes_looked_at)
      .add_list("lost", lost, problem_json)
      .add_list("doubts", doubts, doubt_json)
      .text();
}

std::string KeyspaceInfo::to_json() const {
  return JsonObject()
      .add_bytes("name", name)
      .add("id", id)
      .add("entries", entries)
      .add("tables", tables)
      .add("bytes", bytes_on_disk)
      .add("memtable_bytes", memtable_bytes)
      .add("options", options_json(options))
      .text();
}

}  // namespace tamis
