// Building a ribbon filter: its keys as linear equations in echelon form, in layers, their solution, and the list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/aligned_bytes.h"
#include "filter/filter_image.h"
#include "filter/ribbon_layout.h"

namespace tamis {

/// A copy of some rows of a band.
struct RibbonRows {
  std::vector<std::uint64_t> coefficients;
  std::vector<std::uint32_t> sums;
};

/// The rows selected by the coefficients (bit i: row + i; bit 0 is set) xor to the sum.
struct RibbonEquation {
  std::uint64_t row;
  std::uint64_t coefficients;
  std::uint32_t sum;
};

/// At most one equation per row.
///
/// Invariant: coefficients are odd, or 0 for a free row.
///
/// Threads: one at a time.
class RibbonBand {
 public:
  /// Nullopt if memory is short.
  static std::optional<RibbonBand> with_rows(std::uint64_t rows);

  /// Reduces each equation by those already present. The rest takes the first free row, or is 0 = 0 (a duplicate key),
  /// or contradicts the others; then this returns false and the band is unchanged.
  bool add_all_or_none(std::span<const RibbonEquation> equations);

  [[nodiscard]] const std::uint64_t* coefficients() const { return coefficients_; }
  [[nodiscard]] const std::uint32_t* sums() const { return sums_; }

  /// How many of these rows have an equation.
  [[nodiscard]] std::uint64_t taken(std::uint64_t first, std::uint64_t count) const;
  [[nodiscard]] RibbonRows copy_rows(std::uint64_t first, std::uint64_t count) const;
  /// Restores these rows and frees all rows after them.
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

/// Orders keys by their starts in a layer, as far as `band_ribbon_layer` needs it. Copies them temporarily.
void order_for_ribbon_layer(std::span<std::uint64_t> keys, const RibbonShape& shape, std::size_t layer);

/// Adds a layer's keys, in the order from `order_for_ribbon_layer`, to the band, bucket by bucket: as many as fit in
/// each, recorded in its mark. Appends the others to `sent_on`, as keys of the next layer. Which keys are bumped
/// depends on the set of keys, not on their order.
void band_ribbon_layer(RibbonBand& band, std::span<const std::uint64_t> keys, const RibbonShape& shape,
                       std::size_t layer, std::byte* marks, std::vector<std::uint64_t>& sent_on);

/// What a build of given keys depends on.
struct RibbonPlan {
  std::uint32_t columns = 0;
  /// Of several attempts, the one is kept whose marks, list and first so many columns are smallest; 0: all columns.
  std::uint32_t first_columns = 0;
  /// Starts of the first layer: 2 % fewer than keys, which balances lost rows (0.4 %) against second lookups (2.4 %).
  double starts_per_key = 0.98;
};

/// A size that no build exceeds; hashed keys fit in it without loss.
std::uint64_t most_ribbon_bytes(std::uint64_t keys, const RibbonPlan& plan);
inline std::uint64_t most_ribbon_bytes(std::uint64_t keys, std::uint32_t columns) {
  return most_ribbon_bytes(keys, RibbonPlan{.columns = columns});
}

/// Rows that every build has, whatever its keys.
std::uint64_t least_ribbon_rows(std::uint64_t keys, const RibbonPlan& plan);

/// The rate of a filter of this many hashed keys. The list adds less than 1/1024 of it.
double planned_ribbon_rate(std::uint64_t keys, std::uint32_t columns);

/// A set of keys as equations, ready to be solved, and what else a filter of them needs.
struct RibbonSystem {
  RibbonShape shape;
  RibbonBand band;
  std::vector<std::byte> marks;
  std::vector<std::uint64_t> list;  // Fingerprints, ascending.

  /// Marks and list as they follow each other in a body.
  void write_marks_and_list(MutableBytes out) const;
};

/// Never takes more than `most_bytes`, at least most_ribbon_bytes. The system depends only on the set of hashes, the
/// plan and that number, not on the order of the hashes or the machine.
Result<RibbonSystem> make_ribbon_system(std::span<std::uint64_t> hashes, const RibbonPlan& plan,
                                        std::uint64_t most_bytes);

/// Consecutive columns of a solution, and where their blocks go.
struct RibbonColumns {
  std::byte* out;
  std::uint32_t columns;
  std::uint64_t rows;  // Only the first so many: whole blocks, or all rows of the shape.
};

/// Back substitution: from the last row to the first, computes each row from its equation and the 63 rows after it.
/// Free rows are 0. `parts` divide the shape's columns, from the first on; the band must have rows for a full last
/// block.
void solve_ribbon(const RibbonBand& band, const RibbonShape& shape, std::span<const RibbonColumns> parts);

}  // namespace tamis
