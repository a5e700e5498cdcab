// Files and folders as the store needs them; contents are opaque here. Every system call on a file goes through this
// interface, so that tests can substitute a disk that crashes (tests/support/crash_file_system.h) or whose calls fail
// (tests/support/faulty_file_system.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "tamis/status.h"

namespace tamis {

/// A file open for random reads.
///
/// Threads: any.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  /// Fills `to` from `offset` and returns how many bytes were read: fewer than asked for only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const = 0;
  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
};

/// A range of a file into which bytes are copied without a system call; its address is never exposed outside io/ (rule
/// 7). Copied bytes are as good as written: readers of the file see them, they survive the process, and the file's next
/// sync() makes them durable.
///
/// Threads: one at a time, together with its file, which must outlive it.
class FileWindow {
 public:
  FileWindow(std::uint64_t begin, std::uint64_t bytes) : begin_(begin), bytes_(bytes) {}
  virtual ~FileWindow() = default;
  FileWindow(const FileWindow&) = delete;
  FileWindow& operator=(const FileWindow&) = delete;

  /// Copies the pieces, one after the other, to the file from `offset`. They must fit the window. After an error any
  /// part of them may be there, and the window is unusable; writing may still work, and reports what is wrong.
  virtual Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) = 0;
  /// Discards what the window cached about the program and its threads; call it now and then.
  virtual void look_again() {}

  /// Its range in the file; it takes as much memory.
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return begin_ + bytes_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  const std::uint64_t begin_;
  const std::uint64_t bytes_;
};

/// One of several reads submitted together.
struct FileRead {
  const ReadableFile* file = nullptr;
  std::uint64_t offset = 0;
  MutableBytes to;
  Result<std::size_t> there = std::size_t{0};  ///< Set: what read_at would return.
};

/// A file open for random writes. Nothing written is durable before sync() has succeeded, and then only if the file's
/// name is: see FileSystem::sync_directory.
///
/// After a failed sync() a later one must not be trusted: the kernel may have dropped the pages it could not write and
/// marked them clean. AppendFile enforces this.
///
/// Threads: one at a time.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// Writes the pieces, one after the other, from `offset`. After an error any part of them may be there.
  virtual Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) = 0;
  /// The same, and durable on return; other unsynced bytes of the file may stay unsynced. After an error the file must
  /// not be synced again, as after a failed sync().
  virtual Status write_durably_at(std::uint64_t offset, std::span<const Bytes> pieces);
  /// Makes the bytes and the length durable (fdatasync).
  virtual Status sync() = 0;
  /// Truncates the file, or extends it with zeros.
  virtual Status truncate(std::uint64_t size) = 0;
  /// Extends the file with zeros to at least `size` bytes, and reserves the space if the file system can.
  virtual Status preallocate(std::uint64_t size) = 0;
  /// A window of whole pages (4 KiB) that the file already has. kNotSupported where copying is not as good as writing:
  /// on file systems not known to handle stores well, and where a failed store would end the program.
  virtual Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
  /// Sets the path used in error messages. Renames nothing.
  virtual void was_renamed(const std::string& /*path*/) {}
  /// Closes and returns close(2)'s error; makes nothing durable. Call it once, last. Otherwise the destructor closes
  /// and ignores errors.
  virtual Status close() = 0;
};

/// A lock on a file, released by the destructor or when the process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// How a file is read.
enum class ReadMode : std::uint8_t {
  kCached,  ///< Through the kernel's page cache.
  kDirect,  ///< Past it.
};

enum class LockMode : std::uint8_t { kShared, kExclusive };

enum class OpenMode : std::uint8_t {
  kCreate,    ///< The file must not exist.
  kReplace,   ///< Creates the file, or empties an existing one.
  kExisting,  ///< The file must exist and keeps its bytes.
};

/// One name in a folder.
struct DirectoryEntry {
  std::string name;
  bool is_directory = false;

  bool operator==(const DirectoryEntry&) const = default;
};

/// A file system. Errors name the path and the system's reason: kOutOfSpace if out of space, kBusy if a lock is held,
/// kIoError otherwise.
///
/// Invariants:
///  1. A call that succeeded did everything: interrupted calls and short reads and writes are continued inside.
///  2. Creating, renaming, linking and removing become durable only by sync_directory on the folder.
///
/// Threads: any.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) = 0;
  /// The same for reads that bypass the kernel's page cache, if there is one. kNotSupported if the file's file system
  /// has no such reads. The default only reads as they would (io/direct_file.h).
  virtual Result<std::unique_ptr<ReadableFile>> open_direct(const std::string& path);
  virtual Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) = 0;
  /// Reads from files opened here, concurrently if the system can; returns when all are done. The default calls read_at
  /// for each in turn.
  virtual void read_many(std::span<FileRead> reads);

  /// Makes the names in this folder durable: which exist, and the file of each.
  virtual Status sync_directory(const std::string& path) = 0;
  /// Atomically replaces `to` if it exists.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// A second name for a file; `to` must not exist.
  virtual Status link(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Sorted by name, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> list(const std::string& path) = 0;
  /// The parent must exist and the folder must not.
  virtual Status make_directory(const std::string& path) = 0;
  /// Nullopt if there is no such file.
  virtual Result<std::optional<std::uint64_t>> file_size(const std::string& path) = 0;

  /// Takes the lock or returns kBusy, naming the holder; never waits. The file is never removed. An exclusive lock
  /// creates it if missing and writes its holder into it; a shared lock writes nothing. The file's folder is locked too
  /// if possible, so that removing the file lets nobody else in.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) = 0;
  /// What an ordinary user may still write to the file system of this path.
  virtual Result<std::uint64_t> available_bytes(const std::string& path) = 0;
};

/// All bytes of a file.
Result<std::string> read_whole_file(FileSystem& files, const std::string& path);

}  // namespace tamis
