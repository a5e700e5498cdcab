// The machine's files without windows: every append is a system call.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "io/file_system.h"

namespace tamis::bench {

/// Forwards everything, except that files cannot be mapped.
///
/// Threads: any.
class PlainFiles final : public FileSystem {
 public:
  explicit PlainFiles(FileSystem& beneath) : beneath_(beneath) {}

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    return beneath_.open_readable(path);
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    TAMIS_TRY(std::unique_ptr<WritableFile> file, beneath_.open_writable(path, mode));
    return std::unique_ptr<WritableFile>(std::make_unique<File>(std::move(file)));
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
  class File final : public WritableFile {
   public:
    explicit File(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}
    Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
      return file_->write_at(offset, pieces);
    }
    Status sync() override { return file_->sync(); }
    Status truncate(std::uint64_t size) override { return file_->truncate(size); }
    Status preallocate(std::uint64_t size) override { return file_->preallocate(size); }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }
    Status close() override { return file_->close(); }

   private:
    const std::unique_ptr<WritableFile> file_;
  };

  FileSystem& beneath_;
};

}  // namespace tamis::bench
