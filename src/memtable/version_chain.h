// The versions of one key in a memtable, newest first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memtable/arena.h"
#include "memtable/entry_record.h"

namespace tamis {

/// Precedes every kVersionsPerMilestone-th version of a key and links to milestones of older versions: the previous
/// one, and one further back. The digits of the milestone's number in the skew binary system determine how far (Myers,
/// "An applicative random-access stack", 1983). So any version is found in a number of steps logarithmic in the number
/// of versions. A key with fewer versions pays nothing.
///
/// Threads: like EntryRecord.
struct Milestone {
  using Place = Arena::Place;

  Place previous;
  Place far;
  std::uint32_t number;      // From 1.
  std::uint32_t far_number;  // 0: none.

  /// The milestone of a record that has one.
  static const Milestone& of(const EntryRecord& record) { return *(reinterpret_cast<const Milestone*>(&record) - 1); }
};
static_assert(sizeof(Milestone) == 16 && alignof(Milestone) <= Arena::kUnitBytes);

/// The max arena space of a version besides its key and value, before rounding up to units.
inline constexpr std::size_t kMaxVersionBytes = sizeof(Milestone) + EntryRecord::kKeyAt;

/// Writes a version newer than `newest`, which may be none, and returns its place. The arena has a reservation.
Arena::Place add_version(Arena& arena, const Entry& entry, Arena::Place newest, Arena::Place before);

/// The newest version at or below the sequence, older than `too_new`; null if there is none. `steps` counts the
/// versions visited.
const EntryRecord* find_older(const Arena& arena, const EntryRecord& too_new, Sequence sequence,
                              std::uint64_t* steps = nullptr);

}  // namespace tamis
