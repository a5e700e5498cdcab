// What a store of some size would cost, before there is one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tamis/export.h"
#include "tamis/options.h"
#include "tamis/status.h"

namespace tamis {

/// Times that were measured, of one thread's processor, on one machine: bench/scale_bench.cc measures them,
/// docs/data/scale_constants.json has the medians that are rounded here. Another machine has others.
struct TAMIS_EXPORT ScaleConstants {
  double flush_ns_per_entry = 0;      ///< From a sealed memtable to a durable table,
  double flush_ns_per_byte = 0;       ///< and for each byte of key and value.
  double merge_ns_per_entry = 0;      ///< A compaction, with reading, filters and writing into the system's cache,
  double merge_ns_per_byte = 0;       ///< and for each byte of key and value.
  double open_ns_per_table = 0;       ///< Opening a store: its line in the manifest, its name in the folder.
  double replay_ns_per_entry = 0;     ///< Opening a store: an entry that is only in the journal.
  double load_ns_per_byte = 0;        ///< Reading an index or filter when it is first needed.
  double memory_bytes_per_table = 0;  ///< Of an open store, besides index and filter; not part of memory_bytes.

  /// As measured.
  static ScaleConstants measured();
};

/// Keys are spread evenly and arrive in random order, each once: the load that is rewritten most. Values cannot be
/// compressed.
struct ScaleQuestion {
  std::uint64_t store_bytes = 0;                          ///< Keys and values that can be read.
  std::uint64_t key_bytes = 16;                           ///< Length of a key.
  std::uint64_t value_bytes = 100;                        ///< Length of a value.
  std::uint64_t load_bytes_per_day = 100'000'000'000;     ///< Keys and values.
  std::uint64_t disk_bytes_per_second = 500'000'000;      ///< What one thread reads or writes.
  Options options = {};                                   ///< How the store is opened.
  ScaleConstants constants = ScaleConstants::measured();  ///< What the machine costs.
};

/// A store of that size. Bytes are computed from the format, runs and rewriting are simulated, times are measured
/// constants multiplied: docs/SCALE.md.
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
    double wasted_reads = 0;         ///< The sum of the runs' rates.
  };
  std::vector<Level> levels = {};             ///< Those that hold anything.
  std::uint64_t entries = 0;                  ///< Entries in the store.
  std::uint64_t entries_per_flush = 0;        ///< Entries that fill a memtable.
  std::uint64_t runs = 0;                     ///< Sorted runs.
  std::uint64_t tables = 0;                   ///< Table files.
  std::uint64_t bytes_on_disk = 0;            ///< Size of the tables.
  std::uint64_t manifest_bytes = 0;           ///< When it was just written; it grows to four times that.
  std::uint64_t simulated_flushes = 0;        ///< What the shape and the rewriting were taken from,
  std::uint32_t levels_beyond_simulated = 0;  ///< and how many levels were added by rule.

  // Memory.
  std::uint64_t index_bytes = 0;           ///< If all are in memory.
  std::uint64_t filter_bytes = 0;          ///< The same for filters.
  std::uint64_t memtable_share = 0;        ///< Of memory_bytes, both memtables.
  std::uint64_t journal_share = 0;         ///< Of memory_bytes, the mapped journal.
  std::uint64_t index_share = 0;           ///< Of memory_bytes, indexes.
  std::uint64_t filter_share = 0;          ///< Of memory_bytes, filters.
  std::uint64_t block_share = 0;           ///< Of memory_bytes, cached blocks.
  std::uint64_t memory_beyond_budget = 0;  ///< For what is known of each table; not part of memory_bytes.

  // Reads of one lookup, all keys asked for alike.
  double wasted_reads = 0;          ///< Runs asked in vain for an absent key: as `tamis plan DIR` says it.
  double wasted_reads_uniform = 0;  ///< The same when all runs have the same bits per key.
  double reads_per_absent = 0;      ///< From files: blocks that are not cached, indexes that are not in memory.
  double reads_per_present = 0;     ///< The same for a key that is present.

  // Writing.
  double write_amplification = 0;              ///< Journal and tables, for each byte of keys and values, at that size.
  double fill_write_amplification = 0;         ///< From empty to that size.
  std::uint64_t largest_compaction_bytes = 0;  ///< Written by one; needed on disk besides what is there.
  double largest_compaction_hours = 0;         ///< How long that takes.
  double compaction_hours_per_day = 0;  ///< Of the load; one compaction runs at a time, so above 24 it falls behind.
  double flush_hours_per_day = 0;       ///< The same for flushes.
  std::uint64_t most_load_bytes_per_day = 0;  ///< At which compaction has 24 hours to do.
  double fill_hours = 0;                      ///< Of compaction, to load the store.

  // Opening.
  double open_seconds = 0;              ///< After a clean close, which leaves little in the journal.
  double open_after_crash_seconds = 0;  ///< With two, which become tables first.
  double warm_seconds = 0;              ///< Until all that has room is in memory; lookups do it as they come.

  std::vector<std::string> warnings = {};  ///< What does not fit, in sentences.
};

/// kInvalidArgument for a question that makes no sense, kNotSupported for one that is beyond the simulation.
TAMIS_EXPORT Result<ScalePlan> plan_scale(const ScaleQuestion& question);

}  // namespace tamis
