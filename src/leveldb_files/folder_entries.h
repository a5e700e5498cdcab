// All entries of a LevelDB folder, merged.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "entry/visible_iterator.h"
#include "io/file_system.h"
#include "leveldb_files/live_files.h"
#include "leveldb_files/log_entries.h"

namespace tamis::leveldb {

/// Threads: one at a time. The file system must outlive it.
class FolderEntries {
 public:
  static Result<std::unique_ptr<FolderEntries>> open(FileSystem& files, std::string folder);

  FolderEntries(FileSystem& files, std::string folder, LiveFiles live)
      : files_(files), folder_(std::move(folder)), live_(std::move(live)) {}

  /// To the first or next key that has a value. False at the end and after an error.
  bool next();
  /// Valid while next() was true. It goes forwards only.
  [[nodiscard]] const VisibleIterator& at() const { return *merged_; }
  /// kBusy if CURRENT or the manifest is not what it was.
  [[nodiscard]] Status check_unchanged() const;

  [[nodiscard]] const LiveFiles& live() const { return live_; }
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t bytes_read() const { return table_bytes_read_ + log_.file_bytes(); }

 private:
  Status read_logs() { return log_.read(files_, live_.logs, live_.notes); }
  [[nodiscard]] std::unique_ptr<VisibleIterator> merge();

  FileSystem& files_;
  const std::string folder_;
  LiveFiles live_;
  LogEntries log_;
  std::uint64_t table_bytes_read_ = 0;
  std::unique_ptr<VisibleIterator> merged_;  // Null before the first entry.
};

}  // namespace tamis::leveldb
