// The versions of one key in a memtable, newest first.
#pragma once

#include <cstddef>
#include <cstdint>

#include "memtable/arena.h"
#include "memtable/entry_record.h"

namespace tamis {

/// Stands in front of every kVersionsPerMilestone-th version of a key, and leads to milestones of older versions: to
/// the one before, and to one further back. How far back that is follows the digits of the milestone's number in the
/// skew binary system (Myers, "An applicative random-access stack", 1983), so that any version is found in a number of
/// steps that grows with the logarithm of how many there are. A key with fewer versions pays nothing for it.
///
/// Threads: as EntryRecord.
struct Milestone {
  using Place = Arena::Place;

  Place previous;
  Place far;
  std::uint32_t number;      // Counts up from 1.
  std::uint32_t far_number;  // 0: there is none.

  /// Of a record that has one.
  static const Milestone& of(const EntryRecord& record) { return *(reinterpret_cast<const Milestone*>(&record) - 1); }
};
static_assert(sizeof(Milestone) == 16 && alignof(Milestone) <= Arena::kUnitBytes);

/// The most that a version takes of the arena besides its key and value, before it is rounded up to units.
inline constexpr std::size_t kMostVersionBytes = sizeof(Milestone) + sizeof(EntryRecord);

/// Writes a version in front of `newest`, which may be none, and returns its place. The arena has a reservation.
Arena::Place add_version(Arena& arena, const Entry& entry, Arena::Place newest, Arena::Place before);

/// The newest version at or below the sequence, of those behind one that is above it; null when there is none. `steps`
/// counts the versions that were looked at.
const EntryRecord* find_older(const Arena& arena, const EntryRecord& too_new, Sequence sequence,
                              std::uint64_t* steps = nullptr);

}  // namespace tamis
