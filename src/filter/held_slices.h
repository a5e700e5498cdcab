// The slices of one filter that are in memory, and their columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "filter/filter_format.h"
#include "filter/sliced_layout.h"
#include "tamis/filter.h"
#include "tamis/status.h"

namespace tamis {

/// Any number of the first slices of a filter, but at least one. More slices make it more accurate: they are added one
/// by one, without touching keys. The bytes belong to the caller, wherever they are.
///
/// The last slice may be held in part: its first columns. They lie side by side in a block, so a part is a copy.
///
/// Invariant: the probe answers from verified bytes of exactly the columns that are held.
///
/// Threads: one at a time. A copy of the probe may be used by any, for as long as the slices that were held when it was
/// taken are in memory.
class HeldSlices {
 public:
  /// `first` is the first slice, whose bytes were verified with the header; error messages use `name`.
  static Result<HeldSlices> open(const FilterHeader& header, Bytes first, std::string_view name);

  /// Adds the next slice: the bytes of next(). Must not be called when all are held. kCorruption if they are damaged;
  /// then nothing has changed.
  Status add(Bytes slice, std::string_view name);

  /// The bytes that a copy with so many columns takes: at least one, and no more than are held.
  [[nodiscard]] std::uint64_t bytes_of_copy(std::uint32_t columns) const;
  /// The same filter with its first `columns` columns, in `to`, which has bytes_of_copy and begins at a cache line.
  [[nodiscard]] HeldSlices copy(std::uint32_t columns, MutableBytes to) const;

  /// Where the next slice is: an offset in the body, and bytes. Empty when all are held, or the last one in part.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Place next() const;

  [[nodiscard]] std::size_t held() const { return held_; }
  [[nodiscard]] std::size_t all() const { return shape_.slices(); }
  /// The columns held, and all; without the partial one.
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  [[nodiscard]] std::uint32_t all_columns() const { return shape_.whole_columns(); }
  /// The false-positive rate of the first so many slices.
  [[nodiscard]] double rate_with(std::size_t slices) const;
  [[nodiscard]] const FilterProbe& probe() const { return probe_; }

 private:
  HeldSlices() = default;
  [[nodiscard]] bool holds_part() const;
  void choose_probe();

  SlicedShape shape_;
  std::uint64_t first_checksum_ = 0;
  std::size_t held_ = 1;
  std::uint32_t columns_ = 0;
  FilterProbe probe_;
};

}  // namespace tamis
