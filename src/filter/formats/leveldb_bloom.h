// LevelDB's Bloom filter, which is also Badger's and the content of an .ldb table's filter block.
#pragma once

#include "base/bytes.h"
#include "filter/formats/probe.h"

namespace tamis::foreign {

/// What LevelDB sees in filter bytes: its answer for every key where there is no usable filter, else the Bloom filter.
ProbePtr open_leveldb_bloom(Bytes filter);

}  // namespace tamis::foreign
