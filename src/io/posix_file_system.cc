#include "io/posix_file_system.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/check.h"
#include "base/try.h"
#include "io/descriptor.h"
#include "io/direct_file.h"
#include "io/errno_status.h"
#include "io/posix_file_window.h"
#include "io/ring_reads.h"

namespace tamis {
namespace {

Descriptor open_descriptor(const std::string& path, int flags) {
  return Descriptor(retry_interrupted([&] { return ::open(path.c_str(), flags | O_CLOEXEC, 0666); }));
}

Result<std::uint64_t> descriptor_size(const Descriptor& file, const std::string& path) {
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return errno_status(path, "cannot stat", errno);
  return static_cast<std::uint64_t>(info.st_size);
}

class PosixReadableFile final : public ReadableFile {
 public:
  PosixReadableFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const override {
    std::size_t done = 0;
    while (done < to.size()) {
      const ssize_t count = retry_interrupted(
          [&] { return ::pread(file_.get(), to.data() + done, to.size() - done, static_cast<off_t>(offset + done)); });
      if (count < 0) return errno_status(path_, fmt::format("cannot read at {}", offset + done), errno);
      if (count == 0) break;
      done += static_cast<std::size_t>(count);
    }
    return done;
  }

  [[nodiscard]] Result<std::uint64_t> size() const override { return descriptor_size(file_, path_); }
  [[nodiscard]] int descriptor() const { return file_.get(); }

 private:
  const Descriptor file_;
  const std::string path_;
};

/// A file that was opened here.
const PosixReadableFile& posix_file(const ReadableFile& file) {
  TAMIS_INVARIANT(dynamic_cast<const PosixReadableFile*>(&file) != nullptr);
  return static_cast<const PosixReadableFile&>(file);
}

/// The unwritten rest of a list of pieces.
class Remainder {
 public:
  explicit Remainder(std::span<const Bytes> pieces) : pieces_(pieces) { skip_empty(); }

  [[nodiscard]] bool empty() const { return pieces_.empty(); }

  /// Fills `vectors` with the next pieces and returns their number.
  std::size_t next(std::span<iovec> vectors) const {
    const std::size_t count = std::min(vectors.size(), pieces_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Bytes piece = i == 0 ? pieces_[0].subspan(skipped_) : pieces_[i];
      vectors[i] = {const_cast<std::byte*>(piece.data()), piece.size()};
    }
    return count;
  }

  void drop(std::size_t bytes) {
    skipped_ += bytes;
    skip_empty();
  }

 private:
  void skip_empty() {
    while (!pieces_.empty() && skipped_ >= pieces_[0].size()) {
      skipped_ -= pieces_[0].size();
      pieces_ = pieces_.subspan(1);
    }
  }

  std::span<const Bytes> pieces_;
  std::size_t skipped_ = 0;  // Of the first piece.
};

class PosixWritableFile final : public WritableFile {
 public:
  PosixWritableFile(Descriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) override { return write(offset, pieces, 0); }

  /// A recycled file has many dirty pages that nobody needs; fdatasync would write them all.
  Status write_durably_at(std::uint64_t offset, std::span<const Bytes> pieces) override {
    return write(offset, pieces, RWF_DSYNC);
  }

  Status sync() override {
    if (retry_interrupted([&] { return ::fdatasync(file_.get()); }) == 0) return {};
    return errno_status(path_, "cannot sync", errno);
  }

  Status truncate(std::uint64_t size) override {
    if (retry_interrupted([&] { return ::ftruncate(file_.get(), static_cast<off_t>(size)); }) == 0) return {};
    return errno_status(path_, fmt::format("cannot truncate to {}", size), errno);
  }

  Status preallocate(std::uint64_t size) override {
    TAMIS_TRY(const std::uint64_t now, this->size());
    if (size <= now) return {};
    const auto more = static_cast<off_t>(size - now);
    if (retry_interrupted([&] { return ::fallocate(file_.get(), 0, static_cast<off_t>(now), more); }) == 0) return {};
    if (errno == EOPNOTSUPP) return truncate(size);
    return errno_status(path_, fmt::format("cannot allocate {} bytes", size), errno);
  }

  Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes) override {
    if (!may_map_) may_map_ = may_map_for_writing(file_.get());
    if (!*may_map_) return Status::not_supported(path_ + ": its file system is not known to handle stores well");
    return map_window(*this, file_.get(), path_, offset, bytes);
  }

  [[nodiscard]] Result<std::uint64_t> size() const override { return descriptor_size(file_, path_); }
  void was_renamed(const std::string& path) override { path_ = path; }

  Status close() override {
    if (file_.close_now()) return {};
    return errno_status(path_, "cannot close", errno);
  }

 private:
  Status write(std::uint64_t begin, std::span<const Bytes> pieces, int flags) {
    std::uint64_t offset = begin;
    for (Remainder rest(pieces); !rest.empty();) {
      std::array<iovec, 16> vectors;
      const int count = static_cast<int>(rest.next(vectors));
      const ssize_t written = retry_interrupted(
          [&] { return ::pwritev2(file_.get(), vectors.data(), count, static_cast<off_t>(offset), flags); });
      if (written < 0 && errno == EOPNOTSUPP && flags != 0) return WritableFile::write_durably_at(begin, pieces);
      if (written <= 0) {
        return errno_status(path_, fmt::format("cannot write at {}", offset), written < 0 ? errno : EIO);
      }
      offset += static_cast<std::uint64_t>(written);
      rest.drop(static_cast<std::size_t>(written));
    }
    return {};
  }

  Descriptor file_;
  std::string path_;
  std::optional<bool> may_map_;  // Cached.
};

class PosixFileSystem final : public FileSystem {
 public:
  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override {
    Descriptor file = open_descriptor(path, O_RDONLY);
    if (!file.is_open()) return errno_status(path, "cannot open", errno);
    return std::unique_ptr<ReadableFile>(std::make_unique<PosixReadableFile>(std::move(file), path));
  }

  Result<std::unique_ptr<ReadableFile>> open_direct(const std::string& path) override {
    Descriptor file = open_descriptor(path, O_RDONLY | O_DIRECT);
    if (!file.is_open() && errno == EINVAL) {
      return Status::not_supported(path + ": its file system cannot read past the page cache (O_DIRECT)");
    }
    if (!file.is_open()) return errno_status(path, "cannot open", errno);
    auto aligned = std::make_unique<PosixReadableFile>(std::move(file), path);
    return std::unique_ptr<ReadableFile>(std::make_unique<DirectFile>(std::move(aligned)));
  }

  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    int flags = O_RDWR;  // A window also needs to read.
    if (mode == OpenMode::kCreate) flags |= O_CREAT | O_EXCL;
    if (mode == OpenMode::kReplace) flags |= O_CREAT | O_TRUNC;
    Descriptor file = open_descriptor(path, flags);
    if (!file.is_open()) {
      return errno_status(path, mode == OpenMode::kExisting ? "cannot open" : "cannot create", errno);
    }
    return std::unique_ptr<WritableFile>(std::make_unique<PosixWritableFile>(std::move(file), path));
  }

  /// What the ring leaves, whole reads or their ends, is read with pread, which also reports errors.
  void read_many(std::span<FileRead> reads) override {
    if (reads.size() < 2) return FileSystem::read_many(reads);
    std::vector<RingRead> by_ring(reads.size());
    std::vector<std::optional<DirectRead>> direct(reads.size());
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const FileRead& read = reads[i];
      const auto* const aligned = dynamic_cast<const DirectFile*>(read.file);
      if (aligned == nullptr) {
        by_ring[i] = {posix_file(*read.file).descriptor(), read.offset, read.to};
      } else if (DirectRead& around = direct[i].emplace(read.offset, read.to); around.has_memory()) {
        by_ring[i] = {posix_file(aligned->file()).descriptor(), around.offset(), around.bytes()};
      }
    }
    read_by_ring(by_ring);
    for (std::size_t i = 0; i < reads.size(); ++i) {
      const std::size_t done = direct[i] ? direct[i]->finish(by_ring[i].done) : by_ring[i].done;
      FileRead& read = reads[i];
      read.there = done;
      if (done == read.to.size()) continue;
      read.there = read.file->read_at(read.offset + done, read.to.subspan(done));
      if (read.there.ok()) *read.there += done;
    }
  }

  Status sync_directory(const std::string& path) override {
    const Descriptor folder = open_descriptor(path, O_RDONLY | O_DIRECTORY);
    if (!folder.is_open()) return errno_status(path, "cannot open", errno);
    if (retry_interrupted([&] { return ::fsync(folder.get()); }) == 0) return {};
    return errno_status(path, "cannot sync", errno);
  }

  Status rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) == 0) return {};
    return errno_status(from, fmt::format("cannot rename to {}", to), errno);
  }

  Status link(const std::string& from, const std::string& to) override {
    if (::link(from.c_str(), to.c_str()) == 0) return {};
    return errno_status(from, fmt::format("cannot link to {}", to), errno);
  }

  Status remove(const std::string& path) override {
    if (::unlink(path.c_str()) == 0) return {};
    return errno_status(path, "cannot remove", errno);
  }

  Result<std::vector<DirectoryEntry>> list(const std::string& path) override {
    std::vector<DirectoryEntry> entries;
    std::error_code error;
    std::filesystem::directory_iterator at(path, error);
    for (; !error && at != std::filesystem::directory_iterator(); at.increment(error)) {
      std::error_code unknown;  // A name that vanished meanwhile is not a folder.
      entries.push_back({at->path().filename().string(), at->is_directory(unknown)});
    }
    if (error) return errno_status(path, "cannot list", error.value());
    std::ranges::sort(entries, {}, &DirectoryEntry::name);
    return entries;
  }

  Status make_directory(const std::string& path) override {
    if (::mkdir(path.c_str(), 0777) == 0) return {};
    return errno_status(path, "cannot create directory", errno);
  }

  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) return std::optional(static_cast<std::uint64_t>(info.st_size));
    if (errno == ENOENT) return std::optional<std::uint64_t>();
    return errno_status(path, "cannot stat", errno);
  }

  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override {
    return lock_posix_file(path, mode);
  }

  Result<std::uint64_t> available_bytes(const std::string& path) override {
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(path, error);
    if (error) return errno_status(path, "cannot get free space", error.value());
    return static_cast<std::uint64_t>(space.available);
  }
};

}  // namespace

FileSystem& posix_file_system() {
  static PosixFileSystem files;
  return files;
}

}  // namespace tamis
