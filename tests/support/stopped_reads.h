// A file system that can make a thread wait for its disk.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "support/passing_file_system.h"

namespace tamis::test {

/// Forwards every call; the next read of a thread that called stop_next_read waits until go_on.
///
/// Threads: any number at once.
class StoppedReads final : public PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  /// Of the calling thread.
  void stop_next_read() { stops_here_ = true; }
  void wait_until_stopped(int threads) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (stopped_ < threads) changed_.wait(mutex_);
  }
  void go_on() EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    stopped_ = 0;
    changed_.notify_all();
  }

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    Result<std::unique_ptr<ReadableFile>> file = PassingFileSystem::open_readable(path);
    if (!file.ok()) return file;
    return std::unique_ptr<ReadableFile>(std::make_unique<File>(*this, std::move(*file)));
  }

 private:
  class File final : public ReadableFile {
   public:
    File(StoppedReads& files, std::unique_ptr<ReadableFile> file) : files_(files), file_(std::move(file)) {}
    Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
      files_.stop_if_asked();
      return file_->read_at(offset, to);
    }
    [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }

   private:
    StoppedReads& files_;
    std::unique_ptr<ReadableFile> file_;
  };

  void stop_if_asked() EXCLUDES(mutex_) {
    if (!std::exchange(stops_here_, false)) return;
    MutexLock lock(mutex_);
    ++stopped_;
    changed_.notify_all();
    while (stopped_ > 0) changed_.wait(mutex_);
  }

  static inline thread_local bool stops_here_ = false;
  Mutex mutex_;
  Condition changed_;
  int stopped_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tamis::test
