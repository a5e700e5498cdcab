#include "filter/sliced_layout.h"

#include <cmath>

#include "base/hash.h"

namespace tamis {

std::optional<SlicedShape> SlicedShape::of(const FilterHeader& header) {
  SlicedShape shape = {.ribbon = ribbon_shape_of(header)};
  if (!is_sane(shape.ribbon) || shape.ribbon.columns > kMostSlicedColumns) return std::nullopt;
  if (header.first_slice_bytes != shape.slice_bytes(0)) return std::nullopt;
  const std::uint64_t whole_bytes = shape.slice_begin(shape.slices());
  if (header.all_slices_bytes == whole_bytes) return shape;
  // What the whole columns leave of the body is a slice with the partial one.
  if (header.all_slices_bytes < whole_bytes + kSliceChecksumBytes) return std::nullopt;
  const std::uint64_t partial_bytes = header.all_slices_bytes - whole_bytes - kSliceChecksumBytes;
  if (partial_bytes % 8 != 0 || partial_bytes == 0 || partial_bytes / 8 > shape.ribbon.full_blocks())
    return std::nullopt;
  shape.partial_blocks = partial_bytes / 8;
  ++shape.ribbon.columns;
  return shape;
}

std::optional<SlicedSizes> SlicedSizes::of(Bytes container) {
  const Result<FilterHeader> header = decode_filter_header(container, "filter");
  if (!header.ok() || header->layout != FilterLayout::kSlices) return std::nullopt;
  const std::optional<SlicedShape> shape = SlicedShape::of(*header);
  if (!shape || shape->ribbon.rows() == 0) return std::nullopt;
  const std::byte* const marks = container.data() + kFilterHeaderBytes + shape->block_bytes(0);
  return SlicedSizes{.columns = shape->whole_columns(),
                     .first_bytes = kFilterHeaderBytes + header->first_slice_bytes,
                     .column_bytes = shape->ribbon.rows() / 8,
                     .list_rate = ribbon_reach(shape->ribbon, marks) * shape->ribbon.list_rate()};
}

double sliced_rate(const SlicedShape& shape, const std::byte* marks, std::size_t held) {
  const bool has_partial = shape.partial_blocks != 0 && held == shape.slices();
  // A key has the partial column if both of its blocks do.
  const std::uint64_t end_row = has_partial ? (shape.partial_blocks - 1) * kRibbonBlockRows : 0;
  const RibbonShares shares = ribbon_shares(shape.ribbon, marks, end_row);
  const auto columns = static_cast<int>(shape.columns_held(held));
  return std::ldexp(1 - shares.list - shares.rows_before / 2, -columns) + shares.list * shape.ribbon.list_rate();
}

std::uint64_t slice_checksum(Bytes slice, std::uint64_t first_slice_checksum, std::size_t number) {
  return seeded_checksum64(slice.first(slice.size() - kSliceChecksumBytes), first_slice_checksum + number);
}

void write_slice_checksum(MutableBytes slice, std::uint64_t first_slice_checksum, std::size_t number) {
  store_le(slice.last(kSliceChecksumBytes).data(), slice_checksum(slice, first_slice_checksum, number));
}

}  // namespace tamis
