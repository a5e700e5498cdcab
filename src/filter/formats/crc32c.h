// CRC-32C (Castagnoli), the block checksum of LevelDB and of older RocksDB tables.
#pragma once

#include <cstdint>

#include "base/bytes.h"

namespace tamis::foreign {

/// The checksum of `bytes` or, given the checksum of the preceding bytes, of both together.
std::uint32_t crc32c(Bytes bytes, std::uint32_t before = 0);

/// As LevelDB stores it: rotated and offset, so that checksums of bytes that contain checksums stay random.
constexpr std::uint32_t masked_crc32c(std::uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8U; }

}  // namespace tamis::foreign
