// Thrift's compact protocol.
//
//     field    one byte: difference to the last field number << 4 | type; difference 0: the number follows, zigzag
//     integer  LEB128 of zigzag; double 8 bytes; binary LEB128 length and bytes; booleans are their type
//     list     one byte: size << 4 | type; size 15: the size follows as LEB128. A set is the same.
//     map      LEB128 size; unless 0, one byte: key type << 4 | value type
//     struct   fields, then a byte 0
#include <fmt/core.h>

#include "filter/formats/thrift_compact_format.h"

namespace tamis::foreign {
namespace {

constexpr int kMaxDepth = 32;  // Parquet's metadata nests about eight levels deep.

Result<ThriftType> checked_type(const ByteReader& reader, std::uint32_t type) {
  if (type >= 1 && type <= 12) return ThriftType{static_cast<std::uint8_t>(type)};
  return reader.corruption(fmt::format("{} is not a Thrift type", type));
}

/// In a list or map a boolean takes its own byte.
Status skip_element(ByteReader& reader, ThriftType type, int depth) {
  if (type == ThriftType::kTrue || type == ThriftType::kFalse) return reader.skip(1, "a boolean");
  return skip_thrift_value(reader, type, depth);
}

Status skip_list(ByteReader& reader, int depth) {
  TAMIS_TRY(const ThriftList list, read_thrift_list(reader));
  for (std::uint64_t i = 0; i < list.size; ++i) TAMIS_TRY_STATUS(skip_element(reader, list.type, depth));
  return {};
}

Status skip_map(ByteReader& reader, int depth) {
  TAMIS_TRY(const std::uint64_t size, reader.read_varint("the size of a map"));
  if (size == 0) return {};
  if (size > reader.remaining()) return reader.corruption(fmt::format("a map of {} entries", size));
  TAMIS_TRY(const std::uint8_t types, reader.read_le<std::uint8_t>("the types of a map"));
  TAMIS_TRY(const ThriftType key, checked_type(reader, types >> 4U));
  TAMIS_TRY(const ThriftType value, checked_type(reader, types & 15U));
  for (std::uint64_t i = 0; i < size; ++i) {
    TAMIS_TRY_STATUS(skip_element(reader, key, depth));
    TAMIS_TRY_STATUS(skip_element(reader, value, depth));
  }
  return {};
}

}  // namespace

Result<ThriftField> read_thrift_field(ByteReader& reader, std::int32_t& last_id) {
  TAMIS_TRY(const std::uint8_t head, reader.read_le<std::uint8_t>("a field"));
  if (head == 0) return ThriftField{};
  TAMIS_TRY(const ThriftType type, checked_type(reader, head & 15U));
  std::int64_t id = std::int64_t{last_id} + (head >> 4U);
  if (head >> 4U == 0) {
    TAMIS_TRY(id, read_thrift_integer(reader));
  }
  if (id < 0 || id > 0x7fff) return reader.corruption(fmt::format("{} is not a field number", id));
  last_id = static_cast<std::int32_t>(id);
  return ThriftField{last_id, type};
}

Result<std::int64_t> read_thrift_integer(ByteReader& reader) {
  TAMIS_TRY(const std::uint64_t zigzag, reader.read_varint("a number"));
  return static_cast<std::int64_t>((zigzag >> 1) ^ (0 - (zigzag & 1)));
}

Result<Bytes> read_thrift_binary(ByteReader& reader) {
  TAMIS_TRY(const std::uint64_t size, reader.read_varint("the length of a string"));
  return reader.read(size, "a string");
}

Result<ThriftList> read_thrift_list(ByteReader& reader) {
  TAMIS_TRY(const std::uint8_t head, reader.read_le<std::uint8_t>("a list"));
  TAMIS_TRY(const ThriftType type, checked_type(reader, head & 15U));
  std::uint64_t size = head >> 4U;
  if (size == 15) {
    TAMIS_TRY(size, reader.read_varint("the size of a list"));
  }
  // Every element takes at least one byte.
  if (size > reader.remaining()) return reader.corruption(fmt::format("a list of {} elements", size));
  return ThriftList{size, type};
}

Status skip_thrift_value(ByteReader& reader, ThriftType type, int depth) {
  if (depth > kMaxDepth) return reader.corruption("values nested too deeply");
  switch (type) {
    case ThriftType::kStop: break;
    case ThriftType::kTrue:
    case ThriftType::kFalse: return {};
    case ThriftType::kByte: return reader.skip(1, "a byte");
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64: return reader.read_varint("a number").status();
    case ThriftType::kDouble: return reader.skip(8, "a double");
    case ThriftType::kBinary: return read_thrift_binary(reader).status();
    case ThriftType::kList:
    case ThriftType::kSet: return skip_list(reader, depth + 1);
    case ThriftType::kMap: return skip_map(reader, depth + 1);
    case ThriftType::kStruct:
      return read_thrift_struct(
          reader, [&](const ThriftField& field) { return skip_thrift_value(reader, field.type, depth + 1); });
  }
  return reader.corruption("a value without a type");
}

}  // namespace tamis::foreign
