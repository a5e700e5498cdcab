// Cells and hashes of a classic Bloom filter, shared by all kinds based on one.
#pragma once

#include <cstdint>

#include "tamis/filter_math.h"
#include "tamis/status.h"

namespace tamis {

/// m cells and k probes per key.
struct BloomShape {
  std::uint64_t cells = 64;  ///< A multiple of 64.
  std::uint32_t hashes = 1;
  double rate = 0;  ///< Predicted for the planned number of keys.
};

/// The best k for this many cells, rounded up to a multiple of 64.
BloomShape bloom_shape_with_cells(std::uint64_t keys, double cells);
/// The fewest cells for a rate of at most `rate`, 1e-18 ≤ rate < 1.
BloomShape bloom_shape_for_rate(std::uint64_t keys, double rate);
/// For any measure, with `bits_per_cell` bits per cell; kNotSupported, naming `kind`, if impossible.
Result<BloomShape> bloom_shape(std::string_view kind, std::uint64_t keys, SizeTarget target, double bits_per_cell);

}  // namespace tamis
