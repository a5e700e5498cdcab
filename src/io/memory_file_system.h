// Files in memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sync.h"
#include "io/file_system.h"

namespace tamis {

class MemoryFile;
class MemoryLocks;

/// A FileSystem without a disk: files live as long as this object, and syncing does nothing.
/// Paths are compared as text. "." and "/" exist, other folders are created. Folders cannot be renamed.
///
/// Invariants:
///  1. An open file keeps its bytes when its last name is removed. Files and locks may outlive this object.
///  2. A write that gets no memory fails with kOutOfSpace and changes nothing.
///
/// Threads: any.
class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override;
  Status sync_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status link(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override;
  Result<std::uint64_t> available_bytes(const std::string& path) override;

 private:
  /// The file of this name, or a null file for a folder. Null if the name does not exist.
  [[nodiscard]] const std::shared_ptr<MemoryFile>* find(const std::string& path) const REQUIRES(mutex_);
  [[nodiscard]] bool is_directory(const std::string& path) const REQUIRES(mutex_);
  [[nodiscard]] int check_file(const std::string& path) const REQUIRES(mutex_);
  [[nodiscard]] int check_new_name(const std::string& path) const REQUIRES(mutex_);

  const std::shared_ptr<MemoryLocks> locks_;
  mutable Mutex mutex_;
  std::map<std::string, std::shared_ptr<MemoryFile>> names_ GUARDED_BY(mutex_);  // A folder has no file.
};

}  // namespace tamis
