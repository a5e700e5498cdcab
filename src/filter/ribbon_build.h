// Building a ribbon filter: layers, list, and the solution of the equations.
#pragma once

#include <cstdint>
#include <span>

#include "filter/filter_image.h"
#include "filter/ribbon_band.h"
#include "filter/ribbon_layout.h"

namespace tamis {

/// A size that a build with this many columns keeps to for any keys, and for hashed keys without giving anything up.
std::uint64_t most_ribbon_bytes(std::uint64_t keys, std::uint32_t columns);

/// The rate of a filter of that many hashed keys. The list adds less than 1/1024 of it.
double planned_ribbon_rate(std::uint64_t keys, std::uint32_t columns);

/// Never larger than `most_bytes`, which must be enough for as many hashes, and never fails but for kNotSupported on
/// memory. The bytes follow from the set of hashes and the two numbers alone: not from the order of the hashes, and not
/// from the machine.
Result<FilterImage> build_ribbon(std::span<std::uint64_t> hashes, std::uint32_t columns, std::uint64_t most_bytes);

/// Back substitution: from the last row to the first, the value of each row from its equation and the 63 rows after it.
/// Free rows are 0. Writes the shape's blocks; the band must have rows for the last one as if it were full.
void solve_ribbon(const RibbonBand& band, const RibbonShape& shape, MutableBytes out);

}  // namespace tamis
