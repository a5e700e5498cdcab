// Shared by kinds that are bit arrays: counting, union, intersection, estimates.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <functional>

#include "base/bytes.h"
#include "base/check.h"
#include "filter/filter_kind.h"

namespace tamis {

inline std::uint64_t count_set_bits(Bytes bits) {
  std::uint64_t count = 0;
  std::size_t at = 0;
  for (; at + 8 <= bits.size(); at += 8) count += std::popcount(load_le<std::uint64_t>(bits.data() + at));
  for (; at < bits.size(); ++at) count += std::popcount(std::to_integer<unsigned>(bits[at]));
  return count;
}

/// FilterKind::merge (std::bit_or) and intersect (std::bit_and) for kinds whose body is a plain bit array.
template <typename Join>
Status join_bodies(FilterImage& image, const FilterImage& other) {
  const MutableBytes into = image.mutable_body();
  TAMIS_CHECK(into.size() == other.body().size());
  std::transform(into.begin(), into.end(), other.body().begin(), into.begin(), Join());
  return {};
}

/// FilterKind::estimate for kinds whose body is blocks of `block_bytes`. rate_of(block, set) is the rate of one block
/// with `set` bits set.
template <typename RateOf>
FilterEstimate estimate_blocks(const FilterImage& image, std::size_t block_bytes, RateOf rate_of) {
  const auto block_bits = static_cast<double>(8 * block_bytes);
  const Bytes body = image.body();
  double rate = 0;
  double keys = 0;
  double all_set = 0;
  for (std::size_t at = 0; at < body.size(); at += block_bytes) {
    const Bytes block = body.subspan(at, block_bytes);
    const auto set = static_cast<double>(count_set_bits(block));
    all_set += set;
    rate += rate_of(block, set);
    keys += std::min(filter_math::bloom_keys_from_fill(block_bits, image.header.hashes, set), block_bits);
  }
  const auto blocks = static_cast<double>(image.header.numbers[0]);
  return {.fill = all_set / (blocks * block_bits), .keys = keys, .rate = rate / blocks};
}

}  // namespace tamis
