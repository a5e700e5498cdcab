// The layout of an entry in a memtable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "entry/entry.h"
#include "memtable/arena.h"

namespace tamis {

inline constexpr std::uint8_t kVersionsPerMilestone = 8;

/// Stored in the arena, followed by the bytes of the key and the value, and preceded by a Milestone (version_chain.h)
/// if it has one. Immutable once written. The key begins in the padding.
///
/// Threads: written by the inserter, then published by a release store (of a slot, or of the last place).
struct EntryRecord {
  using Place = Arena::Place;

  Sequence sequence;
  Place older;   // The previous version of the same key.
  Place before;  // The previously inserted entry, of any key.
  std::uint32_t value_bytes;
  std::uint32_t key_bytes;
  EntryKind kind;
  std::uint8_t step;  // 1 … kVersionsPerMilestone, then from 1 again.

  static constexpr std::size_t kKeyAt = 26;

  static constexpr std::size_t bytes_for(std::size_t key_bytes, std::size_t value_bytes) {
    return kKeyAt + key_bytes + value_bytes;  // The arena rounds up to at least sizeof(EntryRecord).
  }
  static void write(void* to, const Entry& entry, Place older, Place before, std::uint8_t step = 1) {
    new (to) EntryRecord{.sequence = entry.sequence,
                         .older = older,
                         .before = before,
                         .value_bytes = static_cast<std::uint32_t>(entry.value.size()),
                         .key_bytes = static_cast<std::uint32_t>(entry.key.size()),
                         .kind = entry.kind,
                         .step = step};
    char* const bytes = static_cast<char*>(to) + kKeyAt;
    if (!entry.key.empty()) std::memcpy(bytes, entry.key.data(), entry.key.size());
    if (!entry.value.empty()) std::memcpy(bytes + entry.key.size(), entry.value.data(), entry.value.size());
  }
  static const EntryRecord& at(const Arena& arena, Place place) {
    return *static_cast<const EntryRecord*>(arena.at(place));
  }

  [[nodiscard]] bool has_milestone() const { return step == kVersionsPerMilestone; }
  [[nodiscard]] std::string_view key() const { return {reinterpret_cast<const char*>(this) + kKeyAt, key_bytes}; }
  [[nodiscard]] std::string_view value() const { return {key().data() + key_bytes, value_bytes}; }
  [[nodiscard]] EntryPosition position() const { return {key(), sequence}; }
  [[nodiscard]] Entry entry() const { return {key(), value(), sequence, kind}; }
};
static_assert(sizeof(EntryRecord) - EntryRecord::kKeyAt < Arena::kUnitBytes);
static_assert(offsetof(EntryRecord, step) + 1 == EntryRecord::kKeyAt && alignof(EntryRecord) == Arena::kUnitBytes);

}  // namespace tamis
