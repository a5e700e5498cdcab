// Compares all tags or all heads of a block at once: one implementation per instruction set, chosen once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tamis {

/// How an ascending list compares with a wanted number.
struct ScanCounts {
  std::size_t below = 0;
  std::size_t equal = 0;

  friend bool operator==(const ScanCounts&, const ScanCounts&) = default;
};

/// The two queries of a block's arrays.
struct BlockScan {
  /// Bit i: tags[i] equals `wanted`, i < 64. Always reads 64 bytes.
  std::uint64_t (*match_tags)(const char* tags, std::uint8_t wanted);
  /// How many of `count` little-endian 16-bit numbers are below `wanted`, and how many equal it. Reads fewer than 64
  /// bytes past the end.
  ScanCounts (*count_heads)(const char* heads, std::size_t count, std::uint16_t wanted);
};

/// The implementation for the best instruction set.
BlockScan best_block_scan();
/// Plain loops, with the same answers.
BlockScan plain_block_scan();

/// What blocks use: the plain loops until this program's static objects are initialised, then the best implementation.
/// So a static object of another file can open a store.
extern BlockScan block_scan;

}  // namespace tamis
