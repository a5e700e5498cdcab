// Snappy decompression, for blocks of LevelDB and RocksDB.
//
//     LEB128   total uncompressed bytes, at most 2^32 − 1
//     element  a tag: the low two bits are the type, the other bits are n
//              0  literal: n + 1 bytes; for n = 60 … 63 the next n − 59 bytes, little-endian, replace n
//              1  copy of n % 8 + 4 bytes from n / 8 · 256 + the next byte before the current end
//              2  copy of n + 1 bytes; the next 2 bytes are the distance back
//              3  copy of n + 1 bytes; the next 4 bytes are the distance back
#include <fmt/core.h>

#include <cstdint>

#include "base/try.h"
#include "filter/formats/table_block_format.h"

namespace tamis::foreign {
namespace {

/// The next `bytes` bytes, at most 4, as a number.
Result<std::uint64_t> read_number(ByteReader& reader, unsigned bytes) {
  TAMIS_TRY(const Bytes raw, reader.read(bytes, "a packed length"));
  std::uint64_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= std::to_integer<std::uint64_t>(raw[i]) << (8 * i);
  return value;
}

Status unpack_literal(ByteReader& reader, std::uint64_t n, std::uint64_t left, std::string& unpacked) {
  if (n >= 60) {
    TAMIS_TRY(n, read_number(reader, static_cast<unsigned>(n - 59)));
  }
  if (n >= left) return reader.corruption("more unpacked bytes than declared");
  TAMIS_TRY(const Bytes literal, reader.read(n + 1, "packed bytes"));
  unpacked.append(as_text(literal));
  return {};
}

/// The source of a copy may overlap its destination, which then repeats it.
Status unpack_copy(ByteReader& reader, unsigned tag, std::uint64_t left, std::string& unpacked) {
  const unsigned n = tag / 4;
  const bool is_short = tag % 4 == 1;
  const std::uint64_t length = is_short ? n % 8 + 4 : n + 1;
  TAMIS_TRY(std::uint64_t distance, read_number(reader, is_short ? 1 : tag % 4 == 2 ? 2 : 4));
  if (is_short) distance += std::uint64_t{n / 8} * 256;
  if (distance == 0 || distance > unpacked.size()) return reader.corruption("a copy from outside the unpacked bytes");
  if (length > left) return reader.corruption("more unpacked bytes than declared");
  for (std::uint64_t i = 0; i < length; ++i) unpacked.push_back(unpacked[unpacked.size() - distance]);
  return {};
}

}  // namespace

Result<std::string> unpack_snappy(Bytes packed, std::string_view name) {
  constexpr std::uint64_t kMaxGrowth = 22;  // The densest element expands 3 bytes to 64.
  ByteReader reader(packed, name);
  TAMIS_TRY(const std::uint64_t size, reader.read_varint("the unpacked length"));
  if (size > 0xffffffffU || size / kMaxGrowth > packed.size()) {
    return reader.corruption(fmt::format("{} packed bytes cannot hold {}", packed.size(), size));
  }
  std::string unpacked;
  unpacked.reserve(static_cast<std::size_t>(size));
  while (!reader.at_end()) {
    TAMIS_TRY(const unsigned tag, reader.read_le<std::uint8_t>("a packed element"));
    const std::uint64_t left = size - unpacked.size();
    TAMIS_TRY_STATUS(tag % 4 == 0 ? unpack_literal(reader, tag / 4, left, unpacked)
                                  : unpack_copy(reader, tag, left, unpacked));
  }
  if (unpacked.size() != size) return reader.corruption("fewer unpacked bytes than declared");
  return unpacked;
}

}  // namespace tamis::foreign
