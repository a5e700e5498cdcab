#include "filter/ribbon_layout.h"

namespace tamis {

void put_ribbon_shape(FilterHeader& header, const RibbonShape& shape) {
  header.hashes = shape.columns;
  std::copy(shape.starts.begin(), shape.starts.end(), header.numbers.begin());
  header.numbers[3] = shape.list_entries | std::uint64_t{shape.list_bits} << kRibbonListBitsShift;
}

RibbonShape ribbon_shape_of(const FilterHeader& header) {
  RibbonShape shape;
  shape.columns = header.hashes;
  std::copy_n(header.numbers.begin(), kRibbonLayers, shape.starts.begin());
  shape.list_entries = header.numbers[3] & ((std::uint64_t{1} << kRibbonListBitsShift) - 1);
  shape.list_bits = static_cast<std::uint32_t>(header.numbers[3] >> kRibbonListBitsShift);
  return shape;
}

bool is_sane(const RibbonShape& shape) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 50;  // Times columns or list bits, this is far below 2^64.
  if (shape.columns == 0 || shape.columns > kRibbonMostColumns || shape.list_bits > kRibbonMostListBits) return false;
  if (std::any_of(shape.starts.begin(), shape.starts.end(), [](std::uint64_t starts) { return starts > kMost; }))
    return false;
  return shape.list_entries <= kMost;
}

}  // namespace tamis
