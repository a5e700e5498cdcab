// Snappy decompression, for blocks of LevelDB and RocksDB.
//
//     LEB128   total uncompressed bytes, at most 2^32 − 1
//     element  a tag: the low two bits are the type, the other bits are n
//              0  literal: n + 1 bytes; for n = 60 … 63 the next n − 59 bytes, little-endian, replace n
//              1  copy of n % 8 + 4 bytes from n / 8 · 256 + the next byte before the current end
//              2  copy of n + 1 bytes; the next 2 bytes are the distance back
//              3  copy of n + 1 bytes; the next 4 bytes are the distance back
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tamis::foreign {

/// Decompresses; kCorruption, naming the bytes, for anything that Snappy does not write. Allocates only once the
/// declared length is plausible for this many packed bytes.
Result<std::string> unpack_snappy(Bytes packed, std::string_view name);

}  // namespace tamis::foreign
