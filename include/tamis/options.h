// How a store behaves.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tamis/export.h"
#include "tamis/prefix_rule.h"
#include "tamis/status.h"

namespace tamis {

/// How a store behaves; the defaults suit most programs. Options are not stored: a store may be opened with other
/// options next time, and what is on disk stays readable.
///
///     auto db = tamis::DB::open("cities", {.memory_bytes = 1 << 30, .codec_last = "zstd"});
///
/// option_table() lists those from memory_bytes on with their ranges; set_option() sets them by name.
struct Options {
  bool create_if_missing = true;  ///< Create the store if the folder has none; otherwise that is an error.
  bool error_if_exists = false;   ///< Fail if the folder has a store already.
  bool read_only = false;         ///< Write nothing: the journal is replayed into memory only.

  std::uint64_t memory_bytes = std::uint64_t{256} << 20;   ///< The limit for all the store keeps in memory.
  std::uint64_t memtable_bytes = std::uint64_t{32} << 20;  ///< Writes collected before a flush; at most memory_bytes/4.
  std::uint32_t block_bytes = 4096;                        ///< Size of a data block before compression.
  std::uint64_t table_bytes = std::uint64_t{64} << 20;     ///< Size at which a table is finished and the next begun.
  std::string codec = "none";                              ///< Compression of every level but the last.
  std::string codec_last = "none";                         ///< Compression of the last level.
  std::string filter = "auto";                             ///< "auto", "none", or a name of filter_kinds().
  std::optional<std::uint64_t> filter_memory = {};         ///< None: 10 bits a key, at most memory_bytes/4.
  PrefixRule prefix_rule = {};                             ///< Adds a second filter, for scans inside one prefix.
  std::string compaction = "leveled";    ///< The compaction policy: "leveled", "lazy", "tiered" or "manual".
  std::uint32_t fanout = 10;             ///< How many times larger each level is than the one above it.
  std::string journal = "auto";          ///< How the journal is written: "auto", "mapped" or "write".
  std::uint32_t background_threads = 2;  ///< Threads that flush and compact.
};

/// One option, as users see it.
struct OptionInfo {
  std::string_view name;      ///< As set_option takes it.
  std::string default_value;  ///< As set_option reads it.
  std::string range;          ///< The values allowed, for people.
  std::string_view effect;    ///< What it does, in a sentence.
};

/// All options that have a name, in the order in which they are documented.
TAMIS_EXPORT std::span<const OptionInfo> option_table();
/// Sets an option by name, e.g. set_option(options, "memory_bytes", "64MiB"). kInvalidArgument names the option, the
/// value and the range; for an unknown name, the nearest one there is.
TAMIS_EXPORT Status set_option(Options& options, std::string_view name, std::string_view value);
/// The value as set_option reads it; the name must exist.
TAMIS_EXPORT std::string get_option(const Options& options, std::string_view name);
/// Whether every value is in its range; DB::open asks this first.
TAMIS_EXPORT Status check_options(const Options& options);

}  // namespace tamis
