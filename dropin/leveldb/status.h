// What our functions return, as programs of LevelDB expect it.
#pragma once

#include <leveldb/status.h>
#include <tamis/status.h>

namespace tamis::dropin {

/// LevelDB has five kinds of error: what it has no kind for is an IO error, which tells the caller to give up or to try
/// again.
[[nodiscard]] leveldb::Status leveldb_status(const Status& status);

}  // namespace tamis::dropin
