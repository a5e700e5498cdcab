// The layout of a ribbon in slices, shared by build and probe. sliced.cc documents it; this file computes it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "filter/filter_format.h"
#include "filter/ribbon_layout.h"
#include "filter/sliced_sizes.h"

namespace tamis {

inline constexpr std::size_t kMostSlices = 8;  // Their addresses just fit into a FilterProbe.
inline constexpr std::uint32_t kMostSlicedColumns = kSliceColumns * (kMostSlices - 1);  // The last may be partial.
inline constexpr std::uint64_t kSliceChecksumBytes = 8;
// In a body, the next slice then begins at a cache line. For smaller ones, the padding would be too much of them.
inline constexpr std::uint64_t kLeastPaddedSlice = std::uint64_t{32} << 10;

/// The parameters of a body's layout, stored in the header.
struct SlicedShape {
  RibbonShape ribbon;                // The columns include the partial one.
  std::uint64_t partial_blocks = 0;  // Blocks that have the partial column; 0: there is none.

  [[nodiscard]] std::uint32_t whole_columns() const { return ribbon.columns - (partial_blocks == 0 ? 0 : 1); }
  /// Without rows, everything is in the list.
  [[nodiscard]] std::size_t whole_slices() const {
    return ribbon.rows() == 0 ? 1 : (whole_columns() + kSliceColumns - 1) / kSliceColumns;
  }
  [[nodiscard]] std::size_t slices() const { return whole_slices() + (partial_blocks == 0 ? 0 : 1); }
  /// Of a whole slice.
  [[nodiscard]] std::uint32_t columns_of(std::size_t slice) const {
    return std::min(kSliceColumns, whole_columns() - kSliceColumns * static_cast<std::uint32_t>(slice));
  }
  /// Whole ones, in the first `held` slices.
  [[nodiscard]] std::uint32_t columns_held(std::size_t held) const {
    return static_cast<std::uint32_t>(std::min<std::size_t>(whole_columns(), held * kSliceColumns));
  }
  [[nodiscard]] std::uint64_t block_bytes(std::size_t slice) const {
    return slice < whole_slices() ? ribbon.rows() / 8 * columns_of(slice) : partial_blocks * 8;
  }
  /// All slices but the partial column are padded.
  [[nodiscard]] std::uint64_t slice_bytes(std::size_t slice) const {
    const std::uint64_t bytes =
        block_bytes(slice) + (slice == 0 ? ribbon.mark_bytes() + ribbon.list_bytes() : kSliceChecksumBytes);
    return slice < whole_slices() && bytes >= kLeastPaddedSlice ? (bytes + 63) / 64 * 64 : bytes;
  }
  /// Where a slice begins in the body; slices() for the end of the body.
  [[nodiscard]] std::uint64_t slice_begin(std::size_t slice) const {
    std::uint64_t begin = 0;
    for (std::size_t i = 0; i < slice; ++i) begin += slice_bytes(i);
    return begin;
  }

  /// The shape, as the header has it; nullopt if its numbers do not fit each other.
  static std::optional<SlicedShape> of(const FilterHeader& header);
};

/// The rate of the first `held` slices.
double sliced_rate(const SlicedShape& shape, const std::byte* marks, std::size_t held);

/// The checksum of slice number `number`, from 1: of all but its last bytes, which have it. Slices of other filters, or
/// in other places, have others.
std::uint64_t slice_checksum(Bytes slice, std::uint64_t first_slice_checksum, std::size_t number);
void write_slice_checksum(MutableBytes slice, std::uint64_t first_slice_checksum, std::size_t number);

/// What a probe keeps.
struct SlicedState {
  RibbonLayers layers;
  std::array<const std::byte*, kMostSlices> slices;  // Those held.
  std::uint64_t full_blocks;
  std::uint64_t partial_blocks;    // 0: the partial column is not held.
  std::uint8_t columns;            // Whole columns that are held.
  std::uint8_t fingerprint_shift;  // 64 less the bits of a fingerprint.
  std::uint8_t cut_bytes;
};

/// Sets the functions for this machine and this state, which must be filled in.
void choose_sliced_functions(FilterProbe& probe);

}  // namespace tamis
