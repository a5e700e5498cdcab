#include "io/memory_file_system.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <utility>

#include "base/check.h"
#include "base/try.h"
#include "io/errno_status.h"
#include "io/path.h"

namespace tamis {

/// The bytes of a file, shared by its names and its open handles.
///
/// Threads: any.
class MemoryFile {
 public:
  std::size_t read(std::uint64_t offset, MutableBytes to) const {
    const MutexLock lock(mutex_);
    if (offset >= bytes_.size()) return 0;
    const std::size_t count = std::min<std::size_t>(to.size(), bytes_.size() - offset);
    std::ranges::copy(as_bytes(bytes_).subspan(offset, count), to.begin());
    return count;
  }

  /// 0, or an errno.
  int write(std::uint64_t offset, std::span<const Bytes> pieces) {
    std::uint64_t count = 0;
    for (const Bytes piece : pieces) count += piece.size();
    if (count == 0) return 0;
    const MutexLock lock(mutex_);
    if (offset + count > bytes_.size()) {
      if (const int error = set_size(offset + count); error != 0) return error;
    }
    for (const Bytes piece : pieces) {
      std::ranges::copy(as_text(piece), bytes_.begin() + static_cast<std::ptrdiff_t>(offset));
      offset += piece.size();
    }
    return 0;
  }

  int resize(std::uint64_t size) {
    const MutexLock lock(mutex_);
    return set_size(size);
  }

  int grow(std::uint64_t size) {
    const MutexLock lock(mutex_);
    return size <= bytes_.size() ? 0 : set_size(size);
  }

  [[nodiscard]] std::uint64_t size() const {
    const MutexLock lock(mutex_);
    return bytes_.size();
  }

 private:
  int set_size(std::uint64_t size) REQUIRES(mutex_) {
    try {
      bytes_.resize(size);
      return 0;
    } catch (const std::bad_alloc&) {
      return ENOSPC;
    }
  }

  mutable Mutex mutex_;
  std::string bytes_ GUARDED_BY(mutex_);
};

/// The locks that are held, by path.
///
/// Threads: any.
class MemoryLocks {
 public:
  bool take(const std::string& path, LockMode mode) {
    const MutexLock lock(mutex_);
    int& holders = holders_[path];
    if (holders < 0 || (mode == LockMode::kExclusive && holders > 0)) return false;
    holders = mode == LockMode::kExclusive ? -1 : holders + 1;
    return true;
  }
  void release(const std::string& path) {
    const MutexLock lock(mutex_);
    int& holders = holders_[path];
    holders = holders > 0 ? holders - 1 : 0;
  }

 private:
  Mutex mutex_;
  std::map<std::string, int> holders_ GUARDED_BY(mutex_);  // Readers who share it, or -1 for a writer.
};

namespace {

Status status_of(int error, const std::string& path, std::string_view doing) {
  return error == 0 ? Status() : errno_status(path, doing, error);
}

class MemoryReadableFile final : public ReadableFile {
 public:
  explicit MemoryReadableFile(std::shared_ptr<const MemoryFile> file) : file_(std::move(file)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override { return file_->read(offset, to); }
  [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }

 private:
  const std::shared_ptr<const MemoryFile> file_;
};

class MemoryFileWindow final : public FileWindow {
 public:
  MemoryFileWindow(std::shared_ptr<MemoryFile> file, std::string path, std::uint64_t begin, std::uint64_t bytes)
      : FileWindow(begin, bytes), file_(std::move(file)), path_(std::move(path)) {}

  Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
    std::uint64_t count = 0;
    for (const Bytes piece : pieces) count += piece.size();
    TAMIS_CHECK(offset >= begin() && offset <= end() && count <= end() - offset);
    const bool fits = offset + count <= file_->size();  // Otherwise a signal, on a real machine.
    return status_of(fits ? file_->write(offset, pieces) : EIO, path_, fmt::format("cannot copy to {}", offset));
  }

 private:
  const std::shared_ptr<MemoryFile> file_;
  const std::string path_;
};

class MemoryWritableFile final : public WritableFile {
 public:
  MemoryWritableFile(std::shared_ptr<MemoryFile> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {}

  Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
    return status_of(file_->write(offset, pieces), path_, fmt::format("cannot write at {}", offset));
  }
  Status sync() override { return {}; }
  Status truncate(std::uint64_t size) override { return status_of(file_->resize(size), path_, "cannot resize"); }
  Status preallocate(std::uint64_t size) override {
    return status_of(file_->grow(size), path_, fmt::format("cannot allocate {} bytes", size));
  }
  Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes) override {
    TAMIS_CHECK(offset + bytes <= file_->size());
    return std::unique_ptr<FileWindow>(std::make_unique<MemoryFileWindow>(file_, path_, offset, bytes));
  }
  [[nodiscard]] Result<std::uint64_t> size() const override { return file_->size(); }
  void was_renamed(const std::string& path) override { path_ = path; }
  Status close() override { return {}; }

 private:
  const std::shared_ptr<MemoryFile> file_;
  std::string path_;
};

class MemoryFileLock final : public FileLock {
 public:
  MemoryFileLock(std::shared_ptr<MemoryLocks> locks, std::string path)
      : locks_(std::move(locks)), path_(std::move(path)) {}
  ~MemoryFileLock() override { locks_->release(path_); }

 private:
  const std::shared_ptr<MemoryLocks> locks_;
  const std::string path_;
};

}  // namespace

MemoryFileSystem::MemoryFileSystem() : locks_(std::make_shared<MemoryLocks>()), names_{{".", {}}, {"/", {}}} {}

MemoryFileSystem::~MemoryFileSystem() = default;

Result<std::unique_ptr<ReadableFile>> MemoryFileSystem::open_readable(const std::string& path) {
  const MutexLock lock(mutex_);
  TAMIS_TRY_STATUS(status_of(check_file(path), path, "cannot open"));
  return std::unique_ptr<ReadableFile>(std::make_unique<MemoryReadableFile>(names_.at(path)));
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::open_writable(const std::string& path, OpenMode mode) {
  const MutexLock lock(mutex_);
  if (mode == OpenMode::kCreate || (mode == OpenMode::kReplace && find(path) == nullptr)) {
    TAMIS_TRY_STATUS(status_of(check_new_name(path), path, "cannot create"));
    names_[path] = std::make_shared<MemoryFile>();
  }
  TAMIS_TRY_STATUS(status_of(check_file(path), path, "cannot open"));
  const std::shared_ptr<MemoryFile>& file = names_.at(path);
  if (mode == OpenMode::kReplace) TAMIS_TRY_STATUS(status_of(file->resize(0), path, "cannot empty"));
  return std::unique_ptr<WritableFile>(std::make_unique<MemoryWritableFile>(file, path));
}

Status MemoryFileSystem::sync_directory(const std::string& path) {
  const MutexLock lock(mutex_);
  return status_of(is_directory(path) ? 0 : ENOENT, path, "cannot open");
}

Status MemoryFileSystem::rename(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  int error = check_file(from);
  if (error == EISDIR) error = ENOTSUP;
  if (error == 0 && is_directory(to)) error = EISDIR;
  if (error == 0 && !is_directory(parent_directory(to))) error = ENOENT;
  if (error != 0) return errno_status(from, fmt::format("cannot rename to {}", to), error);
  const std::shared_ptr<MemoryFile> file = names_.at(from);
  const std::shared_ptr<MemoryFile>* const target = find(to);
  if (target != nullptr && *target == file) return {};  // Two names of one file: POSIX leaves both.
  names_[to] = file;
  names_.erase(from);
  return {};
}

Status MemoryFileSystem::link(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  int error = check_file(from);
  if (error == EISDIR) error = EPERM;
  if (error == 0) error = check_new_name(to);
  if (error != 0) return errno_status(from, fmt::format("cannot link to {}", to), error);
  names_[to] = names_.at(from);
  return {};
}

Status MemoryFileSystem::remove(const std::string& path) {
  const MutexLock lock(mutex_);
  TAMIS_TRY_STATUS(status_of(check_file(path), path, "cannot remove"));
  names_.erase(path);
  return {};
}

Result<std::vector<DirectoryEntry>> MemoryFileSystem::list(const std::string& path) {
  const MutexLock lock(mutex_);
  if (!is_directory(path)) return errno_status(path, "cannot list", find(path) != nullptr ? ENOTDIR : ENOENT);
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, file] : names_) {
    if (name == path || name == "." || name == "/" || parent_directory(name) != path) continue;
    entries.push_back({name.substr(name.rfind('/') + 1), file == nullptr});
  }
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

Status MemoryFileSystem::make_directory(const std::string& path) {
  const MutexLock lock(mutex_);
  TAMIS_TRY_STATUS(status_of(check_new_name(path), path, "cannot make directory"));
  names_[path] = nullptr;
  return {};
}

Result<std::optional<std::uint64_t>> MemoryFileSystem::file_size(const std::string& path) {
  const MutexLock lock(mutex_);
  const std::shared_ptr<MemoryFile>* const file = find(path);
  if (file == nullptr) return std::optional<std::uint64_t>();
  return std::optional(*file == nullptr ? std::uint64_t{0} : (*file)->size());
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::lock(const std::string& path, LockMode mode) {
  const MutexLock lock(mutex_);
  if (find(path) == nullptr) {
    const int error = mode == LockMode::kExclusive ? check_new_name(path) : ENOENT;
    if (error != 0) return errno_status(path, "cannot open", error);
    names_[path] = std::make_shared<MemoryFile>();
  }
  if (!locks_->take(path, mode)) return Status::busy(fmt::format("{}: locked by this process", path));
  return std::unique_ptr<FileLock>(std::make_unique<MemoryFileLock>(locks_, path));
}

Result<std::uint64_t> MemoryFileSystem::available_bytes(const std::string& path) {
  constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;  // How much memory is free, only an allocation can tell.
  const MutexLock lock(mutex_);
  if (find(path) == nullptr) return errno_status(path, "cannot get free space", ENOENT);
  return kPlenty;
}

const std::shared_ptr<MemoryFile>* MemoryFileSystem::find(const std::string& path) const {
  const auto at = names_.find(path);
  return at == names_.end() ? nullptr : &at->second;
}

bool MemoryFileSystem::is_directory(const std::string& path) const {
  const std::shared_ptr<MemoryFile>* const found = find(path);
  return found != nullptr && *found == nullptr;
}

/// 0, or the error why this is not a file.
int MemoryFileSystem::check_file(const std::string& path) const {
  if (find(path) == nullptr) return ENOENT;
  return is_directory(path) ? EISDIR : 0;
}

/// 0, or the error why this name cannot be created.
int MemoryFileSystem::check_new_name(const std::string& path) const {
  if (find(path) != nullptr) return EEXIST;
  return is_directory(parent_directory(path)) ? 0 : ENOENT;
}

}  // namespace tamis
