#include "memtable/version_chain.h"

#include <new>

namespace tamis {
namespace {

using Place = Arena::Place;

const EntryRecord& record_at(const Arena& arena, Place place) { return EntryRecord::at(arena, place); }

/// The nearest milestone, at this version or an older one.
Place nearest_milestone(const Arena& arena, Place place) {
  while (place != Place::kNone && !record_at(arena, place).has_milestone()) place = record_at(arena, place).older;
  return place;
}

/// Two stretches of equal length merge into one; otherwise a new stretch of length one begins.
Milestone milestone_after(const Arena& arena, Place previous) {
  if (previous == Place::kNone) return {.previous = previous, .far = previous, .number = 1, .far_number = 0};
  const Milestone& before = Milestone::of(record_at(arena, previous));
  Milestone next{.previous = previous, .far = previous, .number = before.number + 1, .far_number = before.number};
  if (before.far == Place::kNone) return next;
  const Milestone& far = Milestone::of(record_at(arena, before.far));
  if (before.number - before.far_number == far.number - far.far_number) {
    next.far = far.far;
    next.far_number = far.far_number;
  }
  return next;
}

}  // namespace

Place add_version(Arena& arena, const Entry& entry, Place newest, Place before) {
  const std::size_t bytes = EntryRecord::bytes_for(entry.key.size(), entry.value.size());
  const std::uint8_t step =
      newest == Place::kNone ? 1 : static_cast<std::uint8_t>(record_at(arena, newest).step % kVersionsPerMilestone + 1);
  if (step < kVersionsPerMilestone) [[likely]] {
    const Place place = arena.allocate(bytes);
    EntryRecord::write(arena.at(place), entry, newest, before, step);
    return place;
  }
  const Milestone milestone = milestone_after(arena, nearest_milestone(arena, newest));
  const Place front = arena.allocate(sizeof(Milestone) + bytes);
  new (arena.at(front)) Milestone(milestone);
  constexpr auto kMilestoneUnits = static_cast<std::uint32_t>(sizeof(Milestone) / Arena::kUnitBytes);
  const Place place{static_cast<std::uint32_t>(front) + kMilestoneUnits};
  EntryRecord::write(arena.at(place), entry, newest, before, step);
  return place;
}

const EntryRecord* find_older(const Arena& arena, const EntryRecord& too_new, Sequence sequence, std::uint64_t* steps) {
  const auto is_too_new = [&](Place place) {
    if (place == Place::kNone) return false;
    if (steps != nullptr) ++*steps;
    return record_at(arena, place).sequence > sequence;
  };
  const EntryRecord* record = &too_new;
  while (true) {
    Place next = Place::kNone;
    if (record->has_milestone()) {
      const Milestone& milestone = Milestone::of(*record);
      next = is_too_new(milestone.far) ? milestone.far : is_too_new(milestone.previous) ? milestone.previous : next;
    }
    if (next == Place::kNone) {
      next = record->older;
      if (next == Place::kNone) return nullptr;
      if (!is_too_new(next)) return &record_at(arena, next);
    }
    record = &record_at(arena, next);
  }
}

}  // namespace tamis
