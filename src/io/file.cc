#include "io/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/try.h"
#include "io/descriptor.h"
#include "io/errno_status.h"
#include "io/path.h"

namespace tamis {
namespace {

Status write_all(int fd, const std::string& path, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno_status(path, "cannot write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return {};
}

/// Writes a new, durable file. Messages name `path`: the caller does not know the temporary file.
Status write_new_file(const std::string& temporary, const std::string& path, Bytes bytes) {
  const auto open = [&] { return ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666); };
  Descriptor file(retry_interrupted(open));
  if (!file.is_open()) return errno_status(path, "cannot create", errno);
  TAMIS_TRY_STATUS(write_all(file.get(), path, bytes));
  if (retry_interrupted([&] { return ::fdatasync(file.get()); }) != 0) return errno_status(path, "cannot sync", errno);
  if (!file.close_now()) return errno_status(path, "cannot close", errno);
  return {};
}

Status sync_folder(const std::string& path) {
  const Descriptor folder(retry_interrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
  if (!folder.is_open()) return errno_status(path, "cannot open", errno);
  if (retry_interrupted([&] { return ::fsync(folder.get()); }) != 0) return errno_status(path, "cannot sync", errno);
  return {};
}

bool is_special_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return errno_status(path, "cannot open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno_status(path, "cannot stat", errno);
  if (S_ISDIR(info.st_mode)) return Status::io_error(fmt::format("{}: is a folder, not a file", path));
  if (!S_ISREG(info.st_mode)) return Status::io_error(fmt::format("{}: is not a regular file", path));
  MappedFile mapped;
  mapped.size_ = static_cast<std::size_t>(info.st_size);
  if (mapped.size_ == 0) return mapped;
  void* memory = ::mmap(nullptr, mapped.size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (memory == MAP_FAILED) {
    mapped.size_ = 0;
    return errno_status(path, "cannot map", errno);
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
    if (!file.is_open()) return errno_status(path, "cannot open", errno);
    return write_all(file.get(), path, bytes);
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Status written = write_new_file(temporary, path, bytes);
  if (written.ok() && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = errno_status(path, "cannot replace", errno);
  }
  if (!written.ok()) {
    ::unlink(temporary.c_str());  // Report the first error.
    return written;
  }
  return sync_folder(parent_directory(path));
}

}  // namespace tamis
