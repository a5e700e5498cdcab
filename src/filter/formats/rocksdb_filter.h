// RocksDB's filter bytes, alone or as a block of an .sst table.
#pragma once

#include "base/bytes.h"
#include "filter/formats/probe.h"

namespace tamis::foreign {

/// Reads filter bytes as RocksDB does, by the last five: one of two Bloom filters, a Ribbon filter, or a constant
/// answer. Returns kCorruption if the trailer contradicts the length, as no answer would then be certain.
Result<ProbePtr> open_rocksdb_filter(Bytes filter, std::string_view name);

}  // namespace tamis::foreign
