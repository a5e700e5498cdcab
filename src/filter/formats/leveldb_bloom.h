// LevelDB's Bloom filter, also used by Badger and in the filter block of an .ldb table.
#pragma once

#include "base/bytes.h"
#include "filter/formats/probe.h"

namespace tamis::foreign {

/// Reads filter bytes as LevelDB does: a constant answer without a usable filter, else the Bloom filter.
ProbePtr open_leveldb_bloom(Bytes filter);

}  // namespace tamis::foreign
