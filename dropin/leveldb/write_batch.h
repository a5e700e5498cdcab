// From a batch of LevelDB's to one of ours.
#pragma once

#include <tamis/batch.h>
#include <tamis/status.h>

namespace leveldb {
class WriteBatch;
}

namespace tamis::dropin {

/// Adds the changes of one batch to another. kCorruption if its bytes are damaged, kInvalidArgument if a key or a value
/// is too long.
Status copy_records(const leveldb::WriteBatch& from, Batch& to);

}  // namespace tamis::dropin
