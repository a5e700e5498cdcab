// Entries, and the order of all entries.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "entry/entry_kind.h"

namespace tamis {

/// A write's position in the stream of all writes to a store: dense, from 1, never wrapping. 0 means "before every
/// snapshot": compaction may write it in the last level, where the sequence no longer matters.
enum class Sequence : std::uint64_t {};

/// Never given to a write. As a position it precedes every version of its key; as a snapshot it sees everything.
inline constexpr Sequence kMaxSequence{~std::uint64_t{0}};

constexpr std::uint64_t number_of(Sequence sequence) { return static_cast<std::uint64_t>(sequence); }
constexpr Sequence operator+(Sequence sequence, std::uint64_t writes) { return Sequence{number_of(sequence) + writes}; }

inline constexpr std::size_t kMaxKeyBytes = std::size_t{16} << 20;
inline constexpr std::uint64_t kMaxValueBytes = std::uint64_t{1} << 30;
/// A longer key is alone in its block, and makes its group of the index wide (rule 38).
inline constexpr std::size_t kMaxNarrowKeyBytes = 65'535;

/// A position in the order of entries: keys ascending bytewise, then sequences descending, so the newest version of a
/// key comes first and {key, snapshot} is right before the version a snapshot sees.
struct EntryPosition {
  std::string_view key;
  Sequence sequence = kMaxSequence;

  friend bool operator==(const EntryPosition&, const EntryPosition&) = default;
  friend std::strong_ordering operator<=>(const EntryPosition& a, const EntryPosition& b) {
    if (const int order = a.key.compare(b.key); order != 0) return order <=> 0;
    return b.sequence <=> a.sequence;
  }
};

/// The direction of iteration.
enum class Direction : std::uint8_t { kForwards, kBackwards };

/// For an entry of a block whose kind is the first byte of its value: takes the kind out of the value.
inline void take_kind(EntryKind& kind, std::string_view& value) {
  kind = static_cast<EntryKind>(value.front());
  value.remove_prefix(1);
}

/// One version of one key. The views belong to the source of the entry. A delete has no value. Iterators over tables
/// show entries as their blocks have them: whoever looks at a kind takes plain() first.
struct Entry {
  std::string_view key;
  std::string_view value;
  Sequence sequence = {};
  EntryKind kind = EntryKind::kPut;

  [[nodiscard]] EntryPosition position() const { return {key, sequence}; }
  /// The same with its kind, if that was in the value.
  [[nodiscard]] Entry plain() const {
    Entry entry = *this;
    if (kind == EntryKind::kInValue) [[unlikely]]
      take_kind(entry.kind, entry.value);
    return entry;
  }

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// A lookup: what is `key` at `sequence`? `hash` is KeyHasher's, computed once and used by every step.
struct Lookup {
  std::string_view key;
  std::uint64_t hash = 0;
  Sequence sequence = kMaxSequence;
};

/// The version that answers a Lookup; a delete is an answer too, and ends the search. Its source owns the value.
struct FoundEntry {
  EntryKind kind = EntryKind::kPut;
  Sequence sequence = {};
  std::string_view value;

  friend bool operator==(const FoundEntry&, const FoundEntry&) = default;
};

/// The first eight bytes of a key as a big-endian number, padded with zeros. Different heads order like their keys;
/// equal heads decide nothing ("a" and "a\0" share one), so the keys must then be compared. For data structures that
/// store the head beside the key: computing it anew costs as much as comparing.
inline std::uint64_t key_head(std::string_view key) {
  const std::size_t size = key.size();
  const char* bytes = key.data();
  if (size >= 8) [[likely]]
    return load_be<std::uint64_t>(bytes);
  if (size >= 4) {  // Two overlapping halves.
    const std::uint64_t first = load_be<std::uint32_t>(bytes);
    const std::uint64_t last = load_be<std::uint32_t>(bytes + size - 4);
    return first << 32 | last << (64 - 8 * size);
  }
  std::uint64_t head = 0;
  for (std::size_t i = 0; i < size; ++i) head |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (56 - 8 * i);
  return head;
}

}  // namespace tamis
