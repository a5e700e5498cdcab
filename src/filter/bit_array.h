// Shared by kinds that are bit arrays: counting, union, intersection.
#pragma once

#include <bit>
#include <cstdint>

#include "base/bytes.h"
#include "base/check.h"
#include "filter/filter_image.h"

namespace tamis {

inline std::uint64_t count_set_bits(Bytes bits) {
  std::uint64_t count = 0;
  std::size_t at = 0;
  for (; at + 8 <= bits.size(); at += 8) count += std::popcount(load_le<std::uint64_t>(bits.data() + at));
  for (; at < bits.size(); ++at) count += std::popcount(std::to_integer<unsigned>(bits[at]));
  return count;
}

/// FilterKind::merge and intersect for kinds whose body is a plain bit array.
inline Status unite_bodies(FilterImage& image, const FilterImage& other) {
  const MutableBytes into = image.mutable_body();
  TAMIS_CHECK(into.size() == other.body().size());
  for (std::size_t i = 0; i < into.size(); ++i) into[i] |= other.body()[i];
  return {};
}

inline Status intersect_bodies(FilterImage& image, const FilterImage& other) {
  const MutableBytes into = image.mutable_body();
  TAMIS_CHECK(into.size() == other.body().size());
  for (std::size_t i = 0; i < into.size(); ++i) into[i] &= other.body()[i];
  return {};
}

}  // namespace tamis
