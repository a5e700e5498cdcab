// Text reports of a store, 80 columns wide.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "tamis/stats.h"
#include "text/text_layout.h"

namespace tamis {
namespace {

using Align = TextTable::Align;

constexpr std::size_t kBarWidth = 24;

double part_of(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// "cache     s3fifo, …": a labelled line; an empty label continues it.
std::string labelled(std::string_view label, std::string_view text) { return fmt::format("{:<8} {}\n", label, text); }

std::string shape_text(const Stats& stats) {
  TextTable table(
      {{"level"}, {"runs"}, {"tables"}, {"size"}, {"entries"}, {"deletes"}, {"lookups"}, {"found"}, {"reads"}});
  for (const Stats::Level& level : stats.levels) {
    table.add({std::to_string(level.level), count_text(level.runs), count_text(level.tables), bytes_text(level.bytes),
               count_text(level.entries), count_text(level.tombstones), count_text(level.probes),
               count_text(level.hits), count_text(level.blocks_read)});
  }
  return table.text();
}

std::string filters_text(const Stats& stats) {
  TextTable table({{"level"},
                   {"filter", Align::kLeft},
                   {"bits/key"},
                   {"size"},
                   {"designed"},
                   {"observed"},
                   {"asked"},
                   {"no"},
                   {"wrong"}});
  for (const Stats::Level& level : stats.levels) {
    const bool has_filter = level.filter_bytes > 0;
    const bool was_wrong_or_right = level.probes > level.hits;
    table.add({std::to_string(level.level), level.filter_kind,
               has_filter ? fmt::format("{:.2f}", level.bits_per_key) : "",
               has_filter ? bytes_text(level.filter_bytes) : "", has_filter ? rate_text(level.designed_rate) : "",
               has_filter && was_wrong_or_right ? rate_text(level.observed_rate) : "-", count_text(level.probes),
               count_text(level.negatives), count_text(level.false_positives)});
  }
  return table.text();
}

std::string memory_text(const Stats::Memory& memory) {
  std::string text =
      labelled("memory", fmt::format("{} {} of {}", bar_text(part_of(memory.used, memory.budget), kBarWidth),
                                     bytes_text(memory.used), bytes_text(memory.budget)));
  text += labelled("", fmt::format("memtables {}, blocks {}, indexes {}, filters {}", bytes_text(memory.memtables),
                                   bytes_text(memory.blocks), bytes_text(memory.indexes), bytes_text(memory.filters)));
  if (memory.journal > 0) text += labelled("", fmt::format("mapped of the journal {}", bytes_text(memory.journal)));
  if (memory.indexes_not_resident + memory.filters_not_resident > 0) {
    text += labelled("", fmt::format("not in memory: indexes {}, filters {}", bytes_text(memory.indexes_not_resident),
                                     bytes_text(memory.filters_not_resident)));
    text +=
        labelled("", fmt::format("{} asked without their filter", count_of(memory.lookups_without_filter, "table")));
  }
  if (memory.filter_plans > 0) {
    text += labelled("", fmt::format("filters planned anew {}, {} loaded", count_of(memory.filter_plans, "time"),
                                     bytes_text(memory.filter_bytes_loaded)));
  }
  return text;
}

std::string cache_text(const Stats::Cache& cache) {
  const std::uint64_t asked = cache.hits + cache.misses;
  return labelled("cache", fmt::format("{}: {} of {} in {}, {}", cache.policy, bytes_text(cache.bytes),
                                       bytes_text(cache.capacity_bytes), count_of(cache.blocks, "block"),
                                       count_of(cache.evictions, "eviction"))) +
         labelled("", fmt::format("{}, {} ({} found)", count_of(cache.hits, "hit"),
                                  count_of(cache.misses, "miss", "misses"), rate_text(part_of(cache.hits, asked)))) +
         (cache.index_hits + cache.index_misses == 0
              ? std::string()
              : labelled("", fmt::format("of them for parts of indexes {}, {}", count_of(cache.index_hits, "hit"),
                                         count_of(cache.index_misses, "miss", "misses"))));
}

std::string work_text(const Stats& stats) {
  std::string text = labelled("gets", fmt::format("{}, {} found, {} of them in memtables", count_text(stats.gets),
                                                  count_text(stats.gets_found), count_text(stats.memtable_hits)));
  text += labelled("writes", fmt::format("{} since opened; {} in the life of the store", count_text(stats.writes),
                                         count_text(stats.sequence)));
  text += labelled("work", fmt::format("{}, {}, {}; {} open", count_of(stats.flushes, "flush", "flushes"),
                                       count_of(stats.compactions, "compaction"), count_of(stats.moves, "move"),
                                       count_of(stats.snapshots, "snapshot")));
  if (stats.compaction_backlog > 0) {
    text += labelled("", bytes_text(stats.compaction_backlog) + " of tables are to be compacted");
  }
  std::uint64_t operands = 0;
  for (const Stats::Level& level : stats.levels) operands += level.merge_operands;
  if (operands > 0) {
    text += labelled("merges", count_of(operands, "operand") + " in tables, not folded yet");
  }
  if (stats.expiry.entries + stats.expiry.tables_dropped > 0) {
    text += labelled("expiry",
                     fmt::format("{} with a due time, about {} expired; {} dropped unread",
                                 count_of(stats.expiry.entries, "entry", "entries"), count_text(stats.expiry.expired),
                                 count_of(stats.expiry.tables_dropped, "table")));
  }
  text += labelled(
      "written", fmt::format("{} by users, {} to files: amplification {:.2f}", bytes_text(stats.bytes_written_by_users),
                             bytes_text(stats.bytes_written), stats.write_amplification));
  text += labelled("disk", fmt::format("{} of tables: amplification {:.2f}", bytes_text(stats.bytes_on_disk),
                                       stats.space_amplification));
  if (stats.values.files > 0) {
    text += labelled("values apart", fmt::format("{} in {} files, {} of them live", bytes_text(stats.values.bytes),
                                                 stats.values.files, bytes_text(stats.values.live_bytes)));
  }
  const Stats::Transactions& transactions = stats.transactions;
  if (transactions.committed + transactions.conflicts + transactions.live > 0) {
    text += labelled("transactions",
                     fmt::format("{} committed, {}, {} live; {} of recent commits", count_text(transactions.committed),
                                 count_of(transactions.conflicts, "conflict"), count_text(transactions.live),
                                 bytes_text(transactions.window_bytes)));
  }
  if (stats.stalls.delayed_writes > 0) {
    text += labelled(
        "stalls", fmt::format("{} delayed, {} in all, {} at most: {}", count_of(stats.stalls.delayed_writes, "write"),
                              duration_text(1000 * stats.stalls.delay_us),
                              duration_text(1000 * stats.stalls.longest_us), stats.stalls.reason));
  }
  if (!stats.background_error.empty()) text += labelled("ERROR", stats.background_error);
  return text;
}

/// Nothing before the first call was timed.
std::string latencies_text(const Stats::Latencies& latencies) {
  TextTable table({{"time of", Align::kLeft}, {"timed"}, {"median"}, {"90 %"}, {"99 %"}, {"99.9 %"}, {"longest"}});
  bool is_empty = true;
  const auto add = [&](std::string_view name, const Stats::Latency& latency) {
    if (latency.count == 0) return;
    is_empty = false;
    table.add({std::string(name), count_text(latency.count), duration_text(latency.p50_ns),
               duration_text(latency.p90_ns), duration_text(latency.p99_ns), duration_text(latency.p999_ns),
               duration_text(latency.max_ns)});
  };
  add("get", latencies.get);
  add("put", latencies.put);
  add("scan", latencies.scan);
  add("sync", latencies.sync);
  add("flush", latencies.flush);
  add("compaction", latencies.compaction);
  return is_empty ? "" : "\n" + table.text();
}

bool is_outside(const Explanation::Step& step) { return step.outcome == "outside"; }

std::string filter_cell(const Explanation::Step& step) {
  if (is_outside(step)) return "not asked";
  if (step.filter_kind.empty()) return step.filter_verdict;
  if (step.columns && step.stored_columns) {
    return fmt::format("{}, {} of {} columns: {}", step.filter_kind, *step.columns, *step.stored_columns,
                       step.filter_verdict);
  }
  return fmt::format("{}, {:.1f} bits: {}", step.filter_kind, step.bits_per_key, step.filter_verdict);
}

template <typename T>
std::string number_or_nothing(const std::optional<T>& number) {
  return number ? std::to_string(*number) : std::string();
}

/// The columns of the filters in one level.
struct LevelColumns {
  std::uint64_t tables = 0;
  std::uint64_t fewest = 0;
  std::uint64_t most = 0;
  double asked = 0;
  double planned = 0;  // Reads of those asked.
  double observed = 0;

  void add(const PlanReport::Table& table) {
    fewest = tables == 0 ? table.columns : std::min(fewest, table.columns);
    most = std::max(most, table.columns);
    ++tables;
    asked += table.asked_in_vain;
    planned += table.wasted_reads;
    observed += table.observed_reads;
  }
};

std::string figure(double per_get) { return fmt::format("{:.3g}", per_get); }

std::string by_level_text(const PlanReport& plan) {
  std::map<std::uint32_t, LevelColumns> levels;
  for (const PlanReport::Table& table : plan.tables) levels[table.level].add(table);
  TextTable text({{"level"}, {"tables"}, {"columns in memory"}, {"asked in vain"}, {"reads planned"}, {"observed"}});
  for (const auto& [number, level] : levels) {
    text.add({std::to_string(number), count_text(level.tables), fmt::format("{} to {}", level.fewest, level.most),
              figure(level.asked), figure(level.planned), figure(level.observed)});
  }
  return text.text();
}

/// The tables that waste most reads.
std::string by_table_text(const PlanReport& plan) {
  constexpr std::size_t kMaxShown = 10;
  std::vector<const PlanReport::Table*> tables;
  for (const PlanReport::Table& table : plan.tables) tables.push_back(&table);
  std::ranges::stable_sort(tables, [](const auto* a, const auto* b) {
    return std::max(a->wasted_reads, a->observed_reads) > std::max(b->wasted_reads, b->observed_reads);
  });
  tables.resize(std::min(tables.size(), kMaxShown));
  TextTable text({{"table"}, {"level"}, {"columns in memory"}, {"asked in vain"}, {"reads planned"}, {"observed"}});
  for (const PlanReport::Table* table : tables) {
    text.add({std::to_string(table->table), std::to_string(table->level),
              fmt::format("{} of {}", table->columns, table->stored_columns), figure(table->asked_in_vain),
              figure(table->wasted_reads), figure(table->observed_reads)});
  }
  return text.text();
}

/// What other memory would save. The bars are logarithmic: each bit per key halves the reads.
std::string by_memory_text(const PlanReport& plan) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  const auto widen = [&](double reads) {
    if (reads > 0) least = std::min(least, reads);
    most = std::max(most, reads);
  };
  for (const PlanReport::Point& point : plan.other_memory) widen(point.wasted_reads);
  widen(plan.wasted_reads_observed);
  const auto bar = [&](double reads) {
    const double whole = std::log2(most / least) + 1;
    return bar_text(reads > 0 ? (std::log2(reads / least) + 1) / whole : 0, kBarWidth);
  };
  TextTable text({{"filter memory"}, {"reads per get"}, {"", Align::kLeft}});
  for (const PlanReport::Point& point : plan.other_memory) {
    text.add({bytes_text(point.filter_memory), figure(point.wasted_reads), bar(point.wasted_reads)});
  }
  text.add({"now, observed", figure(plan.wasted_reads_observed), bar(plan.wasted_reads_observed)});
  return text.text();
}

/// What lookups have asked, and what other memory would save.
std::string asked_text(const PlanReport& plan) {
  if (plan.tables.empty()) return "";
  return fmt::format(
      "\n{} of filters in memory, for what was asked since the store was opened:\n"
      "{:.3g} wasted reads per get, at best {:.3g}, observed {:.3g}\n\n{}\n{}\n{}",
      bytes_text(plan.filter_bytes_now), plan.wasted_reads_now, plan.wasted_reads_best, plan.wasted_reads_observed,
      by_level_text(plan), by_table_text(plan), by_memory_text(plan));
}

}  // namespace

std::string Stats::to_text() const {
  std::string text;
  if (levels.empty()) {
    text = "No tables yet.\n";
  } else {
    text = shape_text(*this) + "\n" + filters_text(*this);
  }
  text += "\n" + memory_text(memory) + cache_text(cache);
  text += labelled("journal", fmt::format("{}, {}; {} and {} since opened", count_of(journal.files, "file"),
                                          bytes_text(journal.bytes), count_of(journal.records, "record"),
                                          count_of(journal.syncs, "sync")));
  return text + work_text(*this) + latencies_text(latencies);
}

std::string Explanation::to_text() const {
  std::string text = labelled("key", shown_bytes(key, 64));
  text += labelled("found", !found  ? "no"
                            : value ? fmt::format("{} ({})", shown_bytes(*value, 40), bytes_text(value->size()))
                                    : "yes");
  constexpr std::size_t kMaxShown = 8;
  for (std::size_t i = 0; i < std::min(operands.size(), kMaxShown); ++i) {
    text += labelled(i == 0 ? "operands" : "", shown_bytes(operands[i], 40));
  }
  if (operands.size() > kMaxShown) text += labelled("", count_of(operands.size() - kMaxShown, "older one"));
  if (!fold_error.empty()) text += labelled("error", fold_error);
  text += labelled("cost", fmt::format("{}, {}, {}", count_of(reads, "block read", "blocks read"),
                                       count_of(metadata_reads, "metadata read"), duration_text(nanoseconds)));
  if (steps.empty()) return text;
  TextTable table({{"where", Align::kLeft},
                   {"level"},
                   {"run"},
                   {"table"},
                   {"filter", Align::kLeft},
                   {"block", Align::kLeft},
                   {"outcome", Align::kLeft}});
  for (const Step& step : steps) {
    table.add({step.where, number_or_nothing(step.level), number_or_nothing(step.run), number_or_nothing(step.table),
               filter_cell(step), step.block_source, is_outside(step) ? "outside its keys" : step.outcome});
  }
  return text + "\n" + table.text();
}

std::string PlanReport::to_text() const {
  if (runs.empty()) return "No runs yet: nothing to plan.\n";
  std::uint64_t keys = 0;
  std::uint64_t bytes = 0;
  TextTable table({{"level"}, {"run"}, {"keys"}, {"filter", Align::kLeft}, {"bits/key"}, {"size"}, {"rate"}});
  for (const Run& run : runs) {
    keys += run.keys;
    bytes += run.bytes;
    const bool has_filter = run.bits_per_key > 0;
    table.add({std::to_string(run.level), std::to_string(run.run), count_text(run.keys),
               run.kind.empty() ? "none" : run.kind, has_filter ? fmt::format("{:.2f}", run.bits_per_key) : "",
               has_filter ? bytes_text(run.bytes) : "", rate_text(run.rate)});
  }
  const double most = std::max({wasted_reads, wasted_reads_uniform, 1e-300});
  const auto line = [&](std::string_view label, double wasted) {
    return fmt::format("  {:<12} {} {:.4g}\n", label, bar_text(wasted / most, kBarWidth), wasted);
  };
  return fmt::format("{} for {} of {}, {} planned\n\n{}\nwasted reads per lookup of an absent key\n{}{}{}",
                     bytes_text(filter_memory), count_of(keys, "key"), count_of(runs.size(), "run"), bytes_text(bytes),
                     table.text(), line("planned", wasted_reads), line("uniform bits", wasted_reads_uniform),
                     asked_text(*this));
}

std::string VerifyReport::to_text() const {
  std::string text;
  for (const Problem& problem : problems) {
    text += fmt::format("{} at {}: {}\n", problem.file, problem.offset, problem.what);
  }
  text += fmt::format("{}: {}, {}, {} read", ok() ? "ok" : count_of(problems.size(), "problem"),
                      count_of(files, "table"), bytes_text(bytes), count_of(entries, "entry", "entries"));
  if (journal_entries > 0) {
    text += fmt::format("; {} in the journal, {}", count_of(journal_entries, "entry", "entries"),
                        bytes_text(journal_bytes));
  }
  return text + "\n";
}

std::string RepairReport::to_text() const {
  std::string text = is_dry_run ? "A dry run: nothing was changed.\n" : "";
  if (!manifest_lost.empty()) {
    text += fmt::format("The manifest cannot be used: {}\nThe order of the tables was derived from the tables.\n",
                        manifest_lost);
  }
  text += fmt::format("Kept {} with {}, and {} from journals.\n", count_of(tables_kept + tables_rewritten, "table"),
                      count_of(entries, "entry", "entries"), count_of(journal_entries, "entry", "entries"));
  if (tables_rewritten > 0) {
    text += fmt::format("Of these, {} had damage and {} rewritten.\n", count_of(tables_rewritten, "table"),
                        tables_rewritten == 1 ? "was" : "were");
  }
  if (tables_left_out > 0) {
    text += fmt::format("Omitted {} whose entries are in other tables.\n", count_of(tables_left_out, "table"));
  }
  text += lost.empty() ? "Nothing was lost.\n" : "Lost:\n";
  for (const Problem& problem : lost) {
    text += fmt::format("  {} at {}: {}\n", problem.file, problem.offset, problem.what);
  }
  if (!doubts.empty()) text += "Deleted keys may have returned:\n";
  for (const Doubt& doubt : doubts) {
    const std::string keyspace =
        doubt.keyspace == "default" ? "" : fmt::format("keyspace {}, ", shown_bytes(doubt.keyspace, 40));
    text +=
        fmt::format("  {}{} to {}: {}\n", keyspace, shown_bytes(doubt.from, 40), shown_bytes(doubt.to, 40), doubt.why);
  }
  return text;
}

}  // namespace tamis
