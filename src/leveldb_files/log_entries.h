// The writes in LevelDB's logs: what is in no table yet.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "entry/entry_iterator.h"
#include "io/file_system.h"
#include "leveldb_files/live_files.h"

namespace tamis::leveldb {

/// All writes of some logs, sorted. In memory, as they were in LevelDB's: as much as its write buffer, 4 MiB unless the
/// program chose another size, and the overwritten ones too.
///
/// Threads: constant after reading.
class LogEntries {
 public:
  /// `logs` are oldest first. Only the last may end in the middle of a record: then `notes` gets what was left out.
  Status read(FileSystem& files, const std::vector<LogRef>& logs, std::vector<std::string>& notes);

  /// Must not outlive this.
  [[nodiscard]] std::unique_ptr<EntryIterator> iterate() const;
  [[nodiscard]] std::uint64_t file_bytes() const { return file_bytes_; }

 private:
  Status read_log(FileSystem& files, const LogRef& log, bool is_newest, std::vector<std::string>& notes);

  std::deque<std::string> records_;
  std::vector<Entry> entries_;  // Their bytes are in the records.
  std::uint64_t file_bytes_ = 0;
};

}  // namespace tamis::leveldb
