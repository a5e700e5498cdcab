// A file system whose calls can be made to fail, one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/sync.h"
#include "io/file_system.h"

namespace tamis {

enum class FaultKind : std::uint8_t {
  kIoError,            ///< EIO; nothing was done.
  kIoErrorAfterwards,  ///< EIO, although everything was done.
  kNoSpace,            ///< ENOSPC, for calls that need space; nothing was done.
  kNoSpaceAfterwards,  ///< The same, although everything was done: NFS and FUSE may report it late.
  kShortWrite,         ///< ENOSPC, for writes; half of the bytes were written.
  kTooManyFiles,       ///< EMFILE, for calls that open something.
  kForgottenSync,      ///< A lying disk: sync succeeds but does nothing.
  kForgottenNames,     ///< The same for sync_directory.
};

/// What fails: call number `at_call` (from 1) if the kind applies to it, and with `sticky` all later ones.
struct Fault {
  FaultKind kind = FaultKind::kIoError;
  std::uint64_t at_call = 1;
  bool sticky = false;
};

std::string to_text(const Fault& fault);

/// Forwards every call to another file system, except those that the fault names. A failed sync of an in-memory file
/// permanently loses some of its unsynced pages (CrashWritableFile::fail_sync), as Linux does.
///
/// Invariants:
///  1. Every call of FileSystem, its files and their windows counts, in call order, including close().
///  2. Without a fault it behaves as the file system beneath, which must outlive it.
///
/// Threads: any.
class FaultyFileSystem final : public FileSystem {
 public:
  explicit FaultyFileSystem(FileSystem& beneath) : beneath_(beneath) {}
  FaultyFileSystem(FileSystem& beneath, const Fault& fault) : beneath_(beneath), fault_(fault) {}

  Result<std::unique_ptr<ReadableFile>> open_readable(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override;
  Status sync_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status link(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Result<std::vector<DirectoryEntry>> list(const std::string& path) override;
  Status make_directory(const std::string& path) override;
  Result<std::optional<std::uint64_t>> file_size(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path, LockMode mode) override;
  Result<std::uint64_t> available_bytes(const std::string& path) override;

  /// No call fails from now on.
  void heal();
  [[nodiscard]] std::uint64_t calls() const;
  /// How many calls failed.
  [[nodiscard]] std::uint64_t fired() const;

 private:
  friend class FaultyReadableFile;
  friend class FaultyWritableFile;
  friend class FaultyFileWindow;
  enum class Call : std::uint8_t { kOpen, kCreate, kRead, kWrite, kSync, kAllocate, kNames, kSyncNames, kOther };

  /// Counts the call and returns the fault to apply, if any.
  std::optional<FaultKind> enter(Call call);
  template <typename Action>
  auto run(Call call, const std::string& path, Action action) -> decltype(action());

  FileSystem& beneath_;
  mutable Mutex mutex_;
  std::optional<Fault> fault_ GUARDED_BY(mutex_);
  std::uint64_t calls_ GUARDED_BY(mutex_) = 0;
  std::uint64_t fired_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tamis
