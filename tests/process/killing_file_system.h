// The machine's files, until a chosen call kills the process.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/try.h"
#include "io/posix_file_system.h"

namespace tamis::test {

/// Forwards every call. While armed, counts down before each call that changes a file whose name ends with `suffix`; at
/// zero the process gets a SIGKILL, in the middle of its work.
///
/// Threads: any.
class KillingFileSystem final : public FileSystem {
 public:
  void arm(std::string suffix, std::int64_t calls) {
    suffix_ = std::move(suffix);
    left_ = calls;
  }
  void disarm() { left_ = kNever; }

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    return files_.open_readable(path);
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    count(path);
    TAMIS_TRY(std::unique_ptr<WritableFile> file, files_.open_writable(path, mode));
    return std::unique_ptr<WritableFile>(std::make_unique<File>(*this, std::move(file), path));
  }
  Status sync_directory(const std::string& path) override { return files_.sync_directory(path); }
  Status rename(const std::string& from, const std::string& to) override { return files_.rename(from, to); }
  Status link(const std::string& from, const std::string& to) override { return files_.link(from, to); }
  Status remove(const std::string& path) override { return files_.remove(path); }
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override { return files_.list(path); }
  Status make_directory(const std::string& path) override { return files_.make_directory(path); }
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override { return files_.file_size(path); }
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override {
    return files_.lock(path, mode);
  }
  Result<std::uint64_t> available_bytes(const std::string& path) override { return files_.available_bytes(path); }

 private:
  static constexpr std::int64_t kNever = std::int64_t{1} << 60;

  /// The process is killed in the middle of a record: after its header.
  class Window final : public FileWindow {
   public:
    Window(KillingFileSystem& files, std::unique_ptr<FileWindow> window, std::string path)
        : FileWindow(window->begin(), window->bytes()),
          files_(files),
          window_(std::move(window)),
          path_(std::move(path)) {}
    Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
      TAMIS_TRY_STATUS(window_->copy_in(offset, pieces.first(1)));
      files_.count(path_);
      return window_->copy_in(offset + pieces[0].size(), pieces.subspan(1));
    }

   private:
    KillingFileSystem& files_;
    const std::unique_ptr<FileWindow> window_;
    const std::string path_;
  };

  class File final : public WritableFile {
   public:
    File(KillingFileSystem& files, std::unique_ptr<WritableFile> file, std::string path)
        : files_(files), file_(std::move(file)), path_(std::move(path)) {}
    Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
      files_.count(path_);
      return file_->write_at(offset, pieces);
    }
    Status sync() override {
      files_.count(path_);
      return file_->sync();
    }
    Status truncate(std::uint64_t size) override { return file_->truncate(size); }
    Status preallocate(std::uint64_t size) override { return file_->preallocate(size); }
    Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes) override {
      TAMIS_TRY(std::unique_ptr<FileWindow> window, file_->open_window(offset, bytes));
      return std::unique_ptr<FileWindow>(std::make_unique<Window>(files_, std::move(window), path_));
    }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }
    Status close() override { return file_->close(); }

   private:
    KillingFileSystem& files_;
    const std::unique_ptr<WritableFile> file_;
    const std::string path_;
  };

  void count(const std::string& path) {
    if (left_.load() == kNever || path.find(suffix_) == std::string::npos) return;
    if (left_.fetch_sub(1) == 1) ::kill(::getpid(), SIGKILL);
  }

  FileSystem& files_ = posix_file_system();
  std::string suffix_;
  std::atomic<std::int64_t> left_ = kNever;
};

}  // namespace tamis::test
