// Classic Bloom filters: the probe positions of a key in an array of m cells, and the choice of m and k.
#pragma once

#include <cstdint>

#include "base/hash.h"
#include "tamis/filter_math.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::uint32_t kMaxBloomHashes = 64;

/// Calls f(cell) for each probe of the key until it returns false; returns whether none did. Probe i is fast_range(hash
/// · g^(i+1), cells) with g the odd golden-ratio constant. Multiplying again for each probe is as accurate as
/// independent hashes; h1 + i·h2 is up to 11 times worse on small filters.
template <typename Function>
bool each_bloom_probe(std::uint64_t hash, std::uint64_t cells, std::uint32_t hashes, Function f) {
  for (std::uint32_t i = 0; i < hashes; ++i) {
    hash *= 0x9e3779b97f4a7c15U;
    if (!f(fast_range(hash, cells))) return false;
  }
  return true;
}

inline bool test_bloom_bits(const std::byte* bits, std::uint64_t bit_count, std::uint32_t hashes, std::uint64_t hash) {
  return each_bloom_probe(hash, bit_count, hashes, [&](std::uint64_t bit) {
    return (bits[bit / 8] & (std::byte{1} << (bit % 8))) != std::byte{0};
  });
}

inline void set_bloom_bits(std::byte* bits, std::uint64_t bit_count, std::uint32_t hashes, std::uint64_t hash) {
  each_bloom_probe(hash, bit_count, hashes, [&](std::uint64_t bit) {
    bits[bit / 8] |= std::byte{1} << (bit % 8);
    return true;
  });
}

template <unsigned kBitsPerCell = 1>
void prefetch_bloom_cells(const std::byte* cells, std::uint64_t count, std::uint32_t hashes, std::uint64_t hash) {
  each_bloom_probe(hash, count, hashes, [&](std::uint64_t cell) {
    __builtin_prefetch(cells + cell / (8 / kBitsPerCell));
    return true;
  });
}

/// m cells and k probes per key.
struct BloomShape {
  std::uint64_t cells = 64;  ///< A multiple of 64.
  std::uint32_t hashes = 1;
  double rate = 0;  ///< Predicted for the planned number of keys.
};

/// The fewest cells for a rate of at most `rate`, 1e-18 ≤ rate < 1.
BloomShape bloom_shape_for_rate(std::uint64_t keys, double rate);
/// For any measure, with `bits_per_cell` bits per cell; kNotSupported, naming `kind`, if impossible.
Result<BloomShape> bloom_shape(std::string_view kind, std::uint64_t keys, SizeTarget target, double bits_per_cell);

}  // namespace tamis
