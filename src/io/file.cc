#include "io/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/try.h"

namespace tamis {
namespace {

/// An open descriptor, closed at the end of the scope.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int get() const { return fd_; }
  /// Closes now, so that the error of close(2) is seen.
  [[nodiscard]] bool close_now() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Status system_error(const std::string& path, std::string_view doing, int error) {
  const std::string message = fmt::format("{}: {}: {}", path, doing, std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) return Status::out_of_space(message);
  return Status::io_error(message);
}

Status write_all(int fd, const std::string& path, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return system_error(path, "cannot write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

Status write_and_sync(const std::string& path, Bytes bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file.get() < 0) return system_error(path, "cannot create", errno);
  TAMIS_TRY_STATUS(write_all(file.get(), path, bytes));
  if (::fsync(file.get()) != 0) return system_error(path, "cannot sync", errno);
  if (!file.close_now()) return system_error(path, "cannot close", errno);
  return {};
}

Status sync_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : path.substr(0, slash + 1);
  Descriptor folder(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) return system_error(directory, "cannot open", errno);
  if (::fsync(folder.get()) != 0) return system_error(directory, "cannot sync", errno);
  return {};
}

bool is_special_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) return system_error(path, "cannot open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return system_error(path, "cannot stat", errno);
  if (S_ISDIR(info.st_mode)) return Status::io_error(fmt::format("{}: is a directory, a file is needed", path));
  if (!S_ISREG(info.st_mode)) return Status::io_error(fmt::format("{}: is not a regular file", path));
  MappedFile mapped;
  mapped.size_ = static_cast<std::size_t>(info.st_size);
  if (mapped.size_ == 0) return mapped;
  void* memory = ::mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) {
    mapped.size_ = 0;
    return system_error(path, "cannot map", errno);
  }
  mapped.data_ = static_cast<const std::byte*>(memory);
  return mapped;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

Status write_file(const std::string& path, Bytes bytes) {
  if (path == "-") return write_all(STDOUT_FILENO, "standard output", bytes);
  if (is_special_file(path)) {
    const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (file.get() < 0) return system_error(path, "cannot open", errno);
    return write_all(file.get(), path, bytes);
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Status written = write_and_sync(temporary, bytes);
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = system_error(path, "cannot rename over", errno);
  }
  if (!written.ok()) {
    ::unlink(temporary.c_str());
    return written;
  }
  return sync_directory_of(path);
}

}  // namespace tamis
