// What a store tells about itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/export.h"

namespace tamis {

/// Counts since the store was opened, and what there is now.
struct TAMIS_EXPORT Stats {
  struct Level {
    std::uint32_t level = 0;
    std::uint64_t runs = 0;
    std::uint64_t tables = 0;
    std::uint64_t bytes = 0;
    std::uint64_t entries = 0;
    std::uint64_t tombstones = 0;
    std::string filter_kind = {};  ///< "none", a kind's name, or "mixed".
    double bits_per_key = 0;
    std::uint64_t filter_bytes = 0;
    double designed_rate = 0;     ///< Of false positives, mean over the level's tables by keys.
    double observed_rate = 0;     ///< False positives per probe that was not a hit.
    std::uint64_t probes = 0;     ///< Lookups that reached a table of the level.
    std::uint64_t negatives = 0;  ///< Answered "no" by its filter.
    std::uint64_t false_positives = 0;
    std::uint64_t hits = 0;
    std::uint64_t blocks_read = 0;  ///< Data blocks fetched from a file by lookups.
  };
  struct Cache {
    std::string policy = {};
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;
    std::uint64_t blocks = 0;
    std::uint64_t bytes = 0;
    std::uint64_t capacity_bytes = 0;
  };
  struct Journal {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;           ///< Of those needed for recovery.
    std::uint64_t recycled_files = 0;  ///< Kept for the next journal.
    std::uint64_t records = 0;         ///< Written since open: commit groups.
    std::uint64_t syncs = 0;
  };
  struct Memory {
    std::uint64_t budget = 0;
    std::uint64_t used = 0;       ///< The sum of what follows.
    std::uint64_t memtables = 0;  ///< With those that were flushed and are still being read.
    std::uint64_t blocks = 0;
    std::uint64_t indexes = 0;
    std::uint64_t filters = 0;
    std::uint64_t journal = 0;                 ///< What is mapped of the journal being written.
    std::uint64_t indexes_not_resident = 0;    ///< Bytes that are read again from disk when they are needed.
    std::uint64_t filters_not_resident = 0;    ///< Bytes of filters that answer maybe meanwhile.
    std::uint64_t metadata_loads = 0;          ///< Indexes and filters read since open.
    std::uint64_t lookups_without_filter = 0;  ///< Table probes that a filter not in memory might have saved.
  };
  struct Stalls {
    std::uint64_t delayed_writes = 0;
    std::uint64_t delay_us = 0;
    std::string reason = {};  ///< Of the present or last delay; empty when there was none.
  };

  std::vector<Level> levels = {};
  Cache cache = {};
  Journal journal = {};
  Memory memory = {};
  Stalls stalls = {};
  std::uint64_t gets = 0;
  std::uint64_t gets_found = 0;
  std::uint64_t memtable_hits = 0;
  std::uint64_t writes = 0;  ///< Puts and removes.
  std::uint64_t sequence = 0;
  std::uint64_t snapshots = 0;
  std::uint64_t flushes = 0;
  std::uint64_t compactions = 0;
  std::uint64_t moves = 0;
  std::uint64_t bytes_written_by_users = 0;  ///< Keys and values.
  std::uint64_t bytes_written = 0;           ///< Journals, tables and manifest.
  std::uint64_t bytes_on_disk = 0;           ///< Of tables.
  double write_amplification = 0;            ///< bytes_written / bytes_written_by_users; 0 before the first write.
  double space_amplification = 0;            ///< Bytes of tables per byte of the last level's, at least 1.
  std::string background_error = {};         ///< Empty when all is well.

  /// Tables for people.
  [[nodiscard]] std::string to_text() const;
};

/// Every step of one lookup.
struct TAMIS_EXPORT Explanation {
  struct Step {
    std::string where = {};  ///< "memtable", "sealed memtable" or "table".
    std::optional<std::uint32_t> level = {};
    std::optional<std::uint64_t> run = {};
    std::optional<std::uint64_t> table = {};
    std::string filter_kind = {};  ///< Empty where there is no filter to ask.
    double bits_per_key = 0;
    /// "no", "maybe", "not in memory", or "not asked: the run index says no"; empty where there is none.
    std::string filter_verdict = {};
    std::string block_source = {};  ///< "cache" or "disk"; empty where no block was looked at.
    std::string outcome = {};       ///< "found", "deleted", "absent", "ruled out", "outside".
  };
  std::string key = {};
  bool found = false;
  std::optional<std::string> value = {};
  std::uint64_t reads = 0;           ///< Data blocks fetched from a file.
  std::uint64_t metadata_reads = 0;  ///< Indexes and filters.
  std::uint64_t nanoseconds = 0;
  std::vector<Step> steps = {};

  [[nodiscard]] std::string to_text() const;
};

/// The filter plan: how the filter memory is shared among the runs that there are.
struct TAMIS_EXPORT PlanReport {
  struct Run {
    std::uint32_t level = 0;
    std::uint64_t run = 0;
    std::uint64_t keys = 0;
    std::string kind = {};
    double bits_per_key = 0;
    std::uint64_t bytes = 0;
    double rate = 1;
  };
  std::vector<Run> runs = {};
  std::uint64_t filter_memory = 0;
  double wasted_reads = 0;          ///< Expected false positives per lookup of an absent key.
  double wasted_reads_uniform = 0;  ///< The same when all runs have the same bits per key.

  [[nodiscard]] std::string to_text() const;
};

/// Something wrong with a file of a store.
struct Problem {
  std::string file = {};
  std::uint64_t offset = 0;
  std::string what = {};
};

/// What DB::verify found.
struct VerifyReport {
  std::vector<Problem> problems = {};
  std::uint64_t files = 0;  ///< Tables, with their bytes and entries.
  std::uint64_t bytes = 0;
  std::uint64_t entries = 0;
  /// Of the journals, every record of which was checked when the store was opened: what is in no table yet.
  std::uint64_t journal_entries = 0;
  std::uint64_t journal_bytes = 0;  ///< Of the last one.

  [[nodiscard]] bool ok() const { return problems.empty(); }
};

/// What DB::repair found and did, or would do.
struct TAMIS_EXPORT RepairReport {
  /// A range of keys in which a key that was deleted may be back.
  struct Doubt {
    std::string from = {};
    std::string to = {};  ///< Inclusive.
    std::string why = {};
  };
  std::string manifest_lost = {};  ///< Why the manifest could not be used; empty: it was.
  std::vector<Problem> lost = {};
  std::vector<Doubt> doubts = {};
  std::uint64_t tables_kept = 0;       ///< As they are.
  std::uint64_t tables_rewritten = 0;  ///< Damaged; what can be read of them is kept.
  std::uint64_t tables_left_out = 0;   ///< Their entries are in others.
  std::uint64_t entries = 0;
  std::uint64_t journal_entries = 0;  ///< Found in journals, kept.
  bool is_dry_run = false;

  [[nodiscard]] std::string to_text() const;
};

}  // namespace tamis
