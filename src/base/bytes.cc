#include "base/bytes.h"

#include <fmt/core.h>

namespace tamis {

Result<Bytes> ByteReader::read(std::uint64_t count, std::string_view what) {
  if (count > remaining()) {
    return corruption(fmt::format("{} needs {} bytes, {} are left", what, count, remaining()));
  }
  const Bytes taken = bytes_.subspan(offset_, static_cast<std::size_t>(count));
  offset_ += static_cast<std::size_t>(count);
  return taken;
}

Status ByteReader::skip(std::uint64_t count, std::string_view what) { return read(count, what).status(); }

Result<std::uint64_t> ByteReader::read_varint(std::string_view what) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    Result<std::uint8_t> next = read_le<std::uint8_t>(what);
    if (!next.ok()) return next.status();
    const std::uint64_t bits = *next & 0x7f;
    if (shift == 63 && bits > 1) break;
    value |= bits << shift;
    if ((*next & 0x80) == 0) return value;
  }
  return corruption(fmt::format("{} is a number of more than 64 bits", what));
}

Status ByteReader::expect_end() const {
  if (at_end()) return {};
  return corruption(fmt::format("{} bytes follow the end", remaining()));
}

Status ByteReader::corruption(std::string_view why) const {
  return Status::corruption(fmt::format("{}: at offset {}: {}", name_, offset_, why));
}

}  // namespace tamis
