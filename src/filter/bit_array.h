// What the kinds that are arrays of bits share: counting, union, intersection.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"

namespace tamis {

inline std::uint64_t count_set_bits(Bytes bits) {
  std::uint64_t count = 0;
  std::size_t at = 0;
  for (; at + 8 <= bits.size(); at += 8) count += std::popcount(load_le<std::uint64_t>(bits.data() + at));
  for (; at < bits.size(); ++at) count += std::popcount(std::to_integer<unsigned>(bits[at]));
  return count;
}

inline void unite_bits(MutableBytes into, Bytes other) {
  TAMIS_CHECK(into.size() == other.size());
  for (std::size_t i = 0; i < into.size(); ++i) into[i] |= other[i];
}

inline void intersect_bits(MutableBytes into, Bytes other) {
  TAMIS_CHECK(into.size() == other.size());
  for (std::size_t i = 0; i < into.size(); ++i) into[i] &= other[i];
}

}  // namespace tamis
