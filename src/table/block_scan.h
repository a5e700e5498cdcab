// Comparing all tags or all heads of a block at once: one body per instruction set, chosen once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tamis {

/// How the numbers of a list that ascends stand to a wanted one.
struct ScanCounts {
  std::size_t below = 0;
  std::size_t equal = 0;

  friend bool operator==(const ScanCounts&, const ScanCounts&) = default;
};

/// The two questions a block's arrays are asked.
struct BlockScan {
  /// Bit i tells whether tags[i] is `wanted`, i < 64. Reads 64 bytes whatever the caller needs of them.
  std::uint64_t (*match_tags)(const char* tags, std::uint8_t wanted);
  /// How many of `count` little-endian numbers of 16 bits are below `wanted`, and how many are it. Reads fewer than 64
  /// bytes past the end.
  ScanCounts (*count_heads)(const char* heads, std::size_t count, std::uint16_t wanted);
};

/// The bodies for the instruction set that Highway offers at this moment; a test can change it.
BlockScan best_block_scan();
/// Plain loops, with the same answers.
BlockScan plain_block_scan();

/// What blocks use: the plain loops until this program's static objects are initialised, the best bodies since. So a
/// store that a static object of another file opens works too.
extern BlockScan block_scan;

}  // namespace tamis
