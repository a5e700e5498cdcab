// Copies of a store with a byte changed, and copies that are repaired.
#pragma once

#include <string>

#include "cli/torture/look.h"

namespace tamis::cli {

/// Where a byte was changed.
struct Flip {
  std::string file;
  std::uint64_t offset = 0;
  std::uint8_t difference = 1;
};

/// A byte of a store's files, each file as likely as any other. Nothing for a store without bytes.
std::optional<Flip> draw_flip(const std::string& store, Draw& draw);

/// Changes that byte in a copy of a store that was closed: it refuses to open, or says which answers it cannot give, or
/// gives the right ones.
Finding look_at_flip(const std::string& store, const std::string& copy, const Flip& flip, const Options& options,
                     const TortureScript& script, const Moment& moment, TortureCounts& counts);
/// The same for a store that was left by a kill: its last commits can look as if they had not been finished, so it may
/// hold an earlier moment, but a whole one.
Finding look_at_flip_of_left(const std::string& store, const std::string& copy, const Flip& flip,
                             const Options& options, const TortureScript& script, const Expected& expected,
                             TortureCounts& counts);

/// Repairs a copy of an undamaged store: nothing is lost.
Finding repair_sound(const std::string& store, const std::string& copy, const Options& options,
                     const TortureScript& script, const Expected& expected, TortureCounts& counts);

/// Repairs a copy that was damaged: it opens, it is sound, and holds nothing that was never written. What it says to
/// have lost and where it has doubts explains any difference.
Finding repair_damaged(const std::string& store, const std::string& copy, const Flip& flip, const Options& options,
                       const TortureScript& script, const Moment& moment, TortureCounts& counts);

}  // namespace tamis::cli
