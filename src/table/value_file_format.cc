#include "table/value_file_format.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/hash.h"
#include "base/try.h"
#include "entry/entry.h"
#include "table/block_trailer_format.h"

namespace tamis {
namespace {

constexpr std::uint8_t kValueFileKind = 5;
constexpr FileHeaderFormat kHeaderFormat = {.magic = kValueFileMagic,
                                            .what = "value file",
                                            .version = kValueFileVersion,
                                            .header_bytes = kValueFileHeaderBytes};

Status check_pointer(const ValuePointer& pointer, const ByteReader& reader) {
  if (pointer.file == 0) return reader.corruption("a pointer to value file 0");
  if (pointer.offset < kValueFileHeaderBytes || pointer.offset > ~std::uint64_t{0} - kMaxValueBytes) {
    return reader.corruption(fmt::format("a pointer to offset {}", pointer.offset));
  }
  if (pointer.value_bytes > kMaxValueBytes || pointer.stored_bytes > pointer.value_bytes) {
    return reader.corruption(
        fmt::format("a value of {} bytes, stored in {}", pointer.value_bytes, pointer.stored_bytes));
  }
  if ((pointer.codec == 0) != (pointer.stored_bytes == pointer.value_bytes)) {
    return reader.corruption(fmt::format("codec {} for a value of {} bytes that is stored in {}", pointer.codec,
                                         pointer.value_bytes, pointer.stored_bytes));
  }
  return {};
}

}  // namespace

ValueFileHeaderBytes encode_value_file_header(const ValueFileHeader& header) {
  return encode_numbered_file_header(kHeaderFormat, kValueFileKind, header);
}

Result<ValueFileHeader> decode_value_file_header(Bytes bytes, std::string_view name) {
  return decode_numbered_file_header(bytes, kHeaderFormat, kValueFileKind, name);
}

std::string encode_value_pointer(const ValuePointer& pointer) {
  std::string bytes;
  append_varint(bytes, pointer.file);
  append_varint(bytes, pointer.offset);
  append_varint(bytes, pointer.stored_bytes);
  append_varint(bytes, pointer.value_bytes);
  append_le(bytes, pointer.codec);
  append_le(bytes, pointer.checksum);
  return bytes;
}

Result<ValuePointer> decode_value_pointer(std::string_view bytes, std::string_view name) {
  ByteReader reader(as_bytes(bytes), name);
  ValuePointer pointer;
  TAMIS_TRY(pointer.file, reader.read_varint("value file"));
  TAMIS_TRY(pointer.offset, reader.read_varint("offset of a value"));
  TAMIS_TRY(pointer.stored_bytes, reader.read_varint("stored bytes of a value"));
  TAMIS_TRY(pointer.value_bytes, reader.read_varint("bytes of a value"));
  TAMIS_TRY(pointer.codec, reader.read_le<std::uint8_t>("codec of a value"));
  TAMIS_TRY(pointer.checksum, reader.read_le<std::uint64_t>("checksum of a value"));
  TAMIS_TRY_STATUS(reader.expect_end());
  TAMIS_TRY_STATUS(check_pointer(pointer, reader));
  return pointer;
}

std::uint64_t value_checksum(Bytes stored, const ValuePointer& pointer, std::string_view key) {
  const std::uint64_t place = block_checksum_seed(pointer.file, pointer.offset);
  return seeded_checksum64(stored, seeded_checksum64(as_bytes(key), place));
}

}  // namespace tamis
