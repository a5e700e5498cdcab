// What to keep in memory when not all indexes and filters fit: a pure function.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace tamis {

/// A filter of which any first columns can be in memory; or one that is whole or not there, or an index: these have one
/// column.
///
/// Threads: a value.
struct Resident {
  double weight = 0;               ///< Reads per unit of time without it.
  std::uint64_t columns = 1;       ///< At most; 0: it cannot be in memory.
  std::uint64_t first_bytes = 0;   ///< Memory of the first column, and of what is there with any.
  std::uint64_t column_bytes = 0;  ///< Of each column after it.
  double rest = 0;                 ///< The share of the reads that all columns leave; of several, that no column saves.

  [[nodiscard]] std::uint64_t bytes_with(std::uint64_t held) const {
    return held == 0 ? 0 : first_bytes + (held - 1) * column_bytes;
  }
  /// The reads that this many columns leave.
  [[nodiscard]] double reads_with(std::uint64_t held) const {
    if (held == 0) return weight;
    return weight * (columns == 1 ? rest : std::ldexp(1.0, -static_cast<int>(held)) + rest);
  }
};

/// How many columns of each.
struct ResidentPlan {
  std::vector<std::uint64_t> columns;
  std::uint64_t bytes = 0;
  double reads = 0;  ///< Per unit of time, that the plan leaves.
};

/// The columns that leave the fewest reads in `limit_bytes`. Each column saves half of what the one before it saved, so
/// taking columns by their gain per byte is optimal to within one column.
ResidentPlan plan_residents(std::span<const Resident> residents, std::uint64_t limit_bytes);

}  // namespace tamis
