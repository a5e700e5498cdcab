// leveldb::Env::Default(): files, threads and clock of the machine, for programs. A store does not use it.
#include <dirent.h>
#include <leveldb/env.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "posix_files.h"

namespace tamis::dropin {
namespace {

using leveldb::Status;

Status result_of(int returned, const std::string& name) {
  return returned == 0 ? Status::OK() : errno_status(name, errno);
}

/// Runs what a program schedules, in order, on one thread that is started by the first call and never ends.
///
/// Threads: any number.
class BackgroundQueue {
 public:
  using Function = void (*)(void*);

  void add(Function function, void* argument) {
    const std::lock_guard lock(mutex_);
    if (!std::exchange(is_started_, true)) std::thread([this] { run(); }).detach();
    waiting_.emplace_back(function, argument);
    changed_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return !waiting_.empty(); });
      const auto [function, argument] = waiting_.front();
      waiting_.pop_front();
      lock.unlock();
      function(argument);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Function, void*>> waiting_;
  bool is_started_ = false;
};

/// Threads: any number.
class PosixEnv final : public leveldb::Env {
 public:
  Status NewSequentialFile(const std::string& name, leveldb::SequentialFile** file) override {
    return open_sequential(name, file);
  }
  Status NewRandomAccessFile(const std::string& name, leveldb::RandomAccessFile** file) override {
    return open_random_access(name, file);
  }
  Status NewWritableFile(const std::string& name, leveldb::WritableFile** file) override {
    return open_writable(name, false, file);
  }
  Status NewAppendableFile(const std::string& name, leveldb::WritableFile** file) override {
    return open_writable(name, true, file);
  }
  bool FileExists(const std::string& name) override { return ::access(name.c_str(), F_OK) == 0; }
  Status GetChildren(const std::string& folder, std::vector<std::string>* names) override {
    names->clear();
    const std::unique_ptr<DIR, int (*)(DIR*)> opened(::opendir(folder.c_str()), ::closedir);
    if (opened == nullptr) return errno_status(folder, errno);
    while (const dirent* entry = ::readdir(opened.get())) names->emplace_back(entry->d_name);
    return Status::OK();
  }
  Status RemoveFile(const std::string& name) override { return result_of(::unlink(name.c_str()), name); }
  Status CreateDir(const std::string& name) override { return result_of(::mkdir(name.c_str(), 0755), name); }
  Status RemoveDir(const std::string& name) override { return result_of(::rmdir(name.c_str()), name); }
  Status GetFileSize(const std::string& name, std::uint64_t* bytes) override {
    struct stat facts {};
    Status status = result_of(::stat(name.c_str(), &facts), name);
    *bytes = status.ok() ? static_cast<std::uint64_t>(facts.st_size) : 0;
    return status;
  }
  Status RenameFile(const std::string& from, const std::string& to) override {
    return result_of(std::rename(from.c_str(), to.c_str()), from);
  }
  Status LockFile(const std::string& name, leveldb::FileLock** lock) override { return lock_file(name, lock); }
  Status UnlockFile(leveldb::FileLock* lock) override { return unlock_file(lock); }
  void Schedule(void (*function)(void*), void* argument) override { queue_.add(function, argument); }
  void StartThread(void (*function)(void*), void* argument) override { std::thread(function, argument).detach(); }
  Status GetTestDirectory(std::string* path) override {
    const char* chosen = std::getenv("TEST_TMPDIR");
    const bool is_chosen = chosen != nullptr && *chosen != '\0';
    *path = is_chosen ? std::string(chosen) : "/tmp/leveldbtest-" + std::to_string(::geteuid());
    (void)CreateDir(*path);  // It may exist.
    return Status::OK();
  }
  Status NewLogger(const std::string& name, leveldb::Logger** logger) override { return open_logger(name, logger); }
  std::uint64_t NowMicros() override {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
  }
  void SleepForMicroseconds(int micros) override {
    if (micros > 0) std::this_thread::sleep_for(std::chrono::microseconds(micros));
  }

 private:
  BackgroundQueue queue_;
};

}  // namespace
}  // namespace tamis::dropin

namespace leveldb {

// Never destroyed: its thread never ends.
Env* Env::Default() {
  static Env& machine = *new tamis::dropin::PosixEnv();
  return &machine;
}

}  // namespace leveldb
