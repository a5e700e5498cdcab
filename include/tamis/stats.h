// Statistics and reports of a store.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tamis/export.h"

namespace tamis {

/// Counters since open, and current state.
struct TAMIS_EXPORT Stats {
  /// One level of the tree.
  struct Level {
    std::uint32_t level = 0;            ///< Its number; 0 is the newest.
    std::uint64_t runs = 0;             ///< Sorted runs in it.
    std::uint64_t tables = 0;           ///< Tables in it.
    std::uint64_t bytes = 0;            ///< Size of its tables.
    std::uint64_t entries = 0;          ///< Entries in it.
    std::uint64_t tombstones = 0;       ///< Tombstones in it.
    std::uint64_t merge_operands = 0;   ///< Merge operands in it, not folded onto a value yet.
    std::string filter_kind = {};       ///< "none", a kind's name, or "mixed".
    double bits_per_key = 0;            ///< Filter bits per key.
    std::uint64_t filter_bytes = 0;     ///< Size of its filters.
    double designed_rate = 0;           ///< The planned false-positive rate: key-weighted mean of its tables.
    double observed_rate = 0;           ///< False positives per probe that was not a hit.
    std::uint64_t probes = 0;           ///< Lookups that reached a table of the level.
    std::uint64_t negatives = 0;        ///< Probes its filters answered with "no".
    std::uint64_t false_positives = 0;  ///< Probes its filters answered with "maybe" for an absent key.
    std::uint64_t hits = 0;             ///< Lookups that found the key in it.
    std::uint64_t blocks_read = 0;      ///< Data blocks that lookups read from files.
  };
  /// The block cache.
  struct Cache {
    std::string policy = {};           ///< The eviction policy.
    std::uint64_t hits = 0;            ///< Blocks found in the cache.
    std::uint64_t misses = 0;          ///< Blocks read from files.
    std::uint64_t index_hits = 0;      ///< Of the hits, those of parts of indexes; the others are data blocks.
    std::uint64_t index_misses = 0;    ///< Of the misses, the same.
    std::uint64_t evictions = 0;       ///< Blocks evicted.
    std::uint64_t blocks = 0;          ///< Blocks in the cache now.
    std::uint64_t bytes = 0;           ///< Their size in bytes.
    std::uint64_t capacity_bytes = 0;  ///< Their max size in bytes.
  };
  /// The write-ahead journal.
  struct Journal {
    std::uint64_t files = 0;           ///< Journals needed for recovery.
    std::uint64_t bytes = 0;           ///< Size of those journals.
    std::uint64_t recycled_files = 0;  ///< Files kept for reuse.
    std::uint64_t records = 0;         ///< Records written since open: commit groups.
    std::uint64_t syncs = 0;           ///< Journal syncs.
  };
  /// Memory use in bytes.
  struct Memory {
    std::uint64_t budget = 0;        ///< Options::memory_bytes.
    std::uint64_t used = 0;          ///< The sum of the following.
    std::uint64_t memtables = 0;     ///< Including flushed ones still being read, and memory kept for the next one.
    std::uint64_t blocks = 0;        ///< Cached blocks.
    std::uint64_t indexes = 0;       ///< Indexes of tables.
    std::uint64_t filters = 0;       ///< Filters of tables, and the run index.
    std::uint64_t journal = 0;       ///< The mapped part of the active journal.
    std::uint64_t transactions = 0;  ///< Recent commits, kept while transactions are live.
    std::uint64_t indexes_not_resident = 0;    ///< Bytes of indexes that are read from disk when needed.
    std::uint64_t filters_not_resident = 0;    ///< Bytes of filters that answer maybe meanwhile.
    std::uint64_t metadata_loads = 0;          ///< Indexes and filters loaded since open.
    std::uint64_t filter_bytes_loaded = 0;     ///< Bytes of filters loaded since open.
    std::uint64_t filter_plans = 0;            ///< How often filters got other shares because lookups changed.
    std::uint64_t lookups_without_filter = 0;  ///< Table probes that a non-resident filter might have avoided.
  };
  /// Values that are apart from their tables (Options::value_bytes_apart).
  struct Values {
    std::uint64_t files = 0;       ///< Value files.
    std::uint64_t bytes = 0;       ///< Their size.
    std::uint64_t values = 0;      ///< Values that tables point to.
    std::uint64_t live_bytes = 0;  ///< Their size; the rest is garbage, and goes when a file is rewritten.
  };
  /// Writes slowed down because compaction is behind.
  struct Stalls {
    std::uint64_t delayed_writes = 0;  ///< Writes that were delayed.
    std::uint64_t delay_us = 0;        ///< Total delay in microseconds.
    std::uint64_t longest_us = 0;      ///< The longest of them.
    std::string reason = {};           ///< Reason for the current or last delay; empty if none.
  };
  /// Entries that expire.
  struct Expiry {
    std::uint64_t entries = 0;  ///< In tables, whether due or not.
    /// Of those, how many are due: hidden, and not yet dropped. Exact for tables that have expired whole, otherwise an
    /// estimate from their first and last due time.
    std::uint64_t expired = 0;
    std::uint64_t tables_dropped = 0;  ///< Tables dropped unread because everything in them had expired.
  };
  /// How long calls of one kind took. Quantiles are within 4 % of the exact ones.
  struct Latency {
    static constexpr std::size_t kBuckets = 32;  ///< Each twice as long as the one before.
    /// A bucket has the calls of at most so many nanoseconds that are in no bucket before it: 256 ns, and twice as many
    /// with each bucket. The last one, from 275 s on, has no bound.
    static constexpr std::uint64_t bound_ns(std::size_t bucket) { return std::uint64_t{256} << bucket; }

    std::uint64_t count = 0;                           ///< Calls that were timed.
    std::uint64_t sum_ns = 0;                          ///< Their total in nanoseconds.
    std::uint64_t p50_ns = 0;                          ///< Half of the calls took at most so long.
    std::uint64_t p90_ns = 0;                          ///< The same for 90 %.
    std::uint64_t p99_ns = 0;                          ///< The same for 99 %.
    std::uint64_t p999_ns = 0;                         ///< The same for 99.9 %.
    std::uint64_t max_ns = 0;                          ///< The longest.
    std::array<std::uint64_t, kBuckets> buckets = {};  ///< Calls by duration; their sum is `count`.
  };
  /// How long calls and background work took.
  struct Latencies {
    Latency get = {};         ///< Gets of one key. One in 128 is timed, at random.
    Latency put = {};         ///< Puts, removes, batches and commits, with all that they wait for.
    Latency scan = {};        ///< Scans up to their first entry.
    Latency sync = {};        ///< Journal syncs that writes wait for.
    Latency flush = {};       ///< Flushes; memtables that were sealed together are one.
    Latency compaction = {};  ///< Compactions that merged tables.
  };
  /// Transactions, and the recent commits that they are checked against.
  struct Transactions {
    std::uint64_t live = 0;          ///< Begun and not ended.
    std::uint64_t committed = 0;     ///< Committed with writes.
    std::uint64_t conflicts = 0;     ///< Commits refused with kConflict.
    std::uint64_t window_bytes = 0;  ///< Memory of the recent commits.
  };

  std::vector<Level> levels = {};            ///< One element per level, level 0 first.
  Cache cache = {};                          ///< The block cache.
  Journal journal = {};                      ///< The journal.
  Memory memory = {};                        ///< Memory use.
  Values values = {};                        ///< Value files.
  Stalls stalls = {};                        ///< Delayed writes.
  Transactions transactions = {};            ///< Transactions.
  Latencies latencies = {};                  ///< How long calls took.
  Expiry expiry = {};                        ///< Entries that expire.
  std::uint64_t gets = 0;                    ///< Keys looked up.
  std::uint64_t gets_found = 0;              ///< Keys found.
  std::uint64_t memtable_hits = 0;           ///< Keys found in a memtable.
  std::uint64_t writes = 0;                  ///< Number of puts and removes.
  std::uint64_t sequence = 0;                ///< The sequence number of the newest write.
  std::uint64_t snapshots = 0;               ///< Live snapshots.
  std::uint64_t flushes = 0;                 ///< Memtables written to tables.
  std::uint64_t compactions = 0;             ///< Compactions that merged tables.
  std::uint64_t moves = 0;                   ///< Compactions that only moved tables.
  std::uint64_t compaction_backlog = 0;      ///< Bytes of tables that compaction still has to move to another level.
  std::uint64_t bytes_written_by_users = 0;  ///< Bytes of keys and values.
  std::uint64_t bytes_written = 0;           ///< Bytes of journals, tables, value files and manifest.
  std::uint64_t bytes_on_disk = 0;           ///< Bytes of tables and value files.
  double write_amplification = 0;            ///< bytes_written / bytes_written_by_users; 0 before the first write.
  /// Bytes of tables per byte of live entries, at least 1; 0 without tables. An estimate: it infers the share of
  /// overwritten entries in a run from the share that merges have dropped so far.
  double space_amplification = 0;
  std::string background_error = {};  ///< Empty if there is none.

  /// Human-readable tables.
  [[nodiscard]] std::string to_text() const;
  /// A JSON object, as all of the reports here.
  [[nodiscard]] std::string to_json() const;
};

/// The counters that the writer of a followed store published last.
struct WriterStats {
  std::uint64_t process_id = 0;        ///< The writer's process.
  std::chrono::milliseconds age = {};  ///< How long ago they were published, by the machine's clock.
  /// The writer's counters since it opened the store, its memory and its transactions. What the files tell (levels,
  /// expiring entries, values apart, bytes on disk, space amplification) is the follower's own.
  Stats stats = {};
};

/// Every step of one lookup.
struct TAMIS_EXPORT Explanation {
  /// One place that the lookup visited.
  struct Step {
    /// "memtable", "sealed memtable", "table", "value file", or "run" if none of its tables was probed.
    std::string where = {};
    std::optional<std::uint32_t> level = {};           ///< The table's level.
    std::optional<std::uint64_t> run = {};             ///< Its run number.
    std::optional<std::uint64_t> table = {};           ///< Its file number.
    std::string filter_kind = {};                      ///< Empty if there is no filter to probe.
    double bits_per_key = 0;                           ///< Bits per key of its filter, as far as it is in memory.
    std::optional<std::uint64_t> columns = {};         ///< Of a "sliced" filter: the columns in memory that were asked.
    std::optional<std::uint64_t> stored_columns = {};  ///< Of a "sliced" filter: those in the file.
    /// "no", "maybe", "not in memory", or "not asked: the run index says no"; empty if there is none.
    std::string filter_verdict = {};
    std::string block_source = {};  ///< "cache" or "disk"; empty if no block was searched.
    /// "found", "deleted", "expired", "merge operand", "absent", "ruled out" by a filter, or "outside" the key range of
    /// the table or run.
    std::string outcome = {};
    std::uint64_t reads = 0;           ///< Data blocks and values read from files.
    std::uint64_t metadata_reads = 0;  ///< Indexes and filters read from files.
    std::uint64_t nanoseconds = 0;     ///< Time since the step before, or since the lookup began.
  };
  std::string key = {};                    ///< The key that was looked up.
  bool found = false;                      ///< Whether the key is present.
  std::optional<std::string> value = {};   ///< Its value, if present.
  std::vector<std::string> operands = {};  ///< The merge operands that the value is the fold of, newest first.
  std::string fold_error = {};       ///< Why they could not be folded: then there is no value. Empty if they were.
  std::uint64_t reads = 0;           ///< Data blocks and values read from files.
  std::uint64_t metadata_reads = 0;  ///< Indexes and filters read from files.
  std::uint64_t nanoseconds = 0;     ///< Duration of the lookup.
  std::vector<Step> steps = {};      ///< The steps, in order.

  /// A human-readable table.
  [[nodiscard]] std::string to_text() const;
  /// A JSON object. Bytes that are not UTF-8, or all with `bytes_in_hex`, are hexadecimal, under names that end in
  /// _hex.
  [[nodiscard]] std::string to_json(bool bytes_in_hex = false) const;
};

/// The filter plan: how the runs share the filter memory.
struct TAMIS_EXPORT PlanReport {
  /// One sorted run and the filter planned for it.
  struct Run {
    std::uint32_t level = 0;  ///< Its level.
    std::uint64_t run = 0;    ///< Its number.
    std::uint64_t keys = 0;   ///< The number of keys.
    std::string kind = {};    ///< The kind of filter; "none" for none.
    double bits_per_key = 0;  ///< The filter's bits per key.
    std::uint64_t bytes = 0;  ///< The filter's size.
    double rate = 1;          ///< The filter's false-positive rate; 1 without one.
  };
  /// One table: how much of its filter is in memory, and how often it is asked. A filter of the kind "sliced" is in
  /// memory in columns, one bit per key each; any other counts as one column.
  struct Table {
    std::uint64_t table = 0;           ///< Its file number.
    std::uint32_t level = 0;           ///< Its level.
    std::uint64_t run = 0;             ///< Its run.
    std::uint64_t keys = 0;            ///< The number of keys.
    std::uint64_t bytes = 0;           ///< The size of its file.
    std::string smallest_key = {};     ///< Its first key.
    std::string largest_key = {};      ///< Its last key.
    std::string kind = {};             ///< The kind of its filter; "none" for none.
    std::uint64_t columns = 0;         ///< Columns in memory.
    std::uint64_t stored_columns = 0;  ///< Columns in the file.
    std::uint64_t first_bytes = 0;     ///< The memory of the first column.
    std::uint64_t column_bytes = 0;    ///< The memory of each further column.
    double rate = 1;                   ///< The false-positive rate with the columns in memory.
    double stored_rate = 1;            ///< The same with all columns.
    double asked_in_vain = 0;          ///< Per get, as estimated: lookups whose key is within its keys and not in it.
    double wasted_reads = 0;           ///< Per get, as planned: those that the columns in memory let pass.
    double observed_reads = 0;         ///< Per get, as counted; what was asked lately counts more.
  };
  /// What another amount of memory would save.
  struct Point {
    std::uint64_t filter_memory = 0;  ///< In bytes.
    double wasted_reads = 0;          ///< Per get, with the lookups of now.
  };

  std::vector<Run> runs = {};       ///< One element per run.
  std::uint64_t filter_memory = 0;  ///< The memory shared, in bytes.
  double wasted_reads = 0;          ///< Expected false positives per lookup of an absent key.
  double wasted_reads_uniform = 0;  ///< Same with equal bits per key in all runs.

  // What lookups have asked, in all keyspaces.
  std::vector<Table> tables = {};        ///< One element per table.
  std::uint64_t filter_bytes_now = 0;    ///< Memory of all filters as planned now.
  double wasted_reads_now = 0;           ///< Reads in vain per get: of the filters in memory now.
  double wasted_reads_best = 0;          ///< The same with the best use of that memory.
  double wasted_reads_observed = 0;      ///< Reads in vain per get, as counted; what was asked lately counts more.
  std::vector<Point> other_memory = {};  ///< From an eighth of filter_bytes_now to eight times as much.

  /// A human-readable table.
  [[nodiscard]] std::string to_text() const;
  /// A JSON object.
  [[nodiscard]] std::string to_json() const;
};

/// A defect in a file of a store.
struct Problem {
  std::string file = {};     ///< The file name.
  std::uint64_t offset = 0;  ///< The position in the file.
  std::string what = {};     ///< A human-readable description.
};

/// What DB::verify found.
struct TAMIS_EXPORT VerifyReport {
  std::vector<Problem> problems = {};  ///< The defects.
  std::uint64_t files = 0;             ///< Tables read.
  std::uint64_t bytes = 0;             ///< Bytes of those tables.
  std::uint64_t entries = 0;           ///< Entries of those tables.
  /// Entries in the journals but in no table yet. Opening the store checked every journal record.
  std::uint64_t journal_entries = 0;
  std::uint64_t journal_bytes = 0;  ///< Size of the last journal.

  /// Whether there are no problems.
  [[nodiscard]] bool ok() const { return problems.empty(); }
  /// A line for each problem, and one about what was read.
  [[nodiscard]] std::string to_text() const;
  /// A JSON object.
  [[nodiscard]] std::string to_json() const;
};

/// What DB::repair found and did, or would do.
struct TAMIS_EXPORT RepairReport {
  /// A key range in which deleted keys may have reappeared.
  struct Doubt {
    std::string from = {};             ///< The first key.
    std::string to = {};               ///< The last key.
    std::string why = {};              ///< A human-readable reason.
    std::string keyspace = "default";  ///< The name of the keyspace.
  };
  std::string manifest_lost = {};      ///< Why the manifest was unusable; empty if it was usable.
  std::vector<Problem> lost = {};      ///< What was unreadable and is lost.
  std::vector<Doubt> doubts = {};      ///< Where deleted keys may have reappeared.
  std::uint64_t tables_kept = 0;       ///< Unchanged tables.
  std::uint64_t tables_rewritten = 0;  ///< Damaged tables; readable entries are kept.
  std::uint64_t tables_left_out = 0;   ///< Tables whose entries are in others.
  std::uint64_t entries = 0;           ///< Entries in the kept and rewritten tables.
  std::uint64_t journal_entries = 0;   ///< Entries recovered from journals.
  /// The work on damaged tables: bytes read, skipped, decoded and hashed, counted each time. A small multiple of their
  /// size.
  std::uint64_t bytes_looked_at = 0;
  bool is_dry_run = false;  ///< Whether this was a dry run.

  /// A human-readable report.
  [[nodiscard]] std::string to_text() const;
  /// A JSON object; bytes as in Explanation::to_json.
  [[nodiscard]] std::string to_json(bool bytes_in_hex = false) const;
};

}  // namespace tamis
