// A file system whose rewrites can be interrupted.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "support/passing_file_system.h"

namespace tamis::test {

/// Forwards every call. Before each call that writes or removes a table or removes a journal, it calls a function.
/// At these calls a flush or compaction holds only the mutex that marks it as running, so the function may do anything
/// to the store that does not wait for that mutex.
///
/// Threads: any number at once, if the function allows it.
class InterruptedFileSystem final : public PassingFileSystem {
 public:
  InterruptedFileSystem(FileSystem& beneath, std::function<void()> interruption)
      : PassingFileSystem(beneath), interruption_(std::move(interruption)) {}

  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    if (!path.ends_with(kTable)) return PassingFileSystem::open_writable(path, mode);
    interruption_();
    Result<std::unique_ptr<WritableFile>> file = PassingFileSystem::open_writable(path, mode);
    if (!file.ok()) return file;
    return std::unique_ptr<WritableFile>(std::make_unique<TableFile>(*this, std::move(*file)));
  }
  Status remove(const std::string& path) override {
    if (path.ends_with(kTable) || path.ends_with(".journal")) interruption_();
    return PassingFileSystem::remove(path);
  }

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

  const std::function<void()> interruption_;
};

/// An interruption that calls `action` once, on another thread.
struct OneInterruption {
  void operator()() {
    if (action) std::thread(std::exchange(action, {})).join();
  }

  std::function<void()> action;
};

}  // namespace tamis::test
