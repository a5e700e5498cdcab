// A file system on which files have one name.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace tamis::test {

/// Passes every call on but those that link, as a folder on another disk would have it.
///
/// Threads: any number at once; `on_link` is set before.
class FileSystemWithoutLinks final : public FileSystem {
 public:
  explicit FileSystemWithoutLinks(FileSystem& beneath) : beneath_(beneath) {}

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    return beneath_.open_readable(path);
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    return beneath_.open_writable(path, mode);
  }
  Status sync_directory(const std::string& path) override { return beneath_.sync_directory(path); }
  Status rename(const std::string& from, const std::string& to) override { return beneath_.rename(from, to); }
  Status link(const std::string&, const std::string&) override {
    if (on_link) std::exchange(on_link, {})();
    return Status::io_error("links are not supported here");
  }
  Status remove(const std::string& path) override { return beneath_.remove(path); }
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return beneath_.list(path); }
  Status make_directory(const std::string& path) override { return beneath_.make_directory(path); }
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override { return beneath_.file_size(path); }
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override {
    return beneath_.lock(path, mode);
  }
  Result<std::uint64_t> available_bytes(const std::string& path) override { return beneath_.available_bytes(path); }

  std::function<void()> on_link;  ///< Happens at the first try.

 private:
  FileSystem& beneath_;
};

}  // namespace tamis::test
