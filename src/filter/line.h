// Lines and their probes, for all instruction sets. See line.cc for the layout.
#pragma once

#include <array>
#include <cstdint>

#include "base/hash.h"

namespace tamis {

inline constexpr std::uint32_t kLineWords = 16;  // 32-bit words: 512 bits, a cache line.
inline constexpr std::uint32_t kLineMostHashes = 16;
inline constexpr std::uint32_t kLineGolden = 0x9e3779b9U;

/// The probe's parameters in order of use; `active` first, so that its 64 bytes are one aligned load.
struct LineState {
  alignas(64) std::array<std::uint32_t, kLineMostHashes> active;  // 1 for the first `hashes` lanes, 0 for the rest.
  const std::uint32_t* lines;
  std::uint32_t line_count;
  std::uint32_t hashes;
};

inline std::uint32_t line_of(std::uint64_t hash, std::uint32_t line_count) {
  return fast_range32(static_cast<std::uint32_t>(hash >> 32), line_count);
}

/// Calls f(word, bit) for each probe of the key. Probe i is x·golden^i: its top 4 bits the word, the next 5 the bit.
template <typename Function>
void each_line_probe(std::uint64_t hash, std::uint32_t hashes, Function f) {
  auto x = static_cast<std::uint32_t>(hash);
  for (std::uint32_t i = 0; i < hashes; ++i) {
    f(x >> 28, (x >> 23) & 31);
    x *= kLineGolden;
  }
}

}  // namespace tamis
