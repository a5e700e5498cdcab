// The trailer of every block in a table's file. Documented with hex in docs/FORMAT.md.
//
//     offset size
//          0    1  codec: 0 none, 1 lz4, 2 zstd
//          1    4  bytes of the block before it was compressed
//          5    8  XXH3-64 of the stored block and the five bytes above, seeded with table number and offset
//
// All numbers little-endian. The seed makes a block valid only in its place: a block written or read at another offset,
// or in another table, is detected, while links and renames of the file do not matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/hash.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::size_t kBlockTrailerBytes = 13;
/// For a block, compressed or not, so that with its trailer its length fits 32 bits.
inline constexpr std::uint64_t kMaxBlockBytes = 0xffff'ffff - kBlockTrailerBytes;

/// The checksum seed of anything that begins at this offset of this table.
constexpr std::uint64_t block_checksum_seed(std::uint64_t table_number, std::uint64_t offset) {
  return remix(table_number) + offset;
}

/// How a block is stored.
struct BlockTrailer {
  std::uint8_t codec = 0;
  std::uint32_t block_bytes = 0;  ///< Before compression.

  friend bool operator==(const BlockTrailer&, const BlockTrailer&) = default;
};

/// Appends the trailer after the stored block, which is `to` from `begin` on.
void append_block_trailer(std::string& to, std::size_t begin, const BlockTrailer& trailer, std::uint64_t seed);

/// Whether `stored` (block and trailer) has a valid checksum; for callers that try many positions.
bool has_block_checksum(Bytes stored, std::uint64_t seed);

/// The trailer of `stored` (block and trailer), after verifying the checksum. The caller checks whether its codec is
/// known. `name` and `offset` are for the message.
Result<BlockTrailer> verify_block_trailer(Bytes stored, std::uint64_t seed, std::string_view name,
                                          std::uint64_t offset);

}  // namespace tamis
