// Comparing many small numbers at once, one body per instruction set, chosen once.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tamis::layout {

struct SimdFunctions {
  /// Bit i tells whether bytes[i] is `wanted`, i < 64. Reads 64 bytes whatever the caller needs of them.
  std::uint64_t (*match_bytes)(const char* bytes, std::uint8_t wanted);
  /// How many of `count` little-endian numbers of 16 bits are below `wanted`. Reads up to 64 bytes past the end.
  std::size_t (*count_below16)(const char* numbers, std::size_t count, std::uint16_t wanted);
  /// How many of `count` numbers are at most `wanted`; `count` is a multiple of 8.
  std::size_t (*count_up_to64)(const std::uint64_t* numbers, std::size_t count, std::uint64_t wanted);
};

/// The best set of this machine.
const SimdFunctions& simd();
/// Plain loops, with the same answers.
const SimdFunctions& plain_simd();
/// The best set again, without a call in front of each use.
inline const SimdFunctions kSimd = simd();

}  // namespace tamis::layout
