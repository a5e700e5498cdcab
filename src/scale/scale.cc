// Sums over the runs of a hypothetical store (scaled_store.h), times measured constants. docs/SCALE.md has the
// formulas.
#include "tamis/scale.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/try.h"
#include "engine/memory_shares.h"
#include "entry/changes.h"
#include "entry/entry.h"
#include "journal/journal_format.h"
#include "scale/scaled_store.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMaxPlannedValueBytes = std::uint64_t{1} << 20;  // A sample holds several in memory.
constexpr std::uint64_t kMemoryAllowance = std::uint64_t{32} << 20;      // Beyond memory_bytes: docs/OPTIONS.md.
constexpr double kMaxWaitingRuns = 12;  // Level 0 runs at which writes begin to slow down: pacing.h and leveled.cc.
constexpr double kMuchOfAStore = 0.01;
constexpr double kSecondsPerHour = 3600;
constexpr double kHoursPerDay = 24;

std::uint64_t whole(double value) { return static_cast<std::uint64_t>(std::llround(std::max(0.0, value))); }

Status check_question(const ScaleQuestion& question) {
  TAMIS_TRY_STATUS(check_options(question.options));
  if (question.store_bytes == 0) return Status::invalid_argument("a store of 0 bytes: there is nothing to plan");
  if (question.key_bytes == 0 || question.key_bytes > kMaxKeyBytes) {
    return Status::invalid_argument(
        fmt::format("keys of {} bytes; expected 1 to {}", question.key_bytes, kMaxKeyBytes));
  }
  if (question.value_bytes > kMaxPlannedValueBytes) {
    return Status::invalid_argument(
        fmt::format("values of {} bytes; expected at most {}", question.value_bytes, kMaxPlannedValueBytes));
  }
  if (question.disk_bytes_per_second == 0) {
    return Status::invalid_argument("a disk of 0 bytes a second: nothing would ever be written");
  }
  if (question.disks == 0) return Status::invalid_argument("no disk: nothing would ever be written");
  if (question.compaction_threads == 0) {
    return Status::invalid_argument("no thread that compacts: nothing would ever be merged");
  }
  return {};
}

void describe_levels(const ScaledStore& store, ScalePlan& plan) {
  for (const ScaledRun& run : store.runs) {
    const std::string kind = run.filter_kind.empty() ? "none" : run.filter_kind;
    if (plan.levels.empty() || plan.levels.back().level != run.level) {
      plan.levels.push_back({.level = run.level, .filter_kind = kind});
    }
    ScalePlan::Level& level = plan.levels.back();
    ++level.runs;
    level.tables += whole(run.tables);
    level.keys += whole(run.keys);
    level.bytes += whole(run.bytes);
    level.filter_bytes += whole(run.filter_bytes);
    level.wasted_reads += run.rate;
    if (level.filter_kind != kind) level.filter_kind = "mixed";
  }
  for (ScalePlan::Level& level : plan.levels) {
    if (level.keys > 0) {
      level.bits_per_key = 8 * static_cast<double>(level.filter_bytes) / static_cast<double>(level.keys);
    }
    plan.runs += level.runs;
    plan.tables += level.tables;
    plan.bytes_on_disk += level.bytes;
    plan.memory.filter_bytes += level.filter_bytes;
  }
  plan.entries = store.entries;
  plan.entries_per_flush = store.entries_per_flush;
  plan.manifest_bytes = plan.tables * store.manifest_bytes_per_table;
  plan.simulated_flushes = store.growth.simulated;
  plan.levels_beyond_simulated = store.growth.levels_beyond;
}

void plan_memory(const ScaleQuestion& question, const ScaledStore& store, ScalePlan& plan) {
  const MemoryShares shares =
      share_memory(question.options, {.filter_bytes = plan.memory.filter_bytes,
                                      .usual_filter_bytes = plan.memory.filter_bytes,
                                      .index_bytes = whole(store.sum(&ScaledRun::index_wanted))});
  const bool all_fit = shares.indexes == shares.wanted_indexes;  // Otherwise there are no block slots.
  const double slots = all_fit ? store.sum(&ScaledRun::blocks) * sizeof(BlockSlot) : 0;
  plan.memory.index_bytes = std::min(shares.wanted_indexes, whole(store.sum(&ScaledRun::index_memory) + slots));
  plan.memory.memtable_share = 2 * shares.memtable;
  plan.memory.journal_share = shares.journal;
  plan.memory.transaction_share = shares.window;
  plan.memory.filter_share = shares.filters;
  plan.memory.index_share = shares.indexes;
  plan.memory.block_share = shares.blocks;
  plan.memory.beyond_budget = whole(static_cast<double>(plan.tables) * question.constants.memory_bytes_per_table);
}

double part(std::uint64_t share, std::uint64_t whole_of_it) {
  return whole_of_it == 0 ? 1 : std::min(1.0, static_cast<double>(share) / static_cast<double>(whole_of_it));
}

/// A run probed in vain costs as much as one that has the key: a block read unless the block is cached, and an index
/// read unless the index is in memory. A filter that is not in memory answers maybe.
void plan_reads(const ScaledStore& store, ScalePlan& plan) {
  const double filters_there = part(plan.memory.filter_share, plan.memory.filter_bytes);
  const double indexes_there = part(plan.memory.index_share, plan.memory.index_bytes);
  const double blocks_there = part(plan.memory.block_share, plan.bytes_on_disk - plan.memory.filter_bytes);
  const double reads_per_run = (1 - blocks_there) + (1 - indexes_there);
  double wasted_before = 0;  // In newer runs.
  double wasted_by_present = 0;
  double wasted_with_what_is_there = 0;
  for (const ScaledRun& run : store.runs) {
    wasted_by_present += run.keys / static_cast<double>(store.entries) * wasted_before;
    wasted_before += run.rate * filters_there + (1 - filters_there);
    plan.reads.wasted += run.rate;
  }
  wasted_with_what_is_there = wasted_before;
  plan.reads.wasted_uniform = store.wasted_reads_uniform;
  plan.reads.per_absent = wasted_with_what_is_there * reads_per_run;
  plan.reads.per_present = (1 + wasted_by_present) * reads_per_run;
}

/// Per byte of keys and values, if every write is its own record.
double journal_amplification(const ScaleQuestion& question) {
  const std::string key(question.key_bytes, 'k');
  const std::string value(question.value_bytes, 'v');
  const Changes one(kDefaultKeyspace, EntryKind::kPut, key, value);
  return static_cast<double>(kRecordHeaderBytes + one.byte_size()) / static_cast<double>(key.size() + value.size());
}

/// For this many bytes of keys and values, each rewritten `times`. A thread computes or waits for a disk; together they
/// are no faster than the disks.
double compaction_hours(const ScaleQuestion& question, const ScalePlan& plan, double user_bytes, double times) {
  const double entries = user_bytes / static_cast<double>(question.key_bytes + question.value_bytes) * times;
  const double stored = static_cast<double>(plan.bytes_on_disk) / static_cast<double>(plan.entries);
  const double processor =
      (entries * question.constants.merge_ns_per_entry + user_bytes * times * question.constants.merge_ns_per_byte) /
      1e9;
  const double disk = 2 * entries * stored / static_cast<double>(question.disk_bytes_per_second);  // Read and written.
  return std::max((processor + disk) / question.compaction_threads, disk / question.disks) / kSecondsPerHour;
}

/// The same for flushing them, by one thread.
double flush_hours(const ScaleQuestion& question, const ScalePlan& plan, double user_bytes) {
  const double entries = user_bytes / static_cast<double>(question.key_bytes + question.value_bytes);
  const double stored = static_cast<double>(plan.bytes_on_disk) / static_cast<double>(plan.entries);
  const double processor =
      (entries * question.constants.flush_ns_per_entry + user_bytes * question.constants.flush_ns_per_byte) / 1e9;
  return (processor + entries * stored / static_cast<double>(question.disk_bytes_per_second)) / kSecondsPerHour;
}

void plan_writes(const ScaleQuestion& question, const ScaledStore& store, ScalePlan& plan) {
  const auto entry = static_cast<double>(question.key_bytes + question.value_bytes);
  const double stored = static_cast<double>(plan.bytes_on_disk) / static_cast<double>(plan.entries);
  const double journal = journal_amplification(question);
  plan.writing.amplification = journal + store.growth.late_amplification * stored / entry;
  plan.writing.fill_amplification = journal + store.growth.write_amplification * stored / entry;

  const auto load = static_cast<double>(question.load_bytes_per_day);
  const double times = store.growth.late_amplification - 1;  // A flush is not a compaction.
  plan.writing.compaction_hours_per_day = compaction_hours(question, plan, load, times);
  const double hours_per_gigabyte =
      std::max(compaction_hours(question, plan, 1e9, times), flush_hours(question, plan, 1e9));
  plan.writing.max_load_bytes_per_day = hours_per_gigabyte > 0 ? whole(1e9 * kHoursPerDay / hours_per_gigabyte) : 0;
  plan.writing.fill_hours =
      compaction_hours(question, plan, static_cast<double>(question.store_bytes), store.growth.write_amplification - 1);
  plan.writing.largest_compaction_bytes = whole(store.growth.largest_merge_bytes);
  plan.writing.largest_compaction_hours =
      compaction_hours(question, plan, store.growth.largest_merge_bytes / stored * entry, 1);
  plan.writing.flush_hours_per_day = flush_hours(question, plan, load);
}

void plan_opening(const ScaleQuestion& question, ScalePlan& plan) {
  const ScaleConstants& constants = question.constants;
  const auto disk = static_cast<double>(question.disk_bytes_per_second);
  const auto in_journal = static_cast<double>(plan.entries_per_flush);
  const double entry = static_cast<double>(question.key_bytes + question.value_bytes);
  const double replay = in_journal * (constants.replay_ns_per_entry / 1e9 + entry / disk);
  const auto most_left = static_cast<double>(kMaxLeftInJournal) / static_cast<double>(sealing_memory(question.options));
  const double flush =
      in_journal * ((constants.flush_ns_per_entry + entry * constants.flush_ns_per_byte) / 1e9 + entry / disk);
  const double tables = static_cast<double>(plan.tables) * constants.open_ns_per_table / 1e9 +
                        4 * static_cast<double>(plan.manifest_bytes) / disk;
  plan.opening.after_close_seconds = tables + std::min(most_left, 1.0) * replay;
  plan.opening.after_crash_seconds = tables + 2 * (replay + flush);
  const auto metadata =
      static_cast<double>(std::min(plan.memory.index_bytes, plan.memory.index_share) + plan.memory.filter_share);
  plan.opening.warm_seconds = metadata * (constants.load_ns_per_byte / 1e9 + 1 / disk);
}

std::string gigabytes(double bytes) { return fmt::format("{:.{}f} GB", bytes / 1e9, bytes < 1e10 ? 1 : 0); }

void warn_of_compaction(const ScaleQuestion& question, const ScaledStore& store, ScalePlan& plan) {
  if (plan.writing.compaction_hours_per_day > kHoursPerDay) {
    plan.warnings.push_back(fmt::format(
        "a day of this load needs {:.0f} hours of compaction: it cannot keep up, and writes slow down to {} a day",
        plan.writing.compaction_hours_per_day, gigabytes(static_cast<double>(plan.writing.max_load_bytes_per_day))));
  }
  const double entries_per_hour = static_cast<double>(question.load_bytes_per_day) / kHoursPerDay /
                                  static_cast<double>(question.key_bytes + question.value_bytes);
  const double waiting =
      plan.writing.largest_compaction_hours * entries_per_hour / static_cast<double>(plan.entries_per_flush);
  if (waiting > kMaxWaitingRuns) {
    plan.warnings.push_back(
        fmt::format("the largest compaction takes {:.2g} hours and {} more on disk; {:.0f} "
                    "memtables are flushed meanwhile and nothing else is merged, so writes slow down",
                    plan.writing.largest_compaction_hours,
                    gigabytes(static_cast<double>(plan.writing.largest_compaction_bytes)), waiting));
  }
  const double replaced = store.sum(&ScaledRun::replaced_bytes);
  if (replaced > kMuchOfAStore * static_cast<double>(plan.bytes_on_disk)) {
    plan.warnings.push_back(
        fmt::format("{} on disk are lists of replaced tables, in every table of a run that was written at once",
                    gigabytes(replaced)));
  }
}

void warn_of_memory(const ScaleQuestion& question, ScalePlan& plan) {
  const std::uint64_t for_filters = question.options.filter_memory.value_or(question.options.memory_bytes / 4);
  if (for_filters < plan.entries / 8 * 9 && question.options.filter != "none") {
    plan.warnings.push_back(fmt::format(
        "filters have {:.2g} bits per key; the recommended 10 take {:.3g} GiB: raise memory_bytes to four times "
        "that, or filter_memory to that",
        8 * static_cast<double>(plan.memory.filter_bytes) / static_cast<double>(plan.entries),
        1.25 * static_cast<double>(plan.entries) / (1 << 30)));
  }
  if (plan.memory.index_share < plan.memory.index_bytes) {
    plan.warnings.push_back(
        fmt::format("{:.0f} % of the indexes do not fit in memory: a lookup that needs one reads a part of it, too",
                    100 * (1 - part(plan.memory.index_share, plan.memory.index_bytes))));
  }
  if (plan.memory.beyond_budget > kMemoryAllowance) {
    plan.warnings.push_back(
        fmt::format("the metadata of {} tables takes {} MiB beyond memory_bytes, where 32 MiB are "
                    "promised",
                    plan.tables, plan.memory.beyond_budget >> 20));
  }
}

void warn_of_values_apart(const ScaleQuestion& question, ScalePlan& plan) {
  const std::uint64_t apart = question.options.value_bytes_apart;
  if (apart == 0 || question.value_bytes < apart) return;
  plan.warnings.push_back(fmt::format(
      "values of {} bytes go to value files, because value_bytes_apart is {}; this plan has them in tables, "
      "where compaction writes them more often",
      question.value_bytes, apart));
}

}  // namespace

Result<ScalePlan> plan_scale(const ScaleQuestion& question) {
  TAMIS_TRY_STATUS(check_question(question));
  TAMIS_TRY(const ScaledStore store, scale_store(question));
  ScalePlan plan;
  describe_levels(store, plan);
  plan_memory(question, store, plan);
  plan_reads(store, plan);
  plan_writes(question, store, plan);
  plan_opening(question, plan);
  warn_of_compaction(question, store, plan);
  warn_of_memory(question, plan);
  warn_of_values_apart(question, plan);
  return plan;
}

}  // namespace tamis
