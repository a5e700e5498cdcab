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

/// One equation per row at most. The equation of a row says that the rows chosen by its coefficients (bit i: row + i)
/// add up to its sum; bit 0 is set, and coefficients of 0 mean that the row is free.
///
/// Threads: one at a time.
class RibbonBand {
 public:
  /// Nullopt when the memory is not to be had.
  static std::optional<RibbonBand> with_rows(std::uint64_t rows);

  enum class Added : std::uint8_t { kPlaced, kKnown, kContradiction };
  /// Reduces the equation by those already there. What remains takes the first free row, or is 0 = 0 (a key that was
  /// known), or contradicts the rest and is not added. `row` becomes the row that was taken.
  Added add(std::uint64_t& row, std::uint64_t coefficients, std::uint32_t sum) {
    for (;;) {
      const std::uint64_t present = coefficients_[row];
      if (present == 0) {
        coefficients_[row] = coefficients;
        sums_[row] = sum;
        return Added::kPlaced;
      }
      coefficients ^= present;
      sum ^= sums_[row];
      if (coefficients == 0) return sum == 0 ? Added::kKnown : Added::kContradiction;
      const int zeros = __builtin_ctzll(coefficients);
      coefficients >>= zeros;
      row += static_cast<std::uint64_t>(zeros);
    }
  }
  /// Takes an equation away again; sound for the latest ones, on which no others were reduced.
  void remove(std::uint64_t row) {
    coefficients_[row] = 0;
    sums_[row] = 0;
  }

  [[nodiscard]] const std::uint64_t* coefficients() const { return coefficients_; }
  [[nodiscard]] const std::uint32_t* sums() const { return sums_; }

  /// How many of these rows have an equation.
  [[nodiscard]] std::uint64_t taken(std::uint64_t first, std::uint64_t count) const;
  [[nodiscard]] RibbonRows copy_rows(std::uint64_t first, std::uint64_t count) const;
  /// Puts these rows back and frees all rows after them.
  void replace_rows(std::uint64_t first, const RibbonRows& rows);

 private:
  RibbonBand() = default;
  AlignedBytes memory_;
  std::uint64_t rows_ = 0;
  std::uint64_t* coefficients_ = nullptr;  // Into memory_, as is sums_.
  std::uint32_t* sums_ = nullptr;
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
