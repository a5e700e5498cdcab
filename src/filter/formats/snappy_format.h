// Snappy, decompression only: what LevelDB and RocksDB may have packed a block with.
//
//     LEB128   bytes of the whole, at most 2^32 − 1
//     element  a tag whose low two bits say what follows; n are its other bits
//              0  literal: n + 1 bytes; n = 60 … 63 says that the next n − 59 bytes, little-endian, are n instead
//              1  copy of n % 8 + 4 bytes from n / 8 · 256 + the next byte before the end of what is there
//              2  copy of n + 1 bytes from as far back as the next 2 bytes say
//              3  copy of n + 1 bytes from as far back as the next 4 bytes say
#pragma once

#include <string>
#include <string_view>

#include "base/bytes.h"

namespace tamis::foreign {

/// What was packed; kCorruption, naming the bytes, for anything that Snappy does not write. Memory is taken only once
/// the announced length is one that so many packed bytes can have.
Result<std::string> unpack_snappy(Bytes packed, std::string_view name);

}  // namespace tamis::foreign
