// The probe positions of a key in an array of m cells, shared by all kinds based on a classic Bloom filter.
#pragma once

#include <cstdint>

#include "base/hash.h"

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

inline void prefetch_bloom_bits(const std::byte* bits, std::uint64_t bit_count, std::uint32_t hashes,
                                std::uint64_t hash) {
  each_bloom_probe(hash, bit_count, hashes, [&](std::uint64_t bit) {
    __builtin_prefetch(bits + bit / 8);
    return true;
  });
}

}  // namespace tamis
