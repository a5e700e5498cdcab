// Bits that many threads set and read at once. Nothing is ordered by them: whoever has to see a key that another thread
// added has synchronised with it by other means.
#pragma once

#include <array>
#include <cstdint>

#include "base/bytes.h"
#include "filter/filter_format.h"

namespace tamis {

// The compilers' functions instead of std::atomic_ref, which libc++ 14 does not have. Bodies are aligned to 64 bytes.

/// Sets the bits of a word of 8 bytes. Reads first: most bits of a filter in use are set, and a line that is only read
/// stays in all caches.
inline void set_shared_word(std::byte* bits, std::uint64_t word, std::uint64_t mask) {
  auto* at = reinterpret_cast<std::uint64_t*>(bits) + word;
  mask = load_le<std::uint64_t>(&mask);
  if ((__atomic_load_n(at, __ATOMIC_RELAXED) & mask) != mask) __atomic_fetch_or(at, mask, __ATOMIC_RELAXED);
}

inline bool test_shared_bit(const std::byte* bits, std::uint64_t bit) {
  const auto* byte = reinterpret_cast<const unsigned char*>(bits + bit / 8);
  return ((__atomic_load_n(byte, __ATOMIC_RELAXED) >> (bit % 8)) & 1) != 0;
}

/// Copies whole words of 8 bytes, both sides aligned.
inline void copy_shared_bits(Bytes from, MutableBytes to) {
  for (std::size_t at = 0; at + 8 <= from.size(); at += 8) {
    const auto* word = reinterpret_cast<const std::uint64_t*>(from.data() + at);
    *reinterpret_cast<std::uint64_t*>(to.data() + at) = __atomic_load_n(word, __ATOMIC_RELAXED);
  }
}

/// How threads share a kind whose body is bits.
struct SharedBits {
  void (*add)(const FilterHeader& header, std::byte* body, std::uint64_t hash) = nullptr;
  bool (*test)(const FilterHeader& header, const std::byte* body, std::uint64_t hash) = nullptr;
};

/// `kEachBit(header, hash, f)` calls f(bit) for each bit of a key until it returns false; it returns whether none did.
/// If the bits of a key lie in one block of kBlockWords, those of one word are set together: what an atomic change
/// costs does not depend on the number of bits.
template <auto kEachBit, std::size_t kBlockWords>
constexpr SharedBits shared_bits() {
  return {.add =
              [](const FilterHeader& header, std::byte* body, std::uint64_t hash) {
                std::array<std::uint64_t, kBlockWords> masks = {};
                std::uint64_t block = 0;
                kEachBit(header, hash, [&](std::uint64_t bit) {
                  const std::uint64_t word = bit / 64;
                  const std::uint64_t mask = std::uint64_t{1} << (bit % 64);
                  if constexpr (kBlockWords == 1) {
                    set_shared_word(body, word, mask);
                  } else {
                    block = word / kBlockWords;
                    masks[word % kBlockWords] |= mask;
                  }
                  return true;
                });
                for (std::size_t i = 0; i < kBlockWords; ++i) {
                  if (masks[i] != 0) set_shared_word(body, kBlockWords * block + i, masks[i]);
                }
              },
          .test =
              [](const FilterHeader& header, const std::byte* body, std::uint64_t hash) {
                return kEachBit(header, hash, [&](std::uint64_t bit) { return test_shared_bit(body, bit); });
              }};
}

}  // namespace tamis
