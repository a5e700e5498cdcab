#include "support/crash_file_system.h"

#include <fmt/core.h>

#include <algorithm>
#include <cerrno>

#include "base/check.h"
#include "io/errno_status.h"
#include "io/path.h"

namespace tamis {

class CrashReadableFile final : public ReadableFile {
 public:
  CrashReadableFile(CrashFileSystem& files, MemoryDisk::FileId id) : files_(files), id_(id) {}
  ~CrashReadableFile() override {
    const MutexLock lock(files_.mutex_);
    files_.disk_.let_go(id_);
  }

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
    const MutexLock lock(files_.mutex_);
    const std::string& bytes = files_.disk_.file(id_).bytes();
    if (offset >= bytes.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(to.size(), bytes.size() - offset);
    std::ranges::copy(as_bytes(bytes).subspan(offset, count), to.begin());
    return count;
  }

  [[nodiscard]] Result<std::uint64_t> size() const override {
    const MutexLock lock(files_.mutex_);
    return std::uint64_t{files_.disk_.file(id_).bytes().size()};
  }

 private:
  CrashFileSystem& files_;
  const MemoryDisk::FileId id_;
};

class CrashFileLock final : public FileLock {
 public:
  CrashFileLock(CrashFileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
  ~CrashFileLock() override {
    const MutexLock lock(files_.mutex_);
    int& holders = files_.locks_[path_];
    holders = holders > 0 ? holders - 1 : 0;
  }

 private:
  CrashFileSystem& files_;
  const std::string path_;
};

/// Every store is a change of the file like a write, and a crash can lose it like one: by the sector.
class CrashFileWindow final : public FileWindow {
 public:
  CrashFileWindow(CrashFileSystem& files, MemoryDisk::FileId id, std::string path, std::uint64_t begin,
                  std::uint64_t bytes)
      : FileWindow(begin, bytes), files_(files), id_(id), path_(std::move(path)) {}

  Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
    std::uint64_t count = 0;
    for (const Bytes piece : pieces) count += piece.size();
    TAMIS_CHECK(offset >= begin() && offset <= end() && count <= end() - offset);
    const MutexLock lock(files_.mutex_);
    if (offset + count > files_.disk_.file(id_).bytes().size()) {  // A signal, on a real machine.
      return errno_status(path_, fmt::format("cannot copy to {}", offset), EIO);
    }
    files_.disk_.file(id_).write(offset, pieces);
    files_.changed(fmt::format("copy {} {}+{}", path_, offset, count));
    return {};
  }

 private:
  CrashFileSystem& files_;
  const MemoryDisk::FileId id_;
  const std::string path_;
};

CrashWritableFile::~CrashWritableFile() {
  const MutexLock lock(files_.mutex_);
  files_.disk_.let_go(id_);
}

Status CrashWritableFile::write_at(std::uint64_t offset, std::span<const Bytes> pieces) {
  const MutexLock lock(files_.mutex_);
  std::uint64_t count = 0;
  for (const Bytes piece : pieces) count += piece.size();
  if (!files_.has_room_for(files_.disk_.file(id_), offset + count)) {
    return errno_status(path_, fmt::format("cannot write at {}", offset), ENOSPC);
  }
  files_.disk_.file(id_).write(offset, pieces);
  files_.changed(fmt::format("write {} {}+{}", path_, offset, count));
  return {};
}

Status CrashWritableFile::write_durably_at(std::uint64_t offset, std::span<const Bytes> pieces) {
  const MutexLock lock(files_.mutex_);
  std::uint64_t count = 0;
  for (const Bytes piece : pieces) count += piece.size();
  if (!files_.has_room_for(files_.disk_.file(id_), offset + count)) {
    return errno_status(path_, fmt::format("cannot write at {}", offset), ENOSPC);
  }
  files_.disk_.file(id_).write_durably(offset, pieces);
  files_.changed(fmt::format("write {} {}+{} durably", path_, offset, count));
  return {};
}

Status CrashWritableFile::sync() {
  const MutexLock lock(files_.mutex_);
  files_.disk_.file(id_).sync();
  files_.changed(fmt::format("sync {}", path_));
  return {};
}

Status CrashWritableFile::truncate(std::uint64_t size) {
  const MutexLock lock(files_.mutex_);
  files_.disk_.file(id_).resize(size);
  files_.changed(fmt::format("truncate {} {}", path_, size));
  return {};
}

Status CrashWritableFile::preallocate(std::uint64_t size) {
  const MutexLock lock(files_.mutex_);
  CachedFile& file = files_.disk_.file(id_);
  if (size <= file.bytes().size()) return {};
  if (!files_.has_room_for(file, size)) {
    return errno_status(path_, fmt::format("cannot allocate {} bytes", size), ENOSPC);
  }
  file.resize(size);
  files_.changed(fmt::format("preallocate {} {}", path_, size));
  return {};
}

Result<std::unique_ptr<FileWindow>> CrashWritableFile::open_window(std::uint64_t offset, std::uint64_t bytes) {
  const MutexLock lock(files_.mutex_);
  TAMIS_CHECK(offset + bytes <= files_.disk_.file(id_).bytes().size());
  return std::unique_ptr<FileWindow>(std::make_unique<CrashFileWindow>(files_, id_, path_, offset, bytes));
}

Result<std::uint64_t> CrashWritableFile::size() const {
  const MutexLock lock(files_.mutex_);
  return std::uint64_t{files_.disk_.file(id_).bytes().size()};
}

Status CrashWritableFile::close() { return {}; }

void CrashWritableFile::fail_sync(std::uint64_t seed) {
  const MutexLock lock(files_.mutex_);
  SplitMix64 random(seed);
  files_.disk_.file(id_).fail_sync(random);
  files_.changed(fmt::format("failed sync {}", path_));
}

Result<std::unique_ptr<ReadableFile>> CrashFileSystem::open_readable(const std::string& path) {
  const MutexLock lock(mutex_);
  const std::optional<FileId> id = find(path);
  if (!id) return errno_status(path, "cannot open", ENOENT);
  if (*id == FileId::kDirectory) return errno_status(path, "cannot open", EISDIR);
  disk_.hold(*id);
  return std::unique_ptr<ReadableFile>(std::make_unique<CrashReadableFile>(*this, *id));
}

Result<std::unique_ptr<WritableFile>> CrashFileSystem::open_writable(const std::string& path, OpenMode mode) {
  const MutexLock lock(mutex_);
  std::optional<FileId> id = find(path);
  if (id == FileId::kDirectory) return errno_status(path, "cannot open", EISDIR);
  if (id && mode == OpenMode::kCreate) return errno_status(path, "cannot create", EEXIST);
  if (id && mode == OpenMode::kReplace) {
    disk_.file(*id).resize(0);
    changed(fmt::format("empty {}", path));
  }
  if (!id && mode == OpenMode::kExisting) return errno_status(path, "cannot open", ENOENT);
  if (!id) {
    if (const int error = check_new_name(path); error != 0) return errno_status(path, "cannot create", error);
    id = disk_.create_file(path);
    changed(fmt::format("create {}", path));
  }
  disk_.hold(*id);
  return std::unique_ptr<WritableFile>(std::make_unique<CrashWritableFile>(*this, *id, path));
}

Status CrashFileSystem::sync_directory(const std::string& path) {
  const MutexLock lock(mutex_);
  if (!is_directory(path)) return errno_status(path, "cannot open", ENOENT);
  disk_.sync_directory(path);
  changed(fmt::format("sync directory {}", path));
  return {};
}

Status CrashFileSystem::rename(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  const std::string doing = fmt::format("cannot rename to {}", to);
  const std::optional<FileId> source = find(from);
  const std::optional<FileId> target = find(to);
  if (!source) return errno_status(from, doing, ENOENT);
  if (*source == FileId::kDirectory) return errno_status(from, doing, ENOTSUP);
  if (target == FileId::kDirectory) return errno_status(from, doing, EISDIR);
  if (source == target) return {};  // Two names of one file: POSIX keeps both.
  if (!is_directory(parent_directory(to))) return errno_status(from, doing, ENOENT);
  disk_.rename(from, to);
  changed(fmt::format("rename {} {}", from, to));
  return {};
}

Status CrashFileSystem::link(const std::string& from, const std::string& to) {
  const MutexLock lock(mutex_);
  const std::optional<FileId> source = find(from);
  int error = source ? check_new_name(to) : ENOENT;
  if (source == FileId::kDirectory) error = EPERM;
  if (error != 0) return errno_status(from, fmt::format("cannot link to {}", to), error);
  disk_.link(*source, to);
  changed(fmt::format("link {} {}", from, to));
  return {};
}

Status CrashFileSystem::remove(const std::string& path) {
  const MutexLock lock(mutex_);
  const std::optional<FileId> id = find(path);
  if (!id) return errno_status(path, "cannot remove", ENOENT);
  if (*id == FileId::kDirectory) return errno_status(path, "cannot remove", EISDIR);
  disk_.remove(path);
  changed(fmt::format("remove {}", path));
  return {};
}

Result<std::vector<DirectoryEntry>> CrashFileSystem::list(const std::string& path) {
  const MutexLock lock(mutex_);
  if (!is_directory(path)) return errno_status(path, "cannot list", find(path) ? ENOTDIR : ENOENT);
  std::vector<DirectoryEntry> entries;
  for (const auto& [name, id] : disk_.names()) {
    if (name == path || name == "." || name == "/" || parent_directory(name) != path) continue;
    entries.push_back({name.substr(name.rfind('/') + 1), id == FileId::kDirectory});
  }
  std::ranges::sort(entries, {}, &DirectoryEntry::name);
  return entries;
}

Status CrashFileSystem::make_directory(const std::string& path) {
  const MutexLock lock(mutex_);
  if (const int error = check_new_name(path); error != 0) return errno_status(path, "cannot create directory", error);
  disk_.make_directory(path);
  changed(fmt::format("make directory {}", path));
  return {};
}

Result<std::optional<std::uint64_t>> CrashFileSystem::file_size(const std::string& path) {
  const MutexLock lock(mutex_);
  const std::optional<FileId> id = find(path);
  if (!id) return std::optional<std::uint64_t>();
  if (*id == FileId::kDirectory) return std::optional(std::uint64_t{0});
  return std::optional(std::uint64_t{disk_.file(*id).bytes().size()});
}

Result<std::unique_ptr<FileLock>> CrashFileSystem::lock(const std::string& path, LockMode mode) {
  const MutexLock lock(mutex_);
  const bool exclusive = mode == LockMode::kExclusive;
  if (!find(path)) {
    const int error = exclusive ? check_new_name(path) : ENOENT;
    if (error != 0) return errno_status(path, "cannot open", error);
    disk_.create_file(path);
    changed(fmt::format("create {}", path));
  }
  int& holders = locks_[path];
  if (holders < 0 || (exclusive && holders > 0)) {
    return Status::busy(fmt::format("{}: locked by this process", path));
  }
  holders = exclusive ? -1 : holders + 1;
  return std::unique_ptr<FileLock>(std::make_unique<CrashFileLock>(*this, path));
}

Result<std::uint64_t> CrashFileSystem::available_bytes(const std::string& path) {
  const MutexLock lock(mutex_);
  if (!find(path)) return errno_status(path, "cannot ask for free space", ENOENT);
  const std::uint64_t used = disk_.used_bytes();
  return capacity_bytes_ - std::min(used, capacity_bytes_);
}

void CrashFileSystem::after_each_call(Observer observer) {
  const MutexLock lock(mutex_);
  observer_ = std::move(observer);
}

std::vector<std::string> CrashFileSystem::call_log() const {
  const MutexLock lock(mutex_);
  return log_;
}

MemoryDisk CrashFileSystem::disk() const {
  const MutexLock lock(mutex_);
  return disk_;
}

void CrashFileSystem::set_capacity(std::uint64_t bytes) {
  const MutexLock lock(mutex_);
  capacity_bytes_ = bytes;
}

/// 0, or the error why this name cannot be created.
int CrashFileSystem::check_new_name(const std::string& path) const {
  if (find(path)) return EEXIST;
  return is_directory(parent_directory(path)) ? 0 : ENOENT;
}

std::optional<MemoryDisk::FileId> CrashFileSystem::find(const std::string& path) const {
  const auto at = disk_.names().find(path);
  if (at == disk_.names().end()) return std::nullopt;
  return at->second;
}

bool CrashFileSystem::is_directory(const std::string& path) const { return find(path) == FileId::kDirectory; }

bool CrashFileSystem::has_room_for(const CachedFile& file, std::uint64_t size) const {
  const std::uint64_t now = file.bytes().size();
  return size <= now || disk_.used_bytes() + (size - now) <= capacity_bytes_;
}

void CrashFileSystem::changed(std::string call) {
  log_.push_back(std::move(call));
  if (observer_) observer_(disk_, log_.back());
}

}  // namespace tamis
