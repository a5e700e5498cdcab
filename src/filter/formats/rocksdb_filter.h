// RocksDB's filter bytes, as they stand alone or as a block of an .sst table.
#pragma once

#include "base/bytes.h"
#include "filter/formats/probe.h"

namespace tamis::foreign {

/// What RocksDB sees in filter bytes, by their last five: a Bloom filter of two kinds, a Ribbon filter, or one answer
/// for all keys. kCorruption where the trailer contradicts the length, so that no answer would be certain.
Result<ProbePtr> open_rocksdb_filter(Bytes filter, std::string_view name);

/// A Ribbon filter: `body` is the filter without its trailer, a whole number of 16-byte segments; blocks >= 2.
ProbePtr open_rocksdb_ribbon(Bytes body, std::uint32_t blocks, std::uint32_t seed);

}  // namespace tamis::foreign
