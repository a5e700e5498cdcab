// Copies of a store with one byte changed, and repaired copies.
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
/// doubts must explain any difference.
Finding repair_damaged(const std::string& store, const std::string& copy, const Flip& flip, const Options& options,
                       const TortureScript& script, const Moment& moment, TortureCounts& counts);

}  // namespace tamis::cli
