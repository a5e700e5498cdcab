#include "filter/held_slices.h"

#include <fmt/core.h>

#include "base/check.h"
#include "base/hash.h"
#include "filter/filter_kind.h"

namespace tamis {

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
  TAMIS_CHECK(held_ < all());
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
  choose_probe();
  return {};
}

void HeldSlices::drop() {
  if (held_ == 1) return;
  --held_;
  choose_probe();
}

HeldSlices::Place HeldSlices::next() const {
  if (held_ == all()) return {};
  return {.offset = shape_.slice_begin(held_), .bytes = shape_.slice_bytes(held_)};
}

double HeldSlices::rate_with(std::size_t slices) const {
  return sliced_rate(shape_, probe_state<SlicedState>(probe_).layers.marks, slices);
}

void HeldSlices::choose_probe() {
  SlicedState& state = probe_state<SlicedState>(probe_);
  const auto most_columns = static_cast<std::uint32_t>(held_) * kSliceColumns;
  state.columns = static_cast<std::uint8_t>(std::min(shape_.whole_columns(), most_columns));
  state.partial_blocks = held_ == all() ? shape_.partial_blocks : 0;
  choose_sliced_functions(probe_);
}

}  // namespace tamis
