// Capacity planning: the cost of a store of a given size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/export.h"
#include "tamis/options.h"
#include "tamis/status.h"

namespace tamis {

/// Processor times of one thread, measured on one machine by bench/scale_bench.cc. These are the rounded medians of
/// docs/data/scale_constants.json. Other machines differ.
struct TAMIS_EXPORT ScaleConstants {
  double flush_ns_per_entry = 0;      ///< From sealed memtable to durable table, per entry,
  double flush_ns_per_byte = 0;       ///< and per byte of key and value.
  double merge_ns_per_entry = 0;      ///< Compaction, including reads, filters and writes to the page cache,
  double merge_ns_per_byte = 0;       ///< and per byte of key and value.
  double open_ns_per_table = 0;       ///< Opening a store: a table's manifest line and its file name.
  double replay_ns_per_entry = 0;     ///< Opening a store: replaying a journal entry.
  double load_ns_per_byte = 0;        ///< Loading an index or filter on first use.
  double memory_bytes_per_table = 0;  ///< Besides index and filter; not part of memory_bytes.

  /// The measured constants.
  static ScaleConstants measured();
};

/// Keys are uniform, unique and inserted in random order: the load with the most rewriting. Values are incompressible.
struct ScaleQuestion {
  std::uint64_t store_bytes = 0;                          ///< Live keys and values.
  std::uint64_t key_bytes = 16;                           ///< Length of a key.
  std::uint64_t value_bytes = 100;                        ///< Length of a value.
  std::uint64_t load_bytes_per_day = 100'000'000'000;     ///< Keys and values written per day.
  std::uint64_t disk_bytes_per_second = 500'000'000;      ///< Read or written, of each disk.
  std::uint32_t disks = 1;                                ///< Files are spread over them evenly.
  std::uint32_t compaction_threads = 1;                   ///< background_threads, less the one that flushes.
  Options options = {};                                   ///< The options of the store.
  ScaleConstants constants = ScaleConstants::measured();  ///< The costs of the machine.
};

/// A store of the given size. Sizes are computed from the format, runs and rewrites are simulated, times are multiples
/// of measured constants: docs/SCALE.md.
struct ScalePlan {
  /// One level of the store.
  struct Level {
    std::uint32_t level = 0;         ///< Its number; 0 is the newest.
    std::uint64_t runs = 0;          ///< Sorted runs in it.
    std::uint64_t tables = 0;        ///< Tables in it.
    std::uint64_t keys = 0;          ///< Keys in it.
    std::uint64_t bytes = 0;         ///< Size of its tables.
    std::string filter_kind = {};    ///< "none", a kind's name, or "mixed".
    double bits_per_key = 0;         ///< Filter bits per key.
    std::uint64_t filter_bytes = 0;  ///< Size of its filters.
    double wasted_reads = 0;         ///< The sum of the runs' false-positive rates.
  };
  /// What it keeps in memory.
  struct Memory {
    std::uint64_t index_bytes = 0;        ///< With all indexes in memory.
    std::uint64_t filter_bytes = 0;       ///< With all filters in memory.
    std::uint64_t memtable_share = 0;     ///< Share of memory_bytes for both memtables.
    std::uint64_t journal_share = 0;      ///< Share of memory_bytes for the mapped journal.
    std::uint64_t transaction_share = 0;  ///< Share of memory_bytes for the recent commits, for transactions.
    std::uint64_t index_share = 0;        ///< Share of memory_bytes for indexes.
    std::uint64_t filter_share = 0;       ///< Share of memory_bytes for filters.
    std::uint64_t block_share = 0;        ///< Share of memory_bytes for cached blocks.
    std::uint64_t beyond_budget = 0;      ///< Per-table state; not part of memory_bytes.
  };
  /// Reads per lookup, with uniformly chosen keys.
  struct Reads {
    double wasted = 0;          ///< False positives per absent key, as in `tamis plan DIR`.
    double wasted_uniform = 0;  ///< Same with equal bits per key in all runs.
    double per_absent = 0;      ///< File reads: uncached blocks and non-resident indexes.
    double per_present = 0;     ///< Same for a present key.
  };
  /// What writing costs.
  struct Writing {
    double amplification = 0;                    ///< Journal and table bytes per byte of keys and values, at that size.
    double fill_amplification = 0;               ///< From empty to that size.
    std::uint64_t largest_compaction_bytes = 0;  ///< Output of one compaction, and its extra disk space.
    double largest_compaction_hours = 0;         ///< The duration of that compaction.
    double compaction_hours_per_day = 0;         ///< For the load, by all threads. Above 24 they fall behind.
    double flush_hours_per_day = 0;              ///< Same for flushes, by one thread.
    std::uint64_t max_load_bytes_per_day = 0;    ///< The load at which compactions or flushes take 24 hours.
    double fill_hours = 0;                       ///< Compaction time to load the store.
  };
  /// How long opening takes.
  struct Opening {
    double after_close_seconds = 0;  ///< After a clean close, with little in the journal.
    double after_crash_seconds = 0;  ///< With two full memtables in journals, flushed first.
    double warm_seconds = 0;         ///< Until all that fits is in memory; lookups load it on demand.
  };

  std::vector<Level> levels = {};             ///< Non-empty levels only.
  std::uint64_t entries = 0;                  ///< Entries in the store.
  std::uint64_t entries_per_flush = 0;        ///< Entries that fill a memtable.
  std::uint64_t runs = 0;                     ///< Sorted runs.
  std::uint64_t tables = 0;                   ///< Table files.
  std::uint64_t bytes_on_disk = 0;            ///< Size of the tables.
  std::uint64_t manifest_bytes = 0;           ///< Right after a rewrite; it grows to four times that.
  std::uint64_t simulated_flushes = 0;        ///< Flushes simulated for the shape and the rewrites,
  std::uint32_t levels_beyond_simulated = 0;  ///< and levels extrapolated by rule.
  Memory memory = {};                         ///< What it keeps in memory.
  Reads reads = {};                           ///< Reads per lookup, with uniformly chosen keys.
  Writing writing = {};                       ///< What writing costs.
  Opening opening = {};                       ///< How long opening takes.
  std::vector<std::string> warnings = {};     ///< What does not fit, in full sentences.
};

/// Returns kInvalidArgument for a nonsensical question, kNotSupported for one beyond the simulation.
TAMIS_EXPORT Result<ScalePlan> plan_scale(const ScaleQuestion& question);

}  // namespace tamis
