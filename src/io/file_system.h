// Files and folders as the store needs them; nothing here knows what is in them. Every system call on a file goes
// through this interface, so that tests can put a disk of their own under the store: one that crashes
// (tests/support/crash_file_system.h) or one whose calls fail (tests/support/faulty_file_system.h).
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

/// A file open for reading at any place.
///
/// Threads: any number at once.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;

  /// Fills `to` from `offset` on and tells how many bytes there were: fewer than asked for only at the end of the file.
  virtual Result<std::size_t> read_at(std::uint64_t offset, MutableBytes to) const = 0;
  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
};

/// A stretch of a file into which bytes are copied without a system call; where it is in memory nobody outside io/
/// learns (rule 7). What was copied in is as good as written: readers of the file see it, it survives the process, and
/// the file's next sync() makes it durable.
///
/// Threads: one at a time, together with its file, which must outlive it.
class FileWindow {
 public:
  FileWindow(std::uint64_t begin, std::uint64_t bytes) : begin_(begin), bytes_(bytes) {}
  virtual ~FileWindow() = default;
  FileWindow(const FileWindow&) = delete;
  FileWindow& operator=(const FileWindow&) = delete;

  /// Copies the pieces one after the other to `offset` of the file on. They must lie inside the window. After an error
  /// any part of them may be there, and the window is of no more use; writing may still work, and tells what is wrong.
  virtual Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) = 0;
  /// What the window found out about the program, it finds out again when it is next used: to be called now and then.
  virtual void look_again() {}

  /// Where in the file it begins and ends; what it takes of memory is as much.
  [[nodiscard]] std::uint64_t begin() const { return begin_; }
  [[nodiscard]] std::uint64_t end() const { return begin_ + bytes_; }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  const std::uint64_t begin_;
  const std::uint64_t bytes_;
};

/// One of several reads that are handed down together.
struct FileRead {
  const ReadableFile* file = nullptr;
  std::uint64_t offset = 0;
  MutableBytes to;
  Result<std::size_t> there = std::size_t{0};  ///< Set: what read_at would return.
};

/// A file open for writing at any place. Nothing written is durable before sync() has returned success, and then only
/// if the file's name is: see FileSystem::sync_directory.
///
/// After a failed sync() the file must not be synced again and believed: the kernel may have dropped the pages it
/// could not write and call them clean. AppendFile sees to that.
///
/// Threads: one at a time.
class WritableFile {
 public:
  virtual ~WritableFile() = default;

  /// Writes the pieces one after the other, beginning at `offset`. After an error any part of them may be there.
  virtual Status write_at(std::uint64_t offset, std::span<const Bytes> pieces) = 0;
  /// The same, and durable when it returns; what else of the file is not yet may stay so. After an error the file must
  /// not be synced again, as after a failed sync().
  virtual Status write_durably_at(std::uint64_t offset, std::span<const Bytes> pieces);
  /// Makes the bytes and the length durable (fdatasync).
  virtual Status sync() = 0;
  /// Cuts the file, or extends it by zeros.
  virtual Status truncate(std::uint64_t size) = 0;
  /// Makes the file at least `size` bytes long, the new ones zero, their space reserved where the file system can.
  virtual Status preallocate(std::uint64_t size) = 0;
  /// A window of whole pages (4 KiB) that the file has already. kNotSupported where copying is not as good as writing:
  /// on file systems that are not known to take stores well, and where a failed store would end the program.
  virtual Result<std::unique_ptr<FileWindow>> open_window(std::uint64_t offset, std::uint64_t bytes);
  [[nodiscard]] virtual Result<std::uint64_t> size() const = 0;
  /// What its errors are to call it from now on. Changes no name.
  virtual void was_renamed(const std::string& /*path*/) {}
  /// Closes and reports what close(2) reports; makes nothing durable. To be called once, last. Without it, the
  /// destructor closes and nobody learns of an error.
  virtual Status close() = 0;
};

/// A lock on a file, let go when this is destroyed or the process ends.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class LockMode : std::uint8_t { kShared, kExclusive };

enum class OpenMode : std::uint8_t {
  kCreate,    ///< The file must not exist.
  kReplace,   ///< Created, or emptied when it exists.
  kExisting,  ///< The file must exist and keeps its bytes.
};

/// One name in a folder.
struct DirectoryEntry {
  std::string name;
  bool is_directory = false;

  bool operator==(const DirectoryEntry&) const = default;
};

/// Where files are. Errors name the path and what the system said: kOutOfSpace when there is no room, kBusy for a
/// lock that is held, kIoError for all others.
///
/// Invariants:
///  1. A call that succeeded did all it was asked to: interrupted calls and short reads and writes are continued
///  inside.
///  2. Creating, renaming, linking and removing are durable only after sync_directory on the folder they happened in.
///
/// Threads: any number at once.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) = 0;
  virtual Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) = 0;
  /// Reads from files that were opened here, all at once where the system can; returns when all are done. This one
  /// calls read_at for one after the other.
  virtual void read_many(std::span<FileRead> reads);

  /// Makes the names in this folder durable: which there are and which file each leads to.
  virtual Status sync_directory(const std::string& path) = 0;
  /// Replaces `to` in one step when it exists.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  /// A second name for a file; `to` must not exist.
  virtual Status link(const std::string& from, const std::string& to) = 0;
  virtual Status remove(const std::string& path) = 0;
  /// Sorted by name, without "." and "..".
  virtual Result<std::vector<DirectoryEntry>> list(const std::string& path) = 0;
  /// Its parent must exist and it must not.
  virtual Status make_directory(const std::string& path) = 0;
  /// No value when there is no such file.
  virtual Result<std::optional<std::uint64_t>> file_size(const std::string& path) = 0;

  /// Takes the lock or returns kBusy, naming the holder; never waits. The file is never removed. An exclusive lock
  /// creates it when it is missing and writes its holder into it; a shared one writes nothing. The file's folder is
  /// locked with it where that is possible, so that removing the file lets nobody else in.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) = 0;
  /// What an ordinary user may still write to the file system that holds this path.
  virtual Result<std::uint64_t> available_bytes(const std::string& path) = 0;
};

/// All bytes of a file.
Result<std::string> read_whole_file(FileSystem& files, const std::string& path);

}  // namespace tamis
