// A file system that reports every call, and whose user can be stopped.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "support/passing_file_system.h"

namespace tamis::test {

/// Forwards calls. Calls `after_change` after each that changes a file or a name, and `before_read` before each that
/// only looks. After `stop`, calls that change anything fail: whoever uses it has died.
///
/// Threads: as the functions allow.
class ObservedFileSystem final : public PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  std::function<void()> after_change;
  std::function<void()> before_read;
  void stop() { is_stopped_ = true; }

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    look();
    Result<std::unique_ptr<ReadableFile>> file = PassingFileSystem::open_readable(path);
    if (!file.ok()) return file;
    return std::unique_ptr<ReadableFile>(std::make_unique<Readable>(*this, *std::move(file)));
  }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    if (is_stopped_) return stopped();
    Result<std::unique_ptr<WritableFile>> file = PassingFileSystem::open_writable(path, mode);
    changed();
    if (!file.ok()) return file;
    return std::unique_ptr<WritableFile>(std::make_unique<Writable>(*this, *std::move(file)));
  }
  Status sync_directory(const std::string& path) override {
    return change([&] { return PassingFileSystem::sync_directory(path); });
  }
  Status rename(const std::string& from, const std::string& to) override {
    return change([&] { return PassingFileSystem::rename(from, to); });
  }
  Status link(const std::string& from, const std::string& to) override {
    return change([&] { return PassingFileSystem::link(from, to); });
  }
  Status remove(const std::string& path) override {
    return change([&] { return PassingFileSystem::remove(path); });
  }
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    look();
    return PassingFileSystem::list(path);
  }
  Status make_directory(const std::string& path) override {
    return change([&] { return PassingFileSystem::make_directory(path); });
  }
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override {
    look();
    return PassingFileSystem::file_size(path);
  }

 private:
  class Readable final : public ReadableFile {
   public:
    Readable(ObservedFileSystem& files, std::unique_ptr<ReadableFile> file) : files_(files), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
      files_.look();
      return file_->read_at(offset, to);
    }
    [[nodiscard]] Result<std::uint64_t> size() const override {
      files_.look();
      return file_->size();
    }

   private:
    ObservedFileSystem& files_;
    std::unique_ptr<ReadableFile> file_;
  };

  class Window final : public FileWindow {
   public:
    Window(ObservedFileSystem& files, std::unique_ptr<FileWindow> window)
        : FileWindow(window->begin(), window->bytes()), files_(files), window_(std::move(window)) {}
    /// In two steps: a reader may see the first half of what is copied.
    Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
      std::uint64_t at = offset;
      for (const Bytes piece : pieces) {
        const Bytes halves[] = {piece.first(piece.size() / 2), piece.subspan(piece.size() / 2)};
        for (const Bytes& half : halves) {
          const Status copied = files_.change([&] { return window_->copy_in(at, std::span(&half, 1)); });
          if (!copied.ok()) return copied;
          at += half.size();
        }
      }
      return {};
    }

   private:
    ObservedFileSystem& files_;
    std::unique_ptr<FileWindow> window_;
  };

  class Writable final : public WritableFile {
   public:
    Writable(ObservedFileSystem& files, std::unique_ptr<WritableFile> file) : files_(files), file_(std::move(file)) {}
    Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
      return files_.change([&] { return file_->write_at(offset, pieces); });
    }
    Status write_durably_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
      return files_.change([&] { return file_->write_durably_at(offset, pieces); });
    }
    Status sync() override {
      return files_.change([&] { return file_->sync(); });
    }
    Status truncate(std::uint64_t size) override {
      return files_.change([&] { return file_->truncate(size); });
    }
    Status preallocate(std::uint64_t size) override {
      return files_.change([&] { return file_->preallocate(size); });
    }
    Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes) override {
      Result<std::unique_ptr<FileWindow>> window = file_->open_window(offset, bytes);
      if (!window.ok()) return window;
      return std::unique_ptr<FileWindow>(std::make_unique<Window>(files_, *std::move(window)));
    }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }
    void was_renamed(const std::string& path) override { file_->was_renamed(path); }
    Status close() override { return file_->close(); }

   private:
    ObservedFileSystem& files_;
    std::unique_ptr<WritableFile> file_;
  };

  static Status stopped() { return Status::io_error("the process has died"); }
  template <typename Call>
  Status change(Call call) {
    if (is_stopped_) return stopped();
    Status done = call();
    changed();
    return done;
  }
  void changed() {
    if (after_change) after_change();
  }
  void look() {
    if (before_read) before_read();
  }

  bool is_stopped_ = false;
};

}  // namespace tamis::test
