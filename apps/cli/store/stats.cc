// tamis stats: what a store holds, per level, and its costs.
#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/store/common.h"
#include "cli/store/keyspaces.h"
#include "cli/verbs.h"

namespace tamis::cli {
namespace {

std::uint64_t age_in_ms(const WriterStats& writer) { return static_cast<std::uint64_t>(writer.age.count()); }

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
      .add("lookups_without_filter", memory.lookups_without_filter);
}

JsonObject stalls_json(const Stats::Stalls& stalls) {
  return JsonObject()
      .add("delayed_writes", stalls.delayed_writes)
      .add("delay_us", stalls.delay_us)
      .add("reason", stalls.reason);
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

JsonObject writer_json(const WriterStats& writer) {
  return JsonObject().add("process_id", writer.process_id).add("age_ms", age_in_ms(writer));
}

JsonObject as_json(const Stats& stats, const std::vector<KeyspaceInfo>& keyspaces,
                   const std::optional<WriterStats>& writer) {
  JsonObject json;
  if (writer) json.add("writer", writer_json(*writer));
  return json.add_list("levels", stats.levels, level_json)
      .add_list("keyspaces", keyspaces, keyspace_json)
      .add("cache", cache_json(stats.cache))
      .add("journal", journal_json(stats.journal))
      .add("memory", memory_json(stats.memory))
      .add("values", values_json(stats.values))
      .add("stalls", stalls_json(stats.stalls))
      .add("transactions", transactions_json(stats.transactions))
      .add("gets", stats.gets)
      .add("gets_found", stats.gets_found)
      .add("memtable_hits", stats.memtable_hits)
      .add("writes", stats.writes)
      .add("sequence", stats.sequence)
      .add("snapshots", stats.snapshots)
      .add("expiring_entries", stats.expiring_entries)
      .add("expired_entries", stats.expired_entries)
      .add("tables_expired", stats.tables_expired)
      .add("flushes", stats.flushes)
      .add("compactions", stats.compactions)
      .add("moves", stats.moves)
      .add("bytes_written_by_users", stats.bytes_written_by_users)
      .add("bytes_written", stats.bytes_written)
      .add("bytes_on_disk", stats.bytes_on_disk)
      .add("write_amplification", stats.write_amplification)
      .add("space_amplification", stats.space_amplification)
      .add("background_error", stats.background_error);
}

}  // namespace

int run_stats(Arguments arguments) {
  StoreArguments store;
  CommandLine line({.summary =
                        "Shows what a store holds, level by level over all keyspaces, with filters and their error "
                        "rates; caches, journal, memory, amplification; each keyspace if there are several. Counters "
                        "start when a store is opened. Of a store that a process writes they are that process's, with "
                        "their age; of any other, most are 0.",
                    .usage = "DIR",
                    .example = "  tamis stats cities",
                    .common = kJson});
  store.declare(line);
  if (!line.read(arguments)) return kExitOk;
  const DB db = store.open(StoreUse::kRead);
  const std::optional<WriterStats> writer = db.writer_stats();
  const Stats stats = writer ? writer->stats : db.stats();
  const std::vector<KeyspaceInfo> keyspaces = db.keyspaces();
  if (line.common().json) {
    standard_output().write(as_json(stats, keyspaces, writer).line());
    return kExitOk;
  }
  if (writer) {
    print_report(fmt::format("Counters of process {}, as of {:.1f} s ago\n\n", writer->process_id,
                             static_cast<double>(age_in_ms(*writer)) / 1000));
  }
  print_report(stats.to_text());
  if (keyspaces.size() > 1) print_report("\n" + keyspaces_text(keyspaces));
  return kExitOk;
}

}  // namespace tamis::cli
