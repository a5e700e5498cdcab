#include "filter/formats/crc32c.h"

#include <array>

namespace tamis::foreign {
namespace {

using Table = std::array<std::uint32_t, 256>;

/// The effect of each value of the lowest byte on the rest, for the reflected polynomial.
constexpr Table make_table() {
  Table table = {};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0);
    table[byte] = crc;
  }
  return table;
}
constexpr Table kTable = make_table();

}  // namespace

std::uint32_t crc32c(Bytes bytes, std::uint32_t before) {
  std::uint32_t crc = ~before;
  for (const std::byte byte : bytes) crc = (crc >> 8) ^ kTable[(crc ^ std::to_integer<std::uint32_t>(byte)) & 0xff];
  return ~crc;
}

}  // namespace tamis::foreign
