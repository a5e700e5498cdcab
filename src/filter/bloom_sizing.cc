#include "filter/bloom_sizing.h"

#include <algorithm>
#include <cmath>

#include "filter/bloom_probes.h"
#include "filter/sizing.h"

namespace tamis {

BloomShape bloom_shape_with_cells(std::uint64_t keys, double cells) {
  const double rounded = 64 * std::max(1.0, std::ceil(cells / 64));
  const auto n = static_cast<double>(std::max<std::uint64_t>(keys, 1));
  const std::uint32_t hashes = std::min(filter_math::bloom_hashes(rounded, n), kMaxBloomHashes);
  return {.cells = static_cast<std::uint64_t>(rounded),
          .hashes = hashes,
          .rate = filter_math::bloom_rate(rounded, hashes, static_cast<double>(keys))};
}

BloomShape bloom_shape_for_rate(std::uint64_t keys, double rate) {
  const auto n = static_cast<double>(std::max<std::uint64_t>(keys, 1));
  double cells = filter_math::bloom_bits(n, rate);
  BloomShape shape = bloom_shape_with_cells(keys, cells);
  // The formula assumes the best real k; an integer k, or few keys, need a bit more.
  while (shape.rate > rate) {
    cells = std::max(cells + 64, cells * 1.001);
    shape = bloom_shape_with_cells(keys, cells);
  }
  return shape;
}

Result<BloomShape> bloom_shape(std::string_view kind, std::uint64_t keys, SizeTarget target, double bits_per_cell) {
  constexpr double kMinRate = 1e-18;  // The limit of 64 hashes.
  switch (target.measure) {
    case SizeTarget::Measure::kRate:
      if (target.value < kMinRate) return cannot_reach(kind, target, "no filter kind");
      return bloom_shape_for_rate(keys, target.value);
    case SizeTarget::Measure::kBitsPerKey:
      return bloom_shape_with_cells(keys, target.value / bits_per_cell * static_cast<double>(keys));
    case SizeTarget::Measure::kMemory: break;
  }
  const double cells = 64 * std::floor(target.value * 8 / bits_per_cell / 64);
  if (cells < 64) return cannot_reach(kind, target, "a filter of more memory");
  return bloom_shape_with_cells(keys, cells);
}

}  // namespace tamis
