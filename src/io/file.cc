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
#include "io/posix_file_system.h"

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

Status write_and_sync(FileSystem& files, const std::string& path, Bytes bytes) {
  TAMIS_TRY(const std::unique_ptr<WritableFile> file, files.open_writable(path, OpenMode::kReplace));
  TAMIS_TRY_STATUS(file->write_at(0, std::span(&bytes, 1)));
  TAMIS_TRY_STATUS(file->sync());
  return file->close();
}

bool is_special_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
}

/// The caller knows nothing of a temporary file: messages name the one that was to be written.
Status named_after(const std::string& path, const std::string& temporary, const Status& status) {
  if (!status.message().starts_with(temporary)) return status;
  std::string message = path + std::string(status.message().substr(temporary.size()));
  return status.code() == StatusCode::kOutOfSpace ? Status::out_of_space(std::move(message))
                                                  : Status::io_error(std::move(message));
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.is_open()) return errno_status(path, "cannot open", errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno_status(path, "cannot stat", errno);
  if (S_ISDIR(info.st_mode)) return Status::io_error(fmt::format("{}: is a directory, a file is needed", path));
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
  FileSystem& files = posix_file_system();
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  Status written = write_and_sync(files, temporary, bytes);
  if (written.ok()) written = files.rename(temporary, path);
  if (!written.ok()) {
    (void)files.remove(temporary).ok();  // The first error is the one to report.
    return named_after(path, temporary, written);
  }
  return files.sync_directory(parent_directory(path));
}

}  // namespace tamis
