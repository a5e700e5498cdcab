// The bytes of a table's index: docs/decisions/0008-index.md has the layout of a part and its rationale, 0055 that of
// an index with several, docs/FORMAT.md the hex.
//
//     part, or top                                        row of a group
//     offset size                                         offset size
//          0    4  1                                           0    8  offset of the group's first block: in the file;
//          4    4  g, groups                                             of the top's: in the section
//          8    4  blocks                                      8    4  offset of the body in the part
//         12    4  zero                                       12    2  n, blocks: 1 to 128
//         16 24 g  rows                                       14    2  p, bytes that the group's separators share
//          –    –  bodies, in order                           16    1  1: lengths and tails; 2: continuations; 4: wide
//     end - 8    8  XXH3-64 of all before, seeded             17    1  zero
//                                                             18    2  the high half of p, if wide; else zero
//                                                             20    4  zero
//
//     body: heads 8 n (big-endian), sizes 4 n, continuations 16 (flag 2), lengths 2 n (4 n if wide; flag 1), prefix p,
//     tails
//
// A group is wide if p or the length of a separator after it exceeds 65,535.
// All numbers little-endian, except heads. A separator is its group's prefix, its head without trailing zeros (or as
// much of it as its length says) and its tail.
//
// The section is one part, or several and then the top: an index of the parts, as if they were blocks. Then each part
// is one group, and only the last has fewer than 128 blocks. The separator of a part is that of its first block; that
// this block continues a key, only the top says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "entry/entry.h"

namespace tamis {

inline constexpr std::size_t kIndexGroupBlocks = 128;
inline constexpr std::size_t kIndexHeaderBytes = 16;
inline constexpr std::size_t kIndexRowBytes = 24;
inline constexpr std::size_t kIndexHeadBytes = 8;
inline constexpr std::size_t kIndexChecksumBytes = 8;
inline constexpr std::size_t kIndexContinuationBytes = kIndexGroupBlocks / 8;
inline constexpr std::uint64_t kMaxIndexGroupBytes = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::size_t kMaxNarrowIndexBytes = kMaxNarrowKeyBytes;  // Of p and of a length.
inline constexpr unsigned kIndexPrefixHighHalf = 16;                     // Bits 16 to 31 of the flags' word.

/// Flags of a group.
inline constexpr std::uint8_t kIndexHasLengths = 1;
inline constexpr std::uint8_t kIndexHasContinuations = 2;
inline constexpr std::uint8_t kIndexIsWide = 4;

}  // namespace tamis
