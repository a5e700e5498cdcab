// File systems that change one or two calls of another.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "io/file_system.h"

namespace tamis::test {

/// Forwards every call.
///
/// Threads: any number at once.
class PassingFileSystem : public FileSystem {
 public:
  explicit PassingFileSystem(FileSystem& beneath) : beneath_(beneath) {}

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    return beneath_.open_readable(path);
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    return beneath_.open_writable(path, mode);
  }
  Status sync_directory(const std::string& path) override { return beneath_.sync_directory(path); }
  Status rename(const std::string& from, const std::string& to) override { return beneath_.rename(from, to); }
  Status link(const std::string& from, const std::string& to) override { return beneath_.link(from, to); }
  Status remove(const std::string& path) override { return beneath_.remove(path); }
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return beneath_.list(path); }
  Status make_directory(const std::string& path) override { return beneath_.make_directory(path); }
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override { return beneath_.file_size(path); }
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override {
    return beneath_.lock(path, mode);
  }
  Result<std::uint64_t> available_bytes(const std::string& path) override { return beneath_.available_bytes(path); }

 private:
  FileSystem& beneath_;
};

/// Files have only one name, as if the folder were on another disk.
class FileSystemWithoutLinks final : public PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  Status link(const std::string&, const std::string&) override {
    if (on_link) std::exchange(on_link, {})();
    return Status::io_error("links are not supported here");
  }

  std::function<void()> on_link;  ///< Called at the first attempt; set it before.
};

/// Calls a function once, in the middle of an open or after a rename.
class HookedFileSystem final : public PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    if (on_open) std::exchange(on_open, {})();
    return PassingFileSystem::open_readable(path);
  }
  Status rename(const std::string& from, const std::string& to) override {
    Status renamed = PassingFileSystem::rename(from, to);
    if (after_rename) std::exchange(after_rename, {})();
    return renamed;
  }

  std::function<void()> on_open;
  std::function<void()> after_rename;
};

/// Creating a table waits while the gate is shut, and then fails with `answer` if that is an error.
class GatedFileSystem final : public PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  void shut() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    is_shut_ = true;
  }
  void open(Status answer = {}) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    is_shut_ = false;
    answer_ = std::move(answer);
    opened_.notify_all();
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override
      EXCLUDES(mutex_) {
    if (path.ends_with(".tms")) {
      MutexLock lock(mutex_);
      while (is_shut_) opened_.wait(mutex_);
      if (!answer_.ok()) return answer_;
    }
    return PassingFileSystem::open_writable(path, mode);
  }

 private:
  Mutex mutex_;
  Condition opened_;
  bool is_shut_ GUARDED_BY(mutex_) = false;
  Status answer_ GUARDED_BY(mutex_);
};

}  // namespace tamis::test
