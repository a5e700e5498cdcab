// Parquet's split-block Bloom filter, shared by the bare bitset, the one with a header, and whole Parquet files.
#pragma once

#include "base/bytes.h"
#include "filter/formats/probe.h"

namespace tamis::foreign {

/// Format::family of all three.
inline constexpr std::string_view kSbbfFamily = "sbbf";

/// Reads a filter: BloomFilterHeader, then as many bytes of bitset as it says. Leaves the reader after both.
Result<ProbePtr> read_sbbf_with_header(ByteReader& reader);

}  // namespace tamis::foreign
