// The bytes of a range filter. Documented in docs/FORMAT.md; frozen by tests/golden/ranges.
//
//     offset size
//          0    8  magic "TAMISRNG"
//          8    2  version, 1
//         10    2  zero
//         12    4  groups
//         16    8  keys
//         24    8  checksum: XXH3-64 of all that follows, seeded with that of bytes 0 … 23, which is seeded with the
//                  keyed hash of the magic
//         32   4g  where each group begins
//                  groups, without gaps
//
//     group
//          0    4  codes, n
//          4    2  bytes of the separator
//          6    2  bytes of the prefix, which the separator begins with
//          8    1  positions
//          9    1  low bits of a code, l
//         10    1  1: no key goes on after the positions; otherwise 0
//         11    –  the separator: above all keys of the group before, not above any of this one
//          –    –  positions
//          –    –  the low bits of the codes, least significant bit first, filled up to whole bytes
//          –    –  n ones and n zeros, filled up to 8 bytes with zeros: for code i, bit i + (code >> l) is set
//
//     position: what the keys of the group have at the same place after the prefix
//          0    1  the smallest byte
//          1    1  the largest byte
//          2    1  flags: 1 some keys end here, 2 a bitmap follows
//          3    –  from the smallest to the largest, a bit for each byte that occurs; all do without a bitmap
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"

namespace tamis::range_filter {

inline constexpr std::string_view kMagic = "TAMISRNG";
inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 32;
inline constexpr std::size_t kChecksumAt = 24;
inline constexpr std::size_t kGroupHeadBytes = 11;
inline constexpr std::size_t kPositionBytes = 3;
inline constexpr std::uint8_t kMayEnd = 1;
inline constexpr std::uint8_t kHasBitmap = 2;
inline constexpr std::uint32_t kMostLowBits = 40;
inline constexpr std::uint32_t kMostCodes = 4096;  // Of a group.

__extension__ using Wide = unsigned __int128;
inline constexpr Wide kMostNumbers = Wide{1} << 64;

/// `head` is what precedes the checksum.
inline std::uint64_t checksum_of(Bytes head, Bytes rest, const KeyHasher& hasher) {
  return seeded_checksum64(rest, seeded_checksum64(head, hasher(kMagic)));
}

/// One place of the keys of a group. Each byte that occurs there, and the end of a key, is a digit.
///
/// Threads: constant; reads bytes that outlive it.
class Position {
 public:
  explicit Position(const std::byte* at) : at_(at) {}

  [[nodiscard]] std::uint8_t smallest() const { return std::to_integer<std::uint8_t>(at_[0]); }
  [[nodiscard]] std::uint8_t largest() const { return std::to_integer<std::uint8_t>(at_[1]); }
  [[nodiscard]] std::uint8_t flags() const { return std::to_integer<std::uint8_t>(at_[2]); }
  [[nodiscard]] bool has_bitmap() const { return (flags() & kHasBitmap) != 0; }
  [[nodiscard]] std::uint32_t may_end() const { return flags() & kMayEnd; }
  [[nodiscard]] std::uint32_t span() const { return 1U + largest() - smallest(); }
  [[nodiscard]] std::size_t bytes() const { return kPositionBytes + (has_bitmap() ? (span() + 7) / 8 : 0); }
  /// The number of digits.
  [[nodiscard]] std::uint32_t radix() const { return may_end() + below(span()); }

  struct Digit {
    std::uint32_t value = 0;
    bool occurs = false;  // Otherwise the value is that of the next larger byte that does.
  };
  [[nodiscard]] Digit digit(std::uint8_t byte) const {
    if (byte < smallest()) return {may_end(), false};
    const std::uint32_t offset = std::uint32_t{byte} - smallest();
    if (offset >= span()) return {radix(), false};
    const bool occurs = !has_bitmap() || ((bitmap(offset / 8) >> offset % 8) & 1) != 0;
    return {may_end() + below(offset), occurs};
  }

 private:
  [[nodiscard]] unsigned bitmap(std::uint32_t i) const { return std::to_integer<unsigned>(at_[kPositionBytes + i]); }
  /// How many of the first so many bytes occur.
  [[nodiscard]] std::uint32_t below(std::uint32_t offset) const {
    if (!has_bitmap()) return offset;
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < offset / 8; ++i) count += static_cast<std::uint32_t>(std::popcount(bitmap(i)));
    if (offset % 8 == 0) return count;
    return count + static_cast<std::uint32_t>(std::popcount(bitmap(offset / 8) & ((1U << offset % 8) - 1)));
  }

  const std::byte* at_;
};

/// Numbers the keys of a group in their order: digits with a radix for each position. Keys that begin alike, as far as
/// positions go, have one number.
///
/// Threads: constant; reads bytes that outlive it.
class KeyNumbers {
 public:
  /// `is_whole`: no key of the group goes on after the positions.
  KeyNumbers(const std::byte* positions, std::uint32_t count, bool is_whole)
      : positions_(positions), count_(count), is_whole_(is_whole) {}

  /// What a key at or above `key` has at least as its number, given what follows the prefix of the group.
  [[nodiscard]] Wide first_from(std::string_view key) const {
    const Bound bound = bound_of(key);
    return bound.number + (bound.goes_on && is_whole_ ? 1 : 0);
  }
  /// One more than what a key below `key` has at most.
  [[nodiscard]] Wide end_before(std::string_view key) const {
    const Bound bound = bound_of(key);
    return bound.number + (bound.goes_on ? 1 : 0);
  }
  [[nodiscard]] Wide numbers() const {
    Wide product = 1;
    const std::byte* at = positions_;
    for (std::uint32_t i = 0; i < count_; ++i, at += Position(at).bytes()) product *= Position(at).radix();
    return product;
  }

 private:
  struct Bound {
    Wide number = 0;
    bool goes_on = false;  // Keys may have this number, and `key` goes on after the positions.
  };
  [[nodiscard]] Bound bound_of(std::string_view key) const {
    Wide number = 0;
    bool occurs = true;
    const std::byte* at = positions_;
    for (std::uint32_t i = 0; i < count_; ++i) {
      const Position position(at);
      at += position.bytes();
      number *= position.radix();
      if (!occurs || i >= key.size()) continue;
      const Position::Digit digit = position.digit(static_cast<std::uint8_t>(key[i]));
      number += digit.value;
      occurs = digit.occurs;
    }
    return {number, occurs && key.size() > count_};
  }

  const std::byte* positions_;
  std::uint32_t count_;
  bool is_whole_;
};

/// Codes of a group: blocks of n << l numbers, overlaid, each shifted by a keyed hash of its number.
class Codes {
 public:
  Codes(const KeyHasher& hasher, std::uint64_t codes, std::uint32_t low_bits)
      : hasher_(hasher), range_(codes << low_bits) {}

  [[nodiscard]] std::uint64_t range() const { return range_; }
  [[nodiscard]] std::uint64_t of(std::uint64_t number) const {
    const std::uint64_t shifted = shift_of(number / range_) + number % range_;
    return shifted < range_ ? shifted : shifted - range_;
  }

 private:
  [[nodiscard]] std::uint64_t shift_of(std::uint64_t block) const {
    char raw[8];
    store_le(raw, block);
    return fast_range(hasher_({raw, sizeof raw}), range_);
  }

  const KeyHasher& hasher_;
  std::uint64_t range_;
};

}  // namespace tamis::range_filter
