// What is known about a filter in slices without reading it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "filter/filter_format.h"

namespace tamis {

inline constexpr std::uint32_t kSliceColumns = 4;  // docs/decisions/0054-sliced-ribbon.md

/// What decides how many columns of a filter in slices are worth their memory.
///
/// Threads: a value.
struct SlicedSizes {
  std::uint64_t columns = 0;       ///< Whole ones.
  std::uint64_t first_bytes = 0;   ///< Of header and first slice.
  std::uint64_t column_bytes = 0;  ///< Of one column.
  double list_rate = 0;            ///< The share of absent keys that the list passes; no column lowers it.

  /// Of a container; nullopt if its body has no slices, or is a single list.
  static std::optional<SlicedSizes> of(Bytes container);

  /// The memory of the first so many columns, at least one.
  [[nodiscard]] std::uint64_t bytes_with(std::uint64_t held) const {
    const std::uint64_t of_all = first_bytes - kFilterHeaderBytes;  // Marks and list are there with any column.
    return of_all - std::min<std::uint64_t>(columns, kSliceColumns) * column_bytes + held * column_bytes;
  }
  /// Their false-positive rate; 1 without any.
  [[nodiscard]] double rate_with(std::uint64_t held) const {
    return held == 0 ? 1 : std::ldexp(1.0, -static_cast<int>(held)) + list_rate;
  }

  friend bool operator==(const SlicedSizes&, const SlicedSizes&) = default;
};

}  // namespace tamis
