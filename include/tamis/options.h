// The options of a store.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/export.h"
#include "tamis/merge.h"
#include "tamis/prefix_rule.h"
#include "tamis/status.h"

namespace tamis {

/// The options of a store; the defaults suit most programs. Options are not stored: a store may be opened with
/// different options next time, and its files stay readable. The exception is merge_operator.
///
///     auto db = tamis::DB::open("cities", {.memory_bytes = 1 << 30, .codec_last = "zstd"});
///
/// option_table() lists those from memory_bytes to direct_reads with their ranges; set_option() sets
/// them by name.
struct Options {
  bool create_if_missing = true;  ///< Create a missing store; otherwise that is an error.
  bool error_if_exists = false;   ///< Fail if the folder already has a store.
  bool read_only = false;         ///< Write nothing; replay the journal into memory only.
  bool follows = false;           ///< With read_only: read beside a process that writes; see DB::catch_up.

  std::uint64_t memory_bytes = std::uint64_t{256} << 20;   ///< Limit for all memory of the store.
  std::uint64_t memtable_bytes = std::uint64_t{32} << 20;  ///< Memtable size that triggers a flush; max memory_bytes/4.
  std::uint32_t block_bytes = 4096;                        ///< Size of a data block before compression.
  std::uint64_t table_bytes = std::uint64_t{64} << 20;     ///< Size at which a table is finished.
  std::string codec = "none";                              ///< Compression of every level but the last.
  std::string codec_last = "none";                         ///< Compression of the last level.
  std::string filter = "auto";                             ///< "auto", "none", or a name from filter_kinds().
  std::optional<std::uint64_t> filter_memory = {};         ///< None: 10 bits per key, max memory_bytes/4.
  /// How much larger a table may be for columns of its filter that there is no memory for now: lookups decide how much
  /// of each filter is in memory, and these need no rewriting.
  std::uint32_t filter_reserve_percent = 2;
  PrefixRule prefix_rule = {};  ///< Adds a second filter for scans within one prefix.
  /// Bits per key of a filter in each new table by which a short scan that finds nothing reads nothing; 0: none. See
  /// docs/TUNING.md: 16 suit most keys.
  std::uint32_t range_filter_bits = 0;
  std::string compaction = "leveled";  ///< The compaction policy: "leveled", "lazy", "tiered" or "manual".
  /// Values of at least this size are written to files of their own, and compaction does not move them; 0: none.
  std::uint64_t value_bytes_apart = 0;
  std::uint32_t fanout = 10;                      ///< Size ratio between adjacent levels.
  std::chrono::milliseconds default_expiry = {};  ///< How long after a put its value expires; 0: it does not.
  /// What DB::merge does: a name of merge_operator_names() or of merge_operators; empty: nothing. Stored with the first
  /// merge and fixed from then on: another name is kInvalidArgument, none means the stored one.
  std::string merge_operator = {};
  std::string journal = "auto";          ///< How the journal is written: "auto", "mapped" or "write".
  std::uint32_t background_threads = 0;  ///< Threads that flush and compact; 0: one per core, from 2 to 8.
  /// What compactions write per second, as far as flushes leave room; 0: no limit.
  std::uint64_t background_bytes_per_second = 0;
  bool direct_reads = false;  ///< Read tables and value files past the kernel's page cache (O_DIRECT).

  std::vector<MergeOperator> merge_operators = {};  ///< The operators of the program.
};

/// The description of one option.
struct OptionInfo {
  std::string_view name;      ///< The name that set_option takes.
  std::string default_value;  ///< In the form that set_option takes.
  std::string range;          ///< The allowed values, human-readable.
  std::string_view effect;    ///< A one-sentence description.
};

/// All named options, in the order of their documentation.
TAMIS_EXPORT std::span<const OptionInfo> option_table();
/// Sets an option by name, e.g. set_option(options, "memory_bytes", "64MiB"). kInvalidArgument names the option, the
/// value and the range or, for an unknown name, the closest match.
TAMIS_EXPORT Status set_option(Options& options, std::string_view name, std::string_view value);
/// The value in the form that set_option takes; the name must exist.
TAMIS_EXPORT std::string get_option(const Options& options, std::string_view name);
/// Checks that every value is in range; DB::open calls this first.
TAMIS_EXPORT Status check_options(const Options& options);

}  // namespace tamis
