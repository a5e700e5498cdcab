// A file system that counts calls.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/file_system.h"

namespace tamis::test {

/// Forwards and counts every call. Reads are reads of files; `calls` counts all calls, on files and on names. A window
/// counts as the system calls that map and unmap it; copying into it takes none.
///
/// Threads: any number at once.
class CountingFileSystem final : public FileSystem {
 public:
  explicit CountingFileSystem(FileSystem& beneath) : beneath_(beneath) {}

  [[nodiscard]] std::uint64_t reads() const { return reads_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  [[nodiscard]] std::uint64_t windows() const { return windows_; }
  [[nodiscard]] std::uint64_t open_windows() const { return open_windows_; }
  /// Files that are currently open for writing.
  [[nodiscard]] std::uint64_t open_for_writing() const { return open_for_writing_; }

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    ++calls_;
    Result<std::unique_ptr<ReadableFile>> file = beneath_.open_readable(path);
    if (!file.ok()) return file;
    return std::unique_ptr<ReadableFile>(std::make_unique<CountedFile>(*this, std::move(*file)));
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    ++calls_;
    Result<std::unique_ptr<WritableFile>> file = beneath_.open_writable(path, mode);
    if (!file.ok()) return file;
    return std::unique_ptr<WritableFile>(std::make_unique<CountedWritableFile>(*this, std::move(*file)));
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

  class CountedWindow final : public FileWindow {
   public:
    CountedWindow(CountingFileSystem& files, std::unique_ptr<FileWindow> window)
        : FileWindow(window->begin(), window->bytes()), files_(files), window_(std::move(window)) {
      ++files_.open_windows_;
    }
    ~CountedWindow() override { --files_.open_windows_; }
    Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
      return window_->copy_in(offset, pieces);
    }

   private:
    CountingFileSystem& files_;
    std::unique_ptr<FileWindow> window_;
  };

  class CountedWritableFile final : public WritableFile {
   public:
    CountedWritableFile(CountingFileSystem& files, std::unique_ptr<WritableFile> file)
        : files_(files), file_(std::move(file)) {
      ++files_.open_for_writing_;
    }
    ~CountedWritableFile() override { --files_.open_for_writing_; }
    Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
      return ++files_.calls_, file_->write_at(offset, pieces);
    }
    Status sync() override { return ++files_.calls_, file_->sync(); }
    Status truncate(std::uint64_t size) override { return ++files_.calls_, file_->truncate(size); }
    Status preallocate(std::uint64_t size) override { return ++files_.calls_, file_->preallocate(size); }
    Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes) override {
      ++files_.windows_;
      files_.calls_ += 4;  // mmap, madvise twice, munmap.
      Result<std::unique_ptr<FileWindow>> window = file_->open_window(offset, bytes);
      if (!window.ok()) return window;
      return std::unique_ptr<FileWindow>(std::make_unique<CountedWindow>(files_, std::move(*window)));
    }
    [[nodiscard]] Result<std::uint64_t> size() const override { return ++files_.calls_, file_->size(); }
    Status close() override { return ++files_.calls_, file_->close(); }

   private:
    CountingFileSystem& files_;
    std::unique_ptr<WritableFile> file_;
  };

  FileSystem& beneath_;
  std::atomic<std::uint64_t> windows_ = 0;
  std::atomic<std::uint64_t> open_windows_ = 0;
  std::atomic<std::uint64_t> open_for_writing_ = 0;
  std::atomic<std::uint64_t> reads_ = 0;
  std::atomic<std::uint64_t> calls_ = 0;
};

}  // namespace tamis::test
