// What a store can be told when it is opened.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tamis/export.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// How a store behaves; the defaults are good ones. Options belong to one opening: a store may be opened with others
/// next time, and what is on disk stays readable.
///
///     auto db = tamis::DB::open("cities", {.memory_bytes = 1 << 30, .codec_last = "zstd"});
///
/// Those from memory_bytes on are rows of option_table(), where their ranges stand; `set_option` sets them by name.
struct Options {
  bool create_if_missing = true;
  bool error_if_exists = false;
  /// Writes nothing, not even what recovery would: what the journal holds is replayed into memory.
  bool read_only = false;

  std::uint64_t memory_bytes = std::uint64_t{256} << 20;   ///< Everything the store keeps in memory.
  std::uint64_t memtable_bytes = std::uint64_t{32} << 20;  ///< Writes collected before a flush; at most memory_bytes/4.
  std::uint32_t block_bytes = 4096;
  std::uint64_t table_bytes = std::uint64_t{64} << 20;
  std::string codec = "none";
  std::string codec_last = "none";                  ///< Of the last level.
  std::string filter = "auto";                      ///< "auto", "none", or a name of filter_kinds().
  std::optional<std::uint64_t> filter_memory = {};  ///< None: 10 bits a key, at most a quarter of memory_bytes.
  PrefixRule prefix_rule = {};                      ///< For filters that serve scans inside one prefix.
  std::string compaction = "leveled";
  std::uint32_t fanout = 10;
  std::string cache = "s3fifo";
  std::string journal = "auto";
  std::uint32_t background_threads = 2;
};

/// One row of the table of options.
struct OptionInfo {
  std::string_view name;
  std::string default_value;
  std::string range;        ///< What may be given, for people.
  std::string_view effect;  ///< In a sentence.
};

/// All options that have a name, in the order in which they are documented.
TAMIS_EXPORT std::span<const OptionInfo> option_table();
/// Sets one by name, e.g. set_option(options, "memory_bytes", "64MiB"). kInvalidArgument names the option, the value
/// and the range; for an unknown name, the nearest one there is.
TAMIS_EXPORT Status set_option(Options& options, std::string_view name, std::string_view value);
/// The value as set_option reads it; the name must exist.
TAMIS_EXPORT std::string get_option(const Options& options, std::string_view name);
/// Whether every value is in its range; DB::open asks this first.
TAMIS_EXPORT Status check_options(const Options& options);

}  // namespace tamis
