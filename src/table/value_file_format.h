// The bytes of a value file, and of the pointers into it. Documented with hex in docs/FORMAT.md; frozen by
// tests/golden/values.
//
//     header                                              pointer: the value of an entry whose value is apart
//     offset size                                         size
//          0    8  magic "TAMISVAL"                       varint  number of the value file
//          8    2  version, 2                             varint  offset of the stored value in it
//         10    1  file kind: 5 values                    varint  bytes of the stored value
//         11    1  zero                                   varint  bytes of the value before it was compressed
//         12    4  header bytes, 64                            1  codec: 0 none, 1 lz4, 2 zstd
//         16   16  features                                    8  XXH3-64 of the stored value, seeded with file number,
//         32   16  store id                                       offset and key
//         48    8  file number
//         56    8  XXH3-64 of bytes 0 … 55
//
// The stored values follow the header, one after the other without gaps. Only pointers say where they begin: a value
// is valid only for its key, in its place, and if the pointer's checksum holds.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "base/features.h"
#include "base/file_header_format.h"
#include "tamis/status.h"

namespace tamis {

inline constexpr std::string_view kValueFileMagic = "TAMISVAL";
inline constexpr std::uint16_t kValueFileVersion = 2;
inline constexpr std::size_t kValueFileHeaderBytes = kNumberedFileHeaderBytes;

using ValueFileHeader = NumberedFileHeader;
using ValueFileHeaderBytes = NumberedFileHeaderBytes;
ValueFileHeaderBytes encode_value_file_header(const ValueFileHeader& header);
/// kCorruption for bad bytes; kNotSupported for an intact header of another version or with an unknown feature.
Result<ValueFileHeader> decode_value_file_header(Bytes bytes, std::string_view name);

/// Where a value is, and how to know that it is the right one.
struct ValuePointer {
  std::uint64_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t stored_bytes = 0;
  std::uint64_t value_bytes = 0;  ///< Before compression.
  std::uint8_t codec = 0;         ///< Codec::id.
  std::uint64_t checksum = 0;

  friend bool operator==(const ValuePointer&, const ValuePointer&) = default;
};

/// Four varints of numbers that are at most 2^64 or 2^30, codec and checksum.
inline constexpr std::size_t kMaxValuePointerBytes = 2 * kMaxVarintBytes + 2 * 5 + 1 + 8;
std::string encode_value_pointer(const ValuePointer& pointer);
/// kCorruption for impossible fields. Whether the codec is known is checked by whoever reads the value.
Result<ValuePointer> decode_value_pointer(std::string_view bytes, std::string_view name);

/// The checksum that a pointer from this key has. The pointer's own is not looked at.
std::uint64_t value_checksum(Bytes stored, const ValuePointer& pointer, std::string_view key);

}  // namespace tamis
