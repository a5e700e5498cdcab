// The keys of a ribbon filter as linear equations in echelon form: what is kept of them while it is built.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_bytes.h"
#include "filter/ribbon_layout.h"

namespace tamis {

/// A copy of some rows of a band.
struct RibbonRows {
  std::vector<std::uint64_t> coefficients;
  std::vector<std::uint32_t> sums;
};

/// The rows chosen by the coefficients (bit i: row + i; bit 0 is set) add up to the sum.
struct RibbonEquation {
  std::uint64_t row;
  std::uint64_t coefficients;
  std::uint32_t sum;
};

/// Up to one equation for each row.
///
/// Invariant: coefficients are odd, or 0 for a row that is free.
///
/// Threads: one at a time.
class RibbonBand {
 public:
  /// Nullopt when the memory is not to be had.
  static std::optional<RibbonBand> with_rows(std::uint64_t rows);

  /// Reduces each equation by those already there. What remains takes the first free row, or is 0 = 0 (a key that was
  /// there already), or contradicts the others; then false is returned and the band is as before.
  bool add_all_or_none(std::span<const RibbonEquation> equations);

  [[nodiscard]] const std::uint64_t* coefficients() const { return coefficients_; }
  [[nodiscard]] const std::uint32_t* sums() const { return sums_; }

  /// How many of these rows have an equation.
  [[nodiscard]] std::uint64_t taken(std::uint64_t first, std::uint64_t count) const;
  [[nodiscard]] RibbonRows copy_rows(std::uint64_t first, std::uint64_t count) const;
  /// Puts these rows back and frees all rows after them.
  void replace_rows(std::uint64_t first, const RibbonRows& rows);

 private:
  RibbonBand() = default;
  template <std::size_t kLanes>
  bool add_in_lanes(RibbonEquation* lanes, std::span<const RibbonEquation> rest);
  AlignedBytes memory_;
  std::uint64_t rows_ = 0;
  std::uint64_t* coefficients_ = nullptr;  // Into memory_, as is sums_.
  std::uint32_t* sums_ = nullptr;
  std::vector<std::uint64_t> placed_;  // Rows taken by the latest add_all_or_none.
  std::size_t placed_count_ = 0;
};

/// Brings keys into the order of their starts in a layer, as far as `band_ribbon_layer` needs it. Makes a copy of them
/// for a moment.
void order_for_ribbon_layer(std::span<std::uint64_t> keys, const RibbonShape& shape, std::size_t layer);

/// Adds a layer's keys, in the order that `order_for_ribbon_layer` gave them, to the band, bucket by bucket: in each as
/// many as it can take, and the mark says which. The others are appended to `sent_on`, as keys of the next layer.
/// Which keys are sent on follows from the set of keys, not from their order.
void band_ribbon_layer(RibbonBand& band, std::span<const std::uint64_t> keys, const RibbonShape& shape,
                       std::size_t layer, std::byte* marks, std::vector<std::uint64_t>& sent_on);

}  // namespace tamis
