// A file system that counts what is asked of it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace tamis::test {

/// Passes everything on, and counts. Reads are those of files; `calls` are all, on files as on names.
///
/// Threads: any number at once.
class CountingFileSystem final : public FileSystem {
 public:
  explicit CountingFileSystem(FileSystem& beneath) : beneath_(beneath) {}

  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    ++calls_;
    Result<std::unique_ptr<ReadableFile>> file = beneath_.open_readable(path);
    if (!file.ok()) return file;
    return std::unique_ptr<ReadableFile>(std::make_unique<CountedFile>(*this, std::move(*file)));
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    ++calls_;
    return beneath_.open_writable(path, mode);
  }
  Status sync_directory(const std::string& path) override { return ++calls_, beneath_.sync_directory(path); }
  Status rename(const std::string& from, const std::string& to) override { return ++calls_, beneath_.rename(from, to); }
  Status link(const std::string& from, const std::string& to) override { return ++calls_, beneath_.link(from, to); }
  Status remove(const std::string& path) override { return ++calls_, beneath_.remove(path); }
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return ++calls_, beneath_.list(path); }
  Status make_directory(const std::string& path) override { return ++calls_, beneath_.make_directory(path); }
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override {
    return ++calls_, beneath_.file_size(path);
  }
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override {
    return ++calls_, beneath_.lock(path, mode);
  }
  Result<std::uint64_t> available_bytes(const std::string& path) override {
    return ++calls_, beneath_.available_bytes(path);
  }

 private:
  class CountedFile final : public ReadableFile {
   public:
    CountedFile(CountingFileSystem& files, std::unique_ptr<ReadableFile> file)
        : files_(files), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
      ++files_.calls_;
      ++files_.reads_;
      return file_->read_at(offset, to);
    }
    [[nodiscard]] Result<std::uint64_t> size() const override {
      ++files_.calls_;
      return file_->size();
    }

   private:
    CountingFileSystem& files_;
    std::unique_ptr<ReadableFile> file_;
  };

  FileSystem& beneath_;
  std::atomic<std::uint64_t> reads_ = 0;
  std::atomic<std::uint64_t> calls_ = 0;
};

}  // namespace tamis::test
