#include "base/file_header_format.h"

#include <fmt/core.h>

#include "base/try.h"

namespace tamis {
namespace {

/// Length, magic and checksum are in the same place in every version: after this, the header says what was meant.
Status check_is_sound(Bytes bytes, const FileHeaderFormat& format, const ByteReader& reader) {
  if (bytes.size() < format.header_bytes) {
    return reader.corruption(fmt::format("{} bytes are too few for a header of {}", bytes.size(), format.header_bytes));
  }
  if (as_text(bytes.first(format.magic.size())) != format.magic) {
    return reader.corruption(fmt::format("not a tamis {}: the magic is wrong", format.what));
  }
  const std::size_t checksum_at = format.header_bytes - 8;
  const auto stored = load_le<std::uint64_t>(bytes.data() + checksum_at);
  const std::uint64_t computed = checksum64(bytes.first(checksum_at));
  if (stored == computed) return {};
  return reader.corruption(fmt::format("the header's checksum is {:016x}, its bytes have {:016x}", stored, computed));
}

Status check_version(std::uint16_t version, const FileHeaderFormat& format, std::string_view name) {
  if (version == format.version) return {};
  if (version < format.version) {
    return Status::not_supported(fmt::format("{}: format version {}, written before 0.2; this build reads version {}",
                                             name, version, format.version));
  }
  return Status::not_supported(fmt::format(
      "{}: format version {} is newer than this build reads ({}); use a newer tamis", name, version, format.version));
}

}  // namespace

void append_file_header(std::string& to, const FileHeaderFormat& format, const FileHeader& header) {
  to += format.magic;
  append_le(to, format.version);
  append_le(to, header.kind);
  append_le(to, header.layout);
  append_le(to, format.header_bytes);
  append_le(to, header.features.to_read);
  append_le(to, header.features.to_write);
  append_le(to, header.features.optional);
}

Result<FileHeaderFields> read_file_header(Bytes bytes, const FileHeaderFormat& format, std::string_view name) {
  ByteReader reader(bytes, name);
  TAMIS_TRY_STATUS(check_is_sound(bytes, format, reader));
  TAMIS_TRY_STATUS(reader.skip(format.magic.size(), "magic"));
  TAMIS_TRY(const auto version, reader.read_le<std::uint16_t>("version"));
  TAMIS_TRY_STATUS(check_version(version, format, name));
  FileHeader header;
  TAMIS_TRY(header.kind, reader.read_le<std::uint8_t>("file kind"));
  TAMIS_TRY(header.layout, reader.read_le<std::uint8_t>("layout"));
  TAMIS_TRY(const auto header_bytes, reader.read_le<std::uint32_t>("header length"));
  if (header_bytes != format.header_bytes) {
    return reader.corruption(fmt::format("header of {} bytes, {} expected", header_bytes, format.header_bytes));
  }
  TAMIS_TRY(header.features.to_read, reader.read_le<std::uint32_t>("features needed to read"));
  TAMIS_TRY(header.features.to_write, reader.read_le<std::uint32_t>("features needed to write"));
  TAMIS_TRY(header.features.optional, reader.read_le<std::uint64_t>("optional features"));
  TAMIS_TRY_STATUS(check_can_read(header.features, name));
  return FileHeaderFields{header, reader};
}

NumberedFileHeaderBytes encode_numbered_file_header(const FileHeaderFormat& format, std::uint8_t kind,
                                                    const NumberedFileHeader& header) {
  std::string raw;
  append_file_header(raw, format, {.kind = kind, .features = header.features});
  raw += as_text(header.store_id);
  append_le(raw, header.number);
  return sealed_file_header<kNumberedFileHeaderBytes>(raw);
}

Result<NumberedFileHeader> decode_numbered_file_header(Bytes bytes, const FileHeaderFormat& format, std::uint8_t kind,
                                                       std::string_view name) {
  TAMIS_TRY(FileHeaderFields start, read_file_header(bytes, format, name));
  ByteReader& reader = start.fields;
  if (start.header.kind != kind) {
    return reader.corruption(fmt::format("file kind {} is not a {}", start.header.kind, format.what));
  }
  NumberedFileHeader header{.features = start.header.features};
  TAMIS_TRY(const Bytes store_id, reader.read(header.store_id.size(), "store id"));
  std::copy(store_id.begin(), store_id.end(), header.store_id.begin());
  TAMIS_TRY(header.number, reader.read_le<std::uint64_t>("file number"));
  return header;
}

}  // namespace tamis
