// A file system whose rewrites can be interrupted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace tamis::test {

/// Passes everything on; before each call that writes or removes a table, and before a journal is removed, calls a
/// function. At these calls a flush or compaction holds no mutex but the one that says that it runs, so the function
/// may do to the store whatever does not wait for that.
///
/// Threads: any number at once, if the function is for as many.
class InterruptedFileSystem final : public FileSystem {
 public:
  InterruptedFileSystem(FileSystem& beneath, std::function<void()> interruption)
      : beneath_(beneath), interruption_(std::move(interruption)) {}

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    return beneath_.open_readable(path);
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    if (!path.ends_with(kTable)) return beneath_.open_writable(path, mode);
    interruption_();
    Result<std::unique_ptr<WritableFile>> file = beneath_.open_writable(path, mode);
    if (!file.ok()) return file;
    return std::unique_ptr<WritableFile>(std::make_unique<TableFile>(*this, std::move(*file)));
  }
  Status remove(const std::string& path) override {
    if (path.ends_with(kTable) || path.ends_with(".journal")) interruption_();
    return beneath_.remove(path);
  }
  Status sync_directory(const std::string& path) override { return beneath_.sync_directory(path); }
  Status rename(const std::string& from, const std::string& to) override { return beneath_.rename(from, to); }
  Status link(const std::string& from, const std::string& to) override { return beneath_.link(from, to); }
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return beneath_.list(path); }
  Status make_directory(const std::string& path) override { return beneath_.make_directory(path); }
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override { return beneath_.file_size(path); }
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override {
    return beneath_.lock(path, mode);
  }
  Result<std::uint64_t> available_bytes(const std::string& path) override { return beneath_.available_bytes(path); }

 private:
  static constexpr const char* kTable = ".tms";

  class TableFile final : public WritableFile {
   public:
    TableFile(InterruptedFileSystem& files, std::unique_ptr<WritableFile> file)
        : files_(files), file_(std::move(file)) {}
    Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
      return files_.interruption_(), file_->write_at(offset, pieces);
    }
    Status sync() override { return files_.interruption_(), file_->sync(); }
    Status truncate(std::uint64_t size) override { return files_.interruption_(), file_->truncate(size); }
    Status preallocate(std::uint64_t size) override { return files_.interruption_(), file_->preallocate(size); }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }
    Status close() override { return files_.interruption_(), file_->close(); }

   private:
    InterruptedFileSystem& files_;
    std::unique_ptr<WritableFile> file_;
  };

  FileSystem& beneath_;
  const std::function<void()> interruption_;
};

}  // namespace tamis::test
