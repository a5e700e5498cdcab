// Checks a store after the process that wrote it has ended, copies of it with one byte changed, and repaired copies.
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
  std::uint64_t followed = 0;  ///< Times that another process read the store beside the writing one.
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
/// Reads a store that another process is writing, or has left: one moment with at least those commits. kStale if that
/// process replaces files too fast.
Finding look_beside_writer(DB& follower, const TortureScript& script, const Moment& at_least, TortureCounts& counts,
                           Moment& found);
/// A checkpoint interrupted by the kill is one moment, or not a store.
Finding look_at_checkpoint(const std::string& path, Options options, const TortureScript& script,
                           const Expected& expected, TortureCounts& counts);

/// Where a byte was changed.
struct Flip {
  std::string file;
  std::uint64_t offset = 0;
  std::uint8_t difference = 1;
};

/// A random byte of a random file of the store. Nullopt for a store without bytes.
std::optional<Flip> draw_flip(const std::string& store, Draw& draw);

/// Changes that byte in a copy of a store. The copy must refuse to open, report which answers it cannot give, or give
/// the right ones: of a moment between those expected. A store that was closed holds one moment. In one left by a kill
/// the last commits can look unfinished, so that it may hold any earlier moment, but a complete one.
Finding look_at_flip(const std::string& store, const std::string& copy, const Flip& flip, const Options& options,
                     const TortureScript& script, const Expected& expected, TortureCounts& counts);

/// Repairs a copy of an undamaged store: nothing is lost.
Finding repair_sound(const std::string& store, const std::string& copy, const Options& options,
                     const TortureScript& script, const Expected& expected, TortureCounts& counts);

/// Repairs a damaged copy. It must open, verify, and hold nothing that was never written. Its reported losses and
/// doubts must explain any difference. A value that is apart and damaged stays an error for its readers.
Finding repair_damaged(const std::string& store, const std::string& copy, const Flip& flip, const Options& options,
                       const TortureScript& script, const Moment& moment, TortureCounts& counts);

}  // namespace tamis::cli
