// The slices of one filter that are in memory.
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

/// Any number of the first slices of a filter, but at least one. More slices make it more accurate: they are added and
/// dropped one by one, without touching keys. The bytes belong to the caller, wherever they are.
///
/// Invariant: the probe answers from verified bytes of exactly the first `held` slices.
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
  /// Drops the last slice that is held, unless it is the only one.
  void drop();

  /// Where the next slice is: an offset in the body, and bytes. Empty when all are held.
  struct Place {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Place next() const;

  [[nodiscard]] std::size_t held() const { return held_; }
  [[nodiscard]] std::size_t all() const { return shape_.slices(); }
  /// The false-positive rate of the first so many slices.
  [[nodiscard]] double rate_with(std::size_t slices) const;
  [[nodiscard]] const FilterProbe& probe() const { return probe_; }

 private:
  HeldSlices() = default;
  void choose_probe();

  SlicedShape shape_;
  std::uint64_t first_checksum_ = 0;
  std::size_t held_ = 1;
  FilterProbe probe_;
};

}  // namespace tamis
