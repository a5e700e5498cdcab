#include "posix_files.h"

#include <fcntl.h>
#include <leveldb/slice.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace tamis::dropin {

using leveldb::Slice;
using leveldb::Status;

Status errno_status(const std::string& name, int error) {
  const std::string why = std::generic_category().message(error);
  return error == ENOENT ? Status::NotFound(name, why) : Status::IOError(name, why);
}

namespace {

constexpr std::size_t kWriteBuffer = 64 << 10;

/// A descriptor that closes itself.
class OpenFile {
 public:
  OpenFile(std::string name, int flags) : name_(std::move(name)), fd_(::open(name_.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool is_open() const { return fd_ >= 0; }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] Status error() const { return errno_status(name_, errno); }
  [[nodiscard]] Status close() {
    const int fd = std::exchange(fd_, -1);
    return fd < 0 || ::close(fd) == 0 ? Status::OK() : error();
  }

 private:
  const std::string name_;
  int fd_;
};

/// Makes a file of this type if the call succeeds, null otherwise.
template <typename Made, typename Interface, typename... Arguments>
Status open_as(Interface** to, const std::string& name, int flags, Arguments... arguments) {
  auto made = std::make_unique<Made>(name, flags, arguments...);
  *to = nullptr;
  if (!made->is_open()) return errno_status(name, errno);
  *to = made.release();
  return Status::OK();
}

class PosixSequentialFile final : public leveldb::SequentialFile {
 public:
  PosixSequentialFile(const std::string& name, int flags) : file_(name, flags) {}
  [[nodiscard]] bool is_open() const { return file_.is_open(); }

  Status Read(std::size_t n, Slice* result, char* scratch) override {
    ssize_t bytes = 0;
    do {
      bytes = ::read(file_.get(), scratch, n);
    } while (bytes < 0 && errno == EINTR);
    *result = Slice(scratch, bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return bytes < 0 ? file_.error() : Status::OK();
  }
  Status Skip(std::uint64_t n) override {
    return ::lseek(file_.get(), static_cast<off_t>(n), SEEK_CUR) < 0 ? file_.error() : Status::OK();
  }

 private:
  OpenFile file_;
};

class PosixRandomAccessFile final : public leveldb::RandomAccessFile {
 public:
  PosixRandomAccessFile(const std::string& name, int flags) : file_(name, flags) {}
  [[nodiscard]] bool is_open() const { return file_.is_open(); }

  Status Read(std::uint64_t offset, std::size_t n, Slice* result, char* scratch) const override {
    const ssize_t bytes = ::pread(file_.get(), scratch, n, static_cast<off_t>(offset));
    *result = Slice(scratch, bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return bytes < 0 ? file_.error() : Status::OK();
  }

 private:
  OpenFile file_;
};

class PosixWritableFile final : public leveldb::WritableFile {
 public:
  PosixWritableFile(const std::string& name, int flags) : file_(name, flags) { buffer_.reserve(kWriteBuffer); }
  ~PosixWritableFile() override { (void)Close(); }
  [[nodiscard]] bool is_open() const { return file_.is_open(); }

  Status Append(const Slice& data) override {
    if (buffer_.size() + data.size() <= kWriteBuffer) {
      buffer_.append(data.data(), data.size());
      return Status::OK();
    }
    const Status status = Flush();
    return status.ok() ? write({data.data(), data.size()}) : status;
  }
  Status Flush() override {
    Status status = write(buffer_);
    buffer_.clear();
    return status;
  }
  Status Sync() override {
    Status status = Flush();
    if (!status.ok()) return status;
    return ::fdatasync(file_.get()) == 0 ? Status::OK() : file_.error();
  }
  Status Close() override {
    if (!file_.is_open()) return Status::OK();
    const Status flushed = Flush();
    Status closed = file_.close();
    return flushed.ok() ? closed : flushed;
  }

 private:
  Status write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return file_.error();
      bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return Status::OK();
  }

  OpenFile file_;
  std::string buffer_;
};

class PosixLogger final : public leveldb::Logger {
 public:
  explicit PosixLogger(std::FILE* file) : file_(file) {}
  ~PosixLogger() override { std::fclose(file_); }

  void Logv(const char* format, std::va_list arguments) override {
    timeval now{};
    ::gettimeofday(&now, nullptr);
    tm parts{};
    ::localtime_r(&now.tv_sec, &parts);
    char time[32];
    std::strftime(time, sizeof(time), "%Y/%m/%d-%H:%M:%S", &parts);
    const std::size_t thread = std::hash<std::thread::id>()(std::this_thread::get_id());
    const std::string text = formatted(format, arguments);
    ::flockfile(file_);  // One line is not interrupted by another.
    std::fprintf(file_, "%s.%06ld %zu %s%s", time, static_cast<long>(now.tv_usec), thread, text.c_str(),
                 text.ends_with('\n') ? "" : "\n");
    std::fflush(file_);
    ::funlockfile(file_);
  }

 private:
  static std::string formatted(const char* format, std::va_list arguments) {
    std::va_list again;
    va_copy(again, arguments);
    const int bytes = std::vsnprintf(nullptr, 0, format, again);
    va_end(again);
    std::string text(static_cast<std::size_t>(std::max(bytes, 0)) + 1, '\0');
    std::vsnprintf(text.data(), text.size(), format, arguments);
    text.pop_back();
    return text;
  }

  std::FILE* const file_;
};

}  // namespace

Status open_sequential(const std::string& name, leveldb::SequentialFile** file) {
  return open_as<PosixSequentialFile>(file, name, O_RDONLY);
}
Status open_random_access(const std::string& name, leveldb::RandomAccessFile** file) {
  return open_as<PosixRandomAccessFile>(file, name, O_RDONLY);
}
Status open_writable(const std::string& name, bool appends, leveldb::WritableFile** file) {
  return open_as<PosixWritableFile>(file, name, O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC));
}
Status open_logger(const std::string& name, leveldb::Logger** logger) {
  std::FILE* file = std::fopen(name.c_str(), "we");
  *logger = file == nullptr ? nullptr : new PosixLogger(file);
  return file == nullptr ? errno_status(name, errno) : Status::OK();
}

}  // namespace tamis::dropin
