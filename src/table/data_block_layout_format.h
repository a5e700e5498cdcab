// The layout of a data block, shared by the builder and the reader.
//
//     offset     size
//          0        2  n, entries, at least 1                    entry
//          2        2  p, bytes all keys share; 0 when n = 1     varint  s, bytes of the key after the prefix
//          4        8  base sequence, the lowest                 varint  (sequence - base) * 8 + kind
//         12        n  tags                                      max(s, 2) - 2 bytes: the key after prefix and head
//         12 + n   2n  heads                                     1 byte: the kind, if the bits above are 7
//         12 + 3n  2n  offsets of the entries                    the value, up to the next entry or the end
//         12 + 5n   p  the shared prefix
//         12 + 5n + p  zeros, fewer than a page: padding (Feature::kPaddedBlocks)
//         the first offset: the entries
//
// A key of more than 65,535 bytes is alone: p + s may exceed that only if n = 1. The byte of the kind is next to the
// value, so that a scan takes it for a part of the value (EntryKind::kInValue) and needs no branch for it.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/bytes.h"

namespace tamis::data_block {

inline constexpr std::size_t kPrefixLengthAt = 2;
inline constexpr std::size_t kBaseSequenceAt = 4;
inline constexpr std::size_t kHeaderBytes = 12;
inline constexpr std::size_t kTagsAt = kHeaderBytes;
inline constexpr std::size_t kHeadBytes = 2;
inline constexpr unsigned kKindBits = 3;
inline constexpr std::uint64_t kKindMask = 7;
inline constexpr std::uint8_t kKindEscape = 7;  ///< The kind is in the byte before the value.
/// The sequences of one block differ by less than this.
inline constexpr std::uint64_t kSequenceSpan = std::uint64_t{1} << (64 - kKindBits);

inline constexpr std::size_t kPageBytes = 4096;  ///< What a disk and the kernel read at least.

constexpr std::size_t heads_at(std::size_t entries) { return kTagsAt + entries; }
constexpr std::size_t offsets_at(std::size_t entries) { return kTagsAt + 3 * entries; }
constexpr std::size_t prefix_at(std::size_t entries) { return kTagsAt + 5 * entries; }

/// Whether the entries may begin at `first_offset`: after the prefix, and padding of less than a page.
constexpr bool may_begin_at(std::size_t first_offset, std::size_t entries, std::size_t prefix_bytes) {
  const std::size_t prefix_end = prefix_at(entries) + prefix_bytes;
  return first_offset >= prefix_end && first_offset - prefix_end < kPageBytes;
}

/// The first two bytes after the prefix as a big-endian number, padded with zeros.
inline std::uint16_t head_of(std::string_view suffix) {
  if (suffix.size() >= kHeadBytes) return load_be<std::uint16_t>(suffix.data());
  return suffix.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(static_cast<unsigned char>(suffix[0]) << 8);
}
/// The bits of a head that are zero because the key ends earlier.
constexpr std::uint16_t unused_head_bits(std::uint64_t suffix_bytes) {
  return suffix_bytes >= kHeadBytes ? 0 : static_cast<std::uint16_t>(0xffff >> (8 * suffix_bytes));
}
constexpr std::size_t rest_bytes_of(std::size_t suffix_bytes) {
  return std::max(suffix_bytes, kHeadBytes) - kHeadBytes;
}

/// As memcpy, which would be a call for an unknown length; most parts of keys are short.
inline void copy_bytes(char* to, const char* from, std::size_t count) {
  if (count > 16) {
    std::memcpy(to, from, count);
  } else if (count >= 8) {  // Two words that overlap.
    const auto first = load_le<std::uint64_t>(from);
    const auto last = load_le<std::uint64_t>(from + count - 8);
    store_le(to, first);
    store_le(to + count - 8, last);
  } else {
    for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
  }
}

/// As memcmp() == 0, for the same reason.
inline bool equal_bytes(const char* a, const char* b, std::size_t count) {
  if (count > 16) return std::memcmp(a, b, count) == 0;
  const auto differ = [&]<typename Word>(Word, std::size_t last) {  // Two words that overlap.
    return (load_le<Word>(a) ^ load_le<Word>(b)) | (load_le<Word>(a + last) ^ load_le<Word>(b + last));
  };
  if (count >= 8) return differ(std::uint64_t{}, count - 8) == 0;
  if (count >= 4) return differ(std::uint32_t{}, count - 4) == 0;
  return count == 0 || (a[0] == b[0] && a[count / 2] == b[count / 2] && a[count - 1] == b[count - 1]);
}

/// As memcpy, but may read and write 16 bytes even if asked for fewer. Returns the end of the copy.
inline char* copy_with_slack(char* to, const char* from, std::size_t count) {
  if (count <= 16) [[likely]] {
    std::memcpy(to, from, 16);
  } else {
    std::memcpy(to, from, count);
  }
  return to + count;
}

/// A varint, with eight readable bytes from its start. As load_varint, but without a branch on the length of
/// multi-byte varints, which differs from entry to entry.
inline std::uint64_t load_varint_with_slack(const char*& from) {
  const auto word = load_le<std::uint64_t>(from);
  if ((word & 0x80) == 0) {
    ++from;
    return word & 0x7f;
  }
  const std::uint64_t ends = ~word & 0x8080'8080'8080'8080U;  // A bit for each byte that ends a varint.
  if (ends == 0) [[unlikely]]
    return load_varint(from);
  const auto last = static_cast<unsigned>(std::countr_zero(ends));
  from += (last + 1) / 8;
  std::uint64_t bits = word & (~std::uint64_t{0} >> (63 - last)) & 0x7f7f'7f7f'7f7f'7f7fU;
  bits = (bits & 0x007f'007f'007f'007fU) | (bits & 0x7f00'7f00'7f00'7f00U) >> 1;  // Fourteen bits of each sixteen.
  bits = (bits & 0x0000'3fff'0000'3fffU) | (bits & 0x3fff'0000'3fff'0000U) >> 2;
  return (bits & 0x0fff'ffffU) | (bits & 0x0fff'ffff'0000'0000U) >> 4;
}

/// False if it does not end before `end` or has more than 64 bits. Advances `from` past it.
inline bool read_varint(const char*& from, const char* end, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && from != end; shift += 7) {
    const auto next = static_cast<unsigned char>(*from++);
    if (shift == 63 && next > 1) return false;
    value |= static_cast<std::uint64_t>(next & 0x7f) << shift;
    if (next < 0x80) return true;
  }
  return false;
}

}  // namespace tamis::data_block
