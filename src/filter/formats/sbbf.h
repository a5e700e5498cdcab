// Parquet's split-block Bloom filter, shared by the bare bitset, the one with a header, and whole Parquet files.
#pragma once

#include "base/bytes.h"
#include "filter/formats/probe.h"

namespace tamis::foreign {

/// Format::family of all three.
inline constexpr std::string_view kSbbfFamily = "sbbf";

/// The filter at the reader's place: BloomFilterHeader, then as many bytes of bitset as it says. The reader ends up
/// behind both.
Result<ProbePtr> read_sbbf_with_header(ByteReader& reader);

}  // namespace tamis::foreign
