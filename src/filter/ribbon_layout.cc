#include "filter/ribbon_layout.h"

#include <algorithm>

namespace tamis {

double ribbon_reach(const RibbonShape& shape, const std::byte* marks) {
  double reach = 1;
  for (std::size_t layer = 0; layer < kRibbonLayers; ++layer) {
    if (shape.starts[layer] == 0) continue;
    std::uint64_t sent_on = 0;
    for (std::uint64_t bucket = 0; bucket < shape.buckets(layer); ++bucket) {
      const std::uint64_t size = shape.starts[layer] - (bucket << kRibbonBuckets[layer].shift);
      const std::uint32_t mark = ribbon_mark(marks, shape.first_bucket(layer) + bucket);
      sent_on += std::min<std::uint64_t>(kRibbonBuckets[layer].threshold[mark], size);
    }
    reach *= static_cast<double>(sent_on) / static_cast<double>(shape.starts[layer]);
  }
  return reach;
}

void write_ribbon_list_entry(MutableBytes list, std::uint64_t index, std::uint32_t bits, std::uint64_t value) {
  for (std::uint64_t bit = index * bits; bits > 0; ++bit, --bits, value >>= 1) {
    list[bit / 8] |= static_cast<std::byte>((value & 1) << (bit % 8));
  }
}

std::uint64_t read_ribbon_list_entry(Bytes list, std::uint64_t index, std::uint32_t bits) {
  const std::uint64_t first = index * bits;
  const std::uint64_t end_byte = (first + bits + 7) / 8;
  std::uint64_t value = 0;  // At most 56 bits from any bit of a byte: eight bytes hold them.
  for (std::uint64_t byte = end_byte; byte > first / 8; --byte) {
    value = (value << 8) | std::to_integer<std::uint64_t>(list[byte - 1]);
  }
  return (value >> (first % 8)) & ((std::uint64_t{1} << bits) - 1);
}

}  // namespace tamis
