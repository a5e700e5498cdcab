// Files in memory, on a modelled disk that a test can crash after any call.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/sync.h"
#include "io/file_system.h"
#include "support/memory_disk.h"

namespace tamis {

/// FileSystem over a MemoryDisk. Paths are compared as text; "." and "/" exist, other folders are created. Not
/// supported: renaming a folder.
///
///     CrashFileSystem files;
///     files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
///       CrashFileSystem rebooted(disk.after_crash(Loss::kSectors, seed));   // open the store on it and check
///     });
///
/// Invariants:
///  1. Calls that change the disk are serialised; the log has one line for each that succeeded.
///  2. The file system must outlive its files and locks.
///
/// Threads: any.
class CrashFileSystem final : public FileSystem {
 public:
  using Observer = std::function<void(const MemoryDisk& disk, std::string_view call)>;

  explicit CrashFileSystem(MemoryDisk disk = {}) : disk_(std::move(disk)) {}

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

  /// Called after each change, before its caller returns, with the disk as it then is; must not call back.
  void after_each_call(Observer observer);
  /// The changes so far, e.g. "write /store/7.journal 4096+132".
  [[nodiscard]] std::vector<std::string> call_log() const;
  /// A copy of the current disk.
  [[nodiscard]] MemoryDisk disk() const;
  /// From now on the disk has this size; writes beyond it fail with ENOSPC.
  void set_capacity(std::uint64_t bytes);

 private:
  friend class CrashWritableFile;
  friend class CrashFileWindow;
  friend class CrashReadableFile;
  friend class CrashFileLock;
  using FileId = MemoryDisk::FileId;

  [[nodiscard]] int check_new_name(const std::string& path) const REQUIRES(mutex_);
  [[nodiscard]] std::optional<FileId> find(const std::string& path) const REQUIRES(mutex_);
  [[nodiscard]] bool is_directory(const std::string& path) const REQUIRES(mutex_);
  [[nodiscard]] bool has_room_for(const CachedFile& file, std::uint64_t size) const REQUIRES(mutex_);
  void changed(std::string call) REQUIRES(mutex_);

  mutable Mutex mutex_;
  MemoryDisk disk_ GUARDED_BY(mutex_);
  std::vector<std::string> log_ GUARDED_BY(mutex_);
  Observer observer_ GUARDED_BY(mutex_);
  std::map<std::string, int> locks_ GUARDED_BY(mutex_);  // Number of shared holders, or -1 for an exclusive one.
  std::uint64_t capacity_bytes_ GUARDED_BY(mutex_) = std::uint64_t{1} << 40;
};

/// A file of a CrashFileSystem, open for writing. A separate type, so that FaultyFileSystem can make its sync fail as
/// a disk's does.
///
/// Threads: one at a time.
class CrashWritableFile final : public WritableFile {
 public:
  CrashWritableFile(CrashFileSystem& files, MemoryDisk::FileId id, std::string path)
      : files_(files), id_(id), path_(std::move(path)) {}
  ~CrashWritableFile() override;

  Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override;
  Status write_durably_at(std::uint64_t offset, std::span<const Bytes> pieces) override;
  Status sync() override;
  Status truncate(std::uint64_t size) override;
  Status preallocate(std::uint64_t size) override;
  Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes) override;
  [[nodiscard]] Result<std::uint64_t> size() const override;
  Status close() override;

  /// Some unsynced pages reach the disk, the others never will: CachedFile::fail_sync.
  void fail_sync(std::uint64_t seed);

 private:
  CrashFileSystem& files_;
  const MemoryDisk::FileId id_;
  const std::string path_;
};

}  // namespace tamis
