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
  /// One level of the tree.
  struct Level {
    std::uint32_t level = 0;            ///< Its number; 0 is the newest.
    std::uint64_t runs = 0;             ///< Sorted runs in it.
    std::uint64_t tables = 0;           ///< Tables in it.
    std::uint64_t bytes = 0;            ///< Size of its tables.
    std::uint64_t entries = 0;          ///< Entries in it.
    std::uint64_t tombstones = 0;       ///< Those that are deletes.
    std::string filter_kind = {};       ///< "none", a kind's name, or "mixed".
    double bits_per_key = 0;            ///< Filter bits per key.
    std::uint64_t filter_bytes = 0;     ///< Size of its filters.
    double designed_rate = 0;           ///< Of false positives, mean over the level's tables by keys.
    double observed_rate = 0;           ///< False positives per probe that was not a hit.
    std::uint64_t probes = 0;           ///< Lookups that reached a table of the level.
    std::uint64_t negatives = 0;        ///< Answered "no" by its filter.
    std::uint64_t false_positives = 0;  ///< Answered "maybe" by its filter for a key that is not there.
    std::uint64_t hits = 0;             ///< Lookups that found the key here.
    std::uint64_t blocks_read = 0;      ///< Data blocks fetched from a file by lookups.
  };
  /// The block cache.
  struct Cache {
    std::string policy = {};           ///< The eviction policy.
    std::uint64_t hits = 0;            ///< Blocks found in the cache.
    std::uint64_t misses = 0;          ///< Blocks that had to be read.
    std::uint64_t evictions = 0;       ///< Blocks dropped to make room.
    std::uint64_t blocks = 0;          ///< Blocks in the cache now.
    std::uint64_t bytes = 0;           ///< Their size.
    std::uint64_t capacity_bytes = 0;  ///< The size they may have.
  };
  /// The write-ahead journal.
  struct Journal {
    std::uint64_t files = 0;           ///< Journals needed for recovery.
    std::uint64_t bytes = 0;           ///< Of those needed for recovery.
    std::uint64_t recycled_files = 0;  ///< Kept for the next journal.
    std::uint64_t records = 0;         ///< Written since open: commit groups.
    std::uint64_t syncs = 0;           ///< Times a journal was synced.
  };
  /// What is in memory, in bytes.
  struct Memory {
    std::uint64_t budget = 0;                  ///< Options::memory_bytes.
    std::uint64_t used = 0;                    ///< The sum of what follows.
    std::uint64_t memtables = 0;               ///< Memtables, and memory kept for the next one.
    std::uint64_t blocks = 0;                  ///< Cached blocks.
    std::uint64_t indexes = 0;                 ///< Indexes of tables.
    std::uint64_t filters = 0;                 ///< Filters of tables, and the run index.
    std::uint64_t journal = 0;                 ///< What is mapped of the journal being written.
    std::uint64_t indexes_not_resident = 0;    ///< Bytes that are read again from disk when they are needed.
    std::uint64_t filters_not_resident = 0;    ///< Bytes of filters that answer maybe meanwhile.
    std::uint64_t metadata_loads = 0;          ///< Indexes and filters read since open.
    std::uint64_t lookups_without_filter = 0;  ///< Table probes that a filter not in memory might have saved.
  };
  /// Writes slowed down because compaction is behind.
  struct Stalls {
    std::uint64_t delayed_writes = 0;  ///< Writes that were delayed.
    std::uint64_t delay_us = 0;        ///< By how long altogether, in microseconds.
    std::string reason = {};           ///< Of the present or last delay; empty when there was none.
  };

  std::vector<Level> levels = {};            ///< One element per level, level 0 first.
  Cache cache = {};                          ///< The block cache.
  Journal journal = {};                      ///< The journal.
  Memory memory = {};                        ///< What is in memory.
  Stalls stalls = {};                        ///< Delayed writes.
  std::uint64_t gets = 0;                    ///< Keys looked up.
  std::uint64_t gets_found = 0;              ///< Those that were present.
  std::uint64_t memtable_hits = 0;           ///< Those that were found in a memtable.
  std::uint64_t writes = 0;                  ///< Puts and removes.
  std::uint64_t sequence = 0;                ///< The sequence number of the newest write.
  std::uint64_t snapshots = 0;               ///< Live snapshots.
  std::uint64_t flushes = 0;                 ///< Memtables written to tables.
  std::uint64_t compactions = 0;             ///< Compactions that merged tables.
  std::uint64_t moves = 0;                   ///< Compactions that only moved tables.
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
  /// One place that was looked at.
  struct Step {
    std::string where = {};  ///< "memtable", "sealed memtable", "table", or "run" where none of its tables was asked.
    std::optional<std::uint32_t> level = {};  ///< The table's level.
    std::optional<std::uint64_t> run = {};    ///< The number of its run.
    std::optional<std::uint64_t> table = {};  ///< The number of its file.
    std::string filter_kind = {};             ///< Empty where there is no filter to ask.
    double bits_per_key = 0;                  ///< Bits per key of its filter.
    /// "no", "maybe", "not in memory", or "not asked: the run index says no"; empty where there is none.
    std::string filter_verdict = {};
    std::string block_source = {};  ///< "cache" or "disk"; empty where no block was looked at.
    /// "found", "deleted", "absent", "ruled out" by a filter, or "outside" the keys of the table or run.
    std::string outcome = {};
  };
  std::string key = {};                   ///< The key that was looked up.
  bool found = false;                     ///< Whether it is present.
  std::optional<std::string> value = {};  ///< Its value, if present.
  std::uint64_t reads = 0;                ///< Data blocks fetched from a file.
  std::uint64_t metadata_reads = 0;       ///< Indexes and filters.
  std::uint64_t nanoseconds = 0;          ///< How long the lookup took.
  std::vector<Step> steps = {};           ///< What was looked at, in order.

  /// A table for people.
  [[nodiscard]] std::string to_text() const;
};

/// The filter plan: how the filter memory is shared among the runs that there are.
struct TAMIS_EXPORT PlanReport {
  /// One sorted run and the filter planned for it.
  struct Run {
    std::uint32_t level = 0;  ///< Its level.
    std::uint64_t run = 0;    ///< Its number.
    std::uint64_t keys = 0;   ///< How many keys it holds.
    std::string kind = {};    ///< The kind of filter; "none" for none.
    double bits_per_key = 0;  ///< The filter's bits per key.
    std::uint64_t bytes = 0;  ///< The filter's size.
    double rate = 1;          ///< The filter's false-positive rate; 1 without one.
  };
  std::vector<Run> runs = {};       ///< One element for each run.
  std::uint64_t filter_memory = 0;  ///< The bytes that were shared out.
  double wasted_reads = 0;          ///< Expected false positives per lookup of an absent key.
  double wasted_reads_uniform = 0;  ///< The same when all runs have the same bits per key.

  /// A table for people.
  [[nodiscard]] std::string to_text() const;
};

/// Something wrong with a file of a store.
struct Problem {
  std::string file = {};     ///< The file's name.
  std::uint64_t offset = 0;  ///< Where in the file.
  std::string what = {};     ///< A description for people.
};

/// What DB::verify found.
struct VerifyReport {
  std::vector<Problem> problems = {};  ///< What is wrong.
  std::uint64_t files = 0;             ///< Tables, with their bytes and entries.
  std::uint64_t bytes = 0;             ///< Bytes of those tables.
  std::uint64_t entries = 0;           ///< Entries of those tables.
  /// Of the journals, every record of which was checked when the store was opened: what is in no table yet.
  std::uint64_t journal_entries = 0;
  std::uint64_t journal_bytes = 0;  ///< Of the last one.

  /// Whether nothing is wrong.
  [[nodiscard]] bool ok() const { return problems.empty(); }
};

/// What DB::repair found and did, or would do.
struct TAMIS_EXPORT RepairReport {
  /// A range of keys in which a key that was deleted may be back.
  struct Doubt {
    std::string from = {};  ///< The first key.
    std::string to = {};    ///< Inclusive.
    std::string why = {};   ///< The reason, for people.
  };
  std::string manifest_lost = {};      ///< Why the manifest could not be used; empty: it was.
  std::vector<Problem> lost = {};      ///< What could not be read, and is gone.
  std::vector<Doubt> doubts = {};      ///< Where deleted keys may be back.
  std::uint64_t tables_kept = 0;       ///< As they are.
  std::uint64_t tables_rewritten = 0;  ///< Damaged; what can be read of them is kept.
  std::uint64_t tables_left_out = 0;   ///< Their entries are in others.
  std::uint64_t entries = 0;           ///< Entries in the tables that are kept or rewritten.
  std::uint64_t journal_entries = 0;   ///< Found in journals, kept.
  bool is_dry_run = false;             ///< Whether nothing was changed.

  /// The report for people.
  [[nodiscard]] std::string to_text() const;
};

}  // namespace tamis
