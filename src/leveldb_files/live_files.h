// Which files of a LevelDB folder belong to its store.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "io/file_system.h"
#include "leveldb_files/table_run.h"
#include "leveldb_files/version_edit_format.h"

namespace tamis::leveldb {

/// A log of the folder.
struct LogRef {
  std::string path;
  std::uint64_t number = 0;
};

/// What CURRENT and the manifest say, checked against the files that are there.
struct LiveFiles {
  std::string manifest;  // Its path.
  std::uint64_t manifest_bytes = 0;
  /// Of level 0, the newest first; of the others, in key order.
  std::array<std::vector<TableRef>, kLevels> levels;
  std::vector<LogRef> logs;        // Oldest first.
  std::vector<std::string> notes;  // What a person should know.
};

/// kNotSupported for an order of keys other than LevelDB's own, and for a RocksDB folder. kCorruption if a table is
/// missing, or the log that has what is in no table yet.
Result<LiveFiles> find_live_files(FileSystem& files, const std::string& folder);

}  // namespace tamis::leveldb
