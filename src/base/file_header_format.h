// What the headers of all our files have in common. Documented with the files in docs/FORMAT.md.
//
//     offset size
//          0    8  magic
//          8    2  version
//         10    1  file kind; of a filter, the kind of filter
//         11    1  zero; of a filter, its layout
//         12    4  header bytes
//         16    4  features needed to read the file (base/features.h)
//         20    4  features needed to write to its store
//         24    8  optional features
//
// A filter is one file for itself: it has 8 bytes of features needed to read it.
// The headers of tables, journals and CURRENT end with the XXH3-64 of all bytes before it, in every version.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/features.h"
#include "base/hash.h"
#include "tamis/status.h"

namespace tamis {

/// What this build writes and reads.
struct FileHeaderFormat {
  std::string_view magic;
  std::string_view what;  ///< For messages: "table".
  std::uint16_t version = 1;
  std::uint32_t header_bytes = 0;
};

struct FileHeader {
  std::uint8_t kind = 0;
  std::uint8_t layout = 0;
  Features features = {};
};

void append_file_header(std::string& to, const FileHeaderFormat& format, const FileHeader& header);

/// The fields, zeros, and the checksum in the last 8 bytes.
template <std::size_t kBytes>
std::array<std::byte, kBytes> sealed_file_header(std::string_view fields) {
  std::array<std::byte, kBytes> header = {};
  std::memcpy(header.data(), fields.data(), fields.size());
  store_le(header.data() + kBytes - 8, checksum64(Bytes(header).first(kBytes - 8)));
  return header;
}

/// A header that was read.
struct FileHeaderFields {
  FileHeader header;
  ByteReader fields;  ///< Stands behind the optional features.
};

/// Checks everything that all headers with a checksum have. kCorruption for bad bytes; kNotSupported for a sound header
/// of another version or with an unknown feature that is needed to read. What follows the header in `bytes` is not
/// looked at.
Result<FileHeaderFields> read_file_header(Bytes bytes, const FileHeaderFormat& format, std::string_view name);

/// The header of a table or a value file: 64 bytes.
struct NumberedFileHeader {
  std::array<std::byte, 16> store_id = {};
  std::uint64_t number = 0;
  Features features = {};  ///< What its contents need.

  friend bool operator==(const NumberedFileHeader&, const NumberedFileHeader&) = default;
};
inline constexpr std::size_t kNumberedFileHeaderBytes = 64;
using NumberedFileHeaderBytes = std::array<std::byte, kNumberedFileHeaderBytes>;

NumberedFileHeaderBytes encode_numbered_file_header(const FileHeaderFormat& format, std::uint8_t kind,
                                                    const NumberedFileHeader& header);
/// As read_file_header; also kCorruption for another kind.
Result<NumberedFileHeader> decode_numbered_file_header(Bytes bytes, const FileHeaderFormat& format, std::uint8_t kind,
                                                       std::string_view name);

}  // namespace tamis
