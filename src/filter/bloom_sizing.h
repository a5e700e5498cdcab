// Cells and hashes of classic Bloom filters, for every kind that is one at heart.
#pragma once

#include <cstdint>

#include "tamis/filter_math.h"
#include "tamis/status.h"

namespace tamis {

/// m cells of which a key uses k.
struct BloomShape {
  std::uint64_t cells = 64;  ///< A multiple of 64.
  std::uint32_t hashes = 1;
  double rate = 0;  ///< Predicted for the keys it was sized for.
};

/// The best k for this many cells, rounded up to a multiple of 64.
BloomShape bloom_shape_with_cells(std::uint64_t keys, double cells);
/// The fewest cells for at most this rate, 1e-18 ≤ rate < 1.
BloomShape bloom_shape_for_rate(std::uint64_t keys, double rate);
/// By any measure, a cell taking `bits_per_cell` bits; kNotSupported naming `kind` where it cannot be.
Result<BloomShape> bloom_shape(std::string_view kind, std::uint64_t keys, SizeTarget target, double bits_per_cell);

}  // namespace tamis
