// What one entry is, and the one order in which all entries stand.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace tamis {

/// The place of a write in the one stream of all writes to a store: dense, counted from 1, never wrapping.
/// 0 stands for "before every snapshot": compaction may write it in the last level, where nobody asks any more.
enum class Sequence : std::uint64_t {};

/// Never given to a write. As a position it stands before every version of its key; as a snapshot it sees everything.
inline constexpr Sequence kMaxSequence{~std::uint64_t{0}};

constexpr std::uint64_t number_of(Sequence sequence) { return static_cast<std::uint64_t>(sequence); }
constexpr Sequence operator+(Sequence sequence, std::uint64_t writes) { return Sequence{number_of(sequence) + writes}; }

/// On disk for ever. Reserved and not to be used for anything else: 3 merge, 4 range delete, 5 value pointer,
/// 6 put with expiry, 7 single delete.
enum class EntryKind : std::uint8_t { kPut = 1, kDelete = 2 };

/// Whether this build knows the kind; bytes of any other are corruption.
constexpr bool is_entry_kind(std::uint8_t number) { return number == 1 || number == 2; }

inline constexpr std::size_t kMaxKeyBytes = 65'535;
/// What a block of a table can hold besides the longest key; its length is of 32 bits. table_builder.h checks that.
inline constexpr std::uint64_t kMaxValueBytes = 0xfffe'0000;

/// A place in the order of entries: keys ascending bytewise, then sequences descending, so that of one key the newest
/// version comes first and {key, snapshot} stands right before the version a snapshot sees.
struct EntryPosition {
  std::string_view key;
  Sequence sequence = kMaxSequence;

  friend bool operator==(const EntryPosition&, const EntryPosition&) = default;
  friend std::strong_ordering operator<=>(const EntryPosition& a, const EntryPosition& b) {
    if (const int order = a.key.compare(b.key); order != 0) return order <=> 0;
    return b.sequence <=> a.sequence;
  }
};

/// Which way somebody walks through the order.
enum class Direction : std::uint8_t { kForwards, kBackwards };

/// One version of one key. The views belong to whoever handed it out. A delete has no value.
struct Entry {
  std::string_view key;
  std::string_view value;
  Sequence sequence = {};
  EntryKind kind = EntryKind::kPut;

  [[nodiscard]] EntryPosition position() const { return {key, sequence}; }

  friend bool operator==(const Entry&, const Entry&) = default;
};

/// One question to the store: what is `key` at `sequence`? `hash` is KeyHasher's, made once and used by every step.
struct Lookup {
  std::string_view key;
  std::uint64_t hash = 0;
  Sequence sequence = kMaxSequence;
};

/// The version that answers a Lookup: a delete answers too, and ends the search. The value belongs to whoever found it.
struct FoundEntry {
  EntryKind kind = EntryKind::kPut;
  Sequence sequence = {};
  std::string_view value;

  friend bool operator==(const FoundEntry&, const FoundEntry&) = default;
};

/// The first eight bytes of a key as a big-endian number, zeros where it is shorter. Different heads order as their
/// keys do; equal heads decide nothing ("a" and "a\0" share one), so the keys themselves must then be compared.
/// For places that keep the head beside the key: computing it anew costs as much as comparing.
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
