// Split blocks, shared by the split kind and Parquet's filters.
#pragma once

#include <array>
#include <cstdint>

#include "base/hash.h"

namespace tamis {

inline constexpr std::uint32_t kSplitWords = 8;  // 32-bit words: 256 bits.
inline constexpr std::size_t kSplitBlockBytes = 32;
inline constexpr std::array<std::uint32_t, kSplitWords> kSplitSalts = {
    0x47b6137bU, 0x44974d91U, 0x8824ad5bU, 0xa2b7289dU, 0x705495c7U, 0x2df1424bU, 0x9efc4947U, 0x5c6bfb31U};

/// The probe's parameters: the first block and their number.
struct SplitState {
  const std::uint32_t* blocks;
  std::uint32_t block_count;
};

inline std::uint32_t split_block_of(std::uint64_t hash, std::uint32_t block_count) {
  return fast_range32(static_cast<std::uint32_t>(hash >> 32), block_count);
}

/// The bit of this key in word i of its block.
inline std::uint32_t split_bit(std::uint64_t hash, std::uint32_t i) {
  return (static_cast<std::uint32_t>(hash) * kSplitSalts[i]) >> 27;
}

}  // namespace tamis
