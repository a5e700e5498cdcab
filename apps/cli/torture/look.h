// Checks a store after the process that wrote it has ended.
#pragma once

#include <cstdint>
#include <string>

#include "cli/draw.h"
#include "cli/torture/check.h"
#include "cli/torture/script.h"
#include "tamis/options.h"

namespace tamis::cli {

/// What was tried, over all rounds.
struct TortureCounts {
  std::uint64_t rounds = 0;
  std::uint64_t stores = 0;
  std::uint64_t kills = 0;
  std::uint64_t kills_opening = 0;     ///< Before it reported that the store is open.
  std::uint64_t kills_flushing = 0;    ///< During a requested flush.
  std::uint64_t kills_compacting = 0;  ///< During a requested compaction.
  std::uint64_t kills_in_tables = 0;   ///< Left tables on disk that the reopened store did not use.
  std::uint64_t closes = 0;
  std::uint64_t commits = 0;  ///< Acknowledged.
  std::uint64_t synced = 0;   ///< Of these, synced.
  std::uint64_t reads = 0;    ///< Keys read and compared.
  std::uint64_t checkpoints = 0;
  std::uint64_t second_openings = 0;
  std::uint64_t flips = 0;
  std::uint64_t flips_refused = 0;  ///< The store did not open.
  std::uint64_t flips_told = 0;     ///< It opened, and some answers were errors.
  std::uint64_t repairs = 0;
};

/// What a store must hold.
struct Expected {
  Moment at_least;
  Moment at_most;
};

/// Opens the store, reads everything in every way, verifies, closes. `found` is what it holds. With `checks_files` its
/// files must be exactly those of the store's tables: no leftovers, none truncated.
Finding look_at_store(const std::string& path, const Options& options, const TortureScript& script,
                      const Expected& expected, TortureCounts& counts, Moment& found, bool checks_files = true);
/// The same with one scan, changing nothing.
Finding look_without_writing(const std::string& path, Options options, const TortureScript& script,
                             const Expected& expected, TortureCounts& counts);
/// A checkpoint interrupted by the kill is one moment, or not a store.
Finding look_at_checkpoint(const std::string& path, Options options, const TortureScript& script,
                           const Expected& expected, TortureCounts& counts);

}  // namespace tamis::cli
