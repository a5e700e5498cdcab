// Building a ribbon filter: layers, list, and the solution of the equations.
#pragma once

#include <cstdint>
#include <span>

#include "filter/filter_image.h"
#include "filter/ribbon_band.h"
#include "filter/ribbon_layout.h"

namespace tamis {

/// A size that no build with this many columns exceeds; hashed keys fit in it without loss.
std::uint64_t most_ribbon_bytes(std::uint64_t keys, std::uint32_t columns);

/// The rate of a filter of this many hashed keys. The list adds less than 1/1024 of it.
double planned_ribbon_rate(std::uint64_t keys, std::uint32_t columns);

/// Never exceeds `most_bytes`, which must suffice for this many hashes, and fails only with kNotSupported, for lack of
/// memory. The bytes depend only on the set of hashes and the two numbers, not on the order of the hashes or the
/// machine.
Result<FilterImage> build_ribbon(std::span<std::uint64_t> hashes, std::uint32_t columns, std::uint64_t most_bytes);

/// Back substitution: from the last row to the first, computes each row from its equation and the 63 rows after it.
/// Free rows are 0. Writes the shape's blocks; the band must have rows for a full last block.
void solve_ribbon(const RibbonBand& band, const RibbonShape& shape, MutableBytes out);

}  // namespace tamis
