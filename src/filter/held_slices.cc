#include "filter/held_slices.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/check.h"
#include "base/hash.h"
#include "filter/filter_kind.h"

namespace tamis {
namespace {

/// Copies the first columns of each block, the last of which may be cut short.
void copy_columns(const RibbonShape& ribbon, const std::byte* from, std::uint32_t columns_there, std::uint32_t columns,
                  std::byte* to) {
  const auto copy_blocks = [&](std::uint64_t blocks, std::uint64_t column_bytes) {
    for (; blocks > 0; --blocks) {
      std::copy_n(from, columns * column_bytes, to);
      from += columns_there * column_bytes;
      to += columns * column_bytes;
    }
  };
  copy_blocks(ribbon.full_blocks(), kRibbonBlockRows / 8);
  copy_blocks(1, ribbon.cut_bytes());
}

/// What the blocks of a slice take in a copy: large ones begin at a cache line.
std::uint64_t padded_bytes(std::uint64_t bytes) { return bytes >= kLeastPaddedSlice ? (bytes + 63) / 64 * 64 : bytes; }

}  // namespace

Result<HeldSlices> HeldSlices::open(const FilterHeader& header, Bytes first, std::string_view name) {
  const std::optional<SlicedShape> shape = SlicedShape::of(header);
  if (!shape || first.size() != shape->slice_bytes(0)) {
    return Status::corruption(
        fmt::format("{}: sliced: {} columns, layers of {}, {} and {} starts and a list described by {:x} do not fit a "
                    "body of {} bytes with a first slice of {}",
                    name, header.hashes, header.numbers[0], header.numbers[1], header.numbers[2], header.numbers[3],
                    header.all_slices_bytes, first.size()));
  }
  HeldSlices slices;
  slices.shape_ = *shape;
  slices.first_checksum_ = checksum64(first);
  slices.columns_ = shape->columns_held(1);
  SlicedState& state = probe_state<SlicedState>(slices.probe_);
  state.layers = ribbon_layers(shape->ribbon, first.data() + shape->block_bytes(0));
  state.slices[0] = first.data();
  state.full_blocks = shape->ribbon.full_blocks();
  state.fingerprint_shift = static_cast<std::uint8_t>(64 - shape->ribbon.columns);
  state.cut_bytes = static_cast<std::uint8_t>(shape->ribbon.cut_bytes());
  slices.choose_probe();
  return slices;
}

Status HeldSlices::add(Bytes slice, std::string_view name) {
  TAMIS_CHECK(held_ < all() && !holds_part());
  const Place place = next();
  const auto corrupt = [&](std::uint64_t at, const std::string& why) {
    return Status::corruption(
        fmt::format("{}: at offset {}: slice {} {}", name, kFilterHeaderBytes + place.offset + at, held_, why));
  };
  if (slice.size() != place.bytes)
    return corrupt(0, fmt::format("has {} bytes, {} expected", slice.size(), place.bytes));
  const auto announced = load_le<std::uint64_t>(slice.last(kSliceChecksumBytes).data());
  if (const std::uint64_t actual = slice_checksum(slice, first_checksum_, held_); actual != announced) {
    return corrupt(place.bytes - kSliceChecksumBytes,
                   fmt::format("has the checksum {:016x}, its bytes have {:016x}", announced, actual));
  }
  probe_state<SlicedState>(probe_).slices[held_++] = slice.data();
  columns_ = shape_.columns_held(held_);
  choose_probe();
  return {};
}

std::uint64_t HeldSlices::bytes_of_copy(std::uint32_t columns) const {
  std::uint64_t bytes = shape_.ribbon.mark_bytes() + shape_.ribbon.list_bytes();
  for (std::uint32_t left = columns; left > 0; left -= std::min(left, kSliceColumns)) {
    bytes += padded_bytes(shape_.ribbon.rows() / 8 * std::min(left, kSliceColumns));
  }
  return bytes;
}

HeldSlices HeldSlices::copy(std::uint32_t columns, MutableBytes to) const {
  TAMIS_CHECK(columns >= 1 && columns <= columns_ && to.size() == bytes_of_copy(columns));
  HeldSlices copy = *this;
  copy.columns_ = columns;
  copy.held_ = (columns + kSliceColumns - 1) / kSliceColumns;
  SlicedState& state = probe_state<SlicedState>(copy.probe_);
  std::byte* at = to.data();
  for (std::uint32_t slice = 0; slice < copy.held_; ++slice) {
    const std::uint32_t there = std::min(kSliceColumns, columns_ - slice * kSliceColumns);
    const std::uint32_t wanted = std::min(kSliceColumns, columns - slice * kSliceColumns);
    copy_columns(shape_.ribbon, state.slices[slice], there, wanted, at);
    state.slices[slice] = at;
    at += padded_bytes(shape_.ribbon.rows() / 8 * wanted);
  }
  std::copy_n(state.layers.marks, shape_.ribbon.mark_bytes() + shape_.ribbon.list_bytes(), at);
  state.layers = ribbon_layers(shape_.ribbon, at);
  copy.choose_probe();
  return copy;
}

bool HeldSlices::holds_part() const {
  return columns_ < std::min<std::uint64_t>(shape_.whole_columns(), held_ * kSliceColumns);
}

HeldSlices::Place HeldSlices::next() const {
  if (held_ == all() || holds_part()) return {};
  return {.offset = shape_.slice_begin(held_), .bytes = shape_.slice_bytes(held_)};
}

double HeldSlices::rate_with(std::size_t slices) const {
  return sliced_rate(shape_, probe_state<SlicedState>(probe_).layers.marks, slices);
}

void HeldSlices::choose_probe() {
  SlicedState& state = probe_state<SlicedState>(probe_);
  state.columns = static_cast<std::uint8_t>(columns_);
  state.partial_blocks = held_ == all() ? shape_.partial_blocks : 0;
  choose_sliced_functions(probe_);
}

}  // namespace tamis
