// The records of a LevelDB log: batches of writes.
//
//     record  u64 sequence of the first write, u32 number of writes, then the writes, each with the next sequence
//     write   1, key, value (put) or 0, key (delete)        key, value  LEB128 length, bytes
#pragma once

#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "entry/entry.h"

namespace tamis::leveldb {

/// Appends the record's writes to `entries`. Their keys and values are in the record, which must outlive them.
Status decode_write_batch(Bytes record, std::string_view name, std::vector<Entry>& entries);

}  // namespace tamis::leveldb
