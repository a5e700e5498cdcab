#include "io/posix_file_window.h"

#include <fmt/core.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "io/descriptor.h"
#include "io/errno_status.h"
#include "io/mapped_fault.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older kernels return EINVAL.
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace tamis {
namespace {

/// Each window has a unique number, and takes a new one when it must be checked again.
std::atomic<std::uint64_t> last_window = 0;

/// The window this thread checked last: one it may store to, or one it may not.
thread_local std::uint64_t stores_to = 0;
thread_local std::uint64_t writes_beside = 0;

/// A thread that would not survive a fault, because it blocks SIGBUS or the program has installed its own handler,
/// writes to the file instead. This is checked when a thread first uses a window.
class PosixFileWindow final : public FileWindow {
 public:
  /// Owns the mapping, in which `begin` of the file is `before` bytes from the start.
  PosixFileWindow(WritableFile& file, std::string path, std::span<std::byte> mapping, std::uint64_t before,
                  std::uint64_t begin, std::uint64_t bytes)
      : FileWindow(begin, bytes),
        file_(file),
        path_(std::move(path)),
        mapping_(mapping),
        memory_(mapping.data() + before) {}
  ~PosixFileWindow() override {
    watch_.end();
    ::munmap(mapping_.data(), mapping_.size());
  }

  [[nodiscard]] bool begin_watch() { return watch_.begin(mapping_.data(), mapping_.size()); }

  Status copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
    if (stores_to != number_ && !may_store()) [[unlikely]]
      return file_.write_at(offset, pieces);
    std::uint64_t at = offset;
    for (const Bytes piece : pieces) {
      TAMIS_CHECK(at >= begin() && at <= end() && piece.size() <= end() - at);
      if (!piece.empty()) std::memcpy(memory_ + (at - begin()), piece.data(), piece.size());
      at += piece.size();
    }
    if (watch_.has_failed()) [[unlikely]]
      return cannot_copy(offset);
    return {};
  }

  void look_again() override { number_ = next_number(); }

 private:
  [[gnu::noinline]] bool may_store() {
    if (writes_beside == number_) return false;
    const bool may = thread_survives_fault();
    (may ? stores_to : writes_beside) = number_;
    return may;
  }
  [[gnu::noinline]] Status cannot_copy(std::uint64_t offset) {
    return Status::io_error(fmt::format("{}: cannot copy to {}: the store into the mapping failed", path_, offset));
  }
  static std::uint64_t next_number() { return last_window.fetch_add(1, std::memory_order_relaxed) + 1; }

  WritableFile& file_;
  const std::string path_;
  const std::span<std::byte> mapping_;  // Whole pages.
  std::byte* const memory_;             // Of begin().
  std::uint64_t number_ = next_number();
  FaultWatch watch_;
};

}  // namespace

bool may_map_for_writing(int descriptor) {
  struct statfs info {};
  if (retry_interrupted([&] { return ::fstatfs(descriptor, &info); }) != 0) return false;
  return info.f_type == EXT4_SUPER_MAGIC || info.f_type == XFS_SUPER_MAGIC || info.f_type == TMPFS_MAGIC;
}

Result<std::unique_ptr<FileWindow>> map_window(WritableFile& file, int descriptor, const std::string& path,
                                               std::uint64_t offset, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));  // 4 KiB; on some arm64 kernels 16 or 64.
  const std::uint64_t before = offset % page;
  const std::uint64_t mapped = (before + bytes + page - 1) / page * page;
  void* const memory =
      ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(offset - before));
  if (memory == MAP_FAILED) return errno_status(path, "cannot map", errno);
  const std::span mapping(static_cast<std::byte*>(memory), mapped);
  auto window = std::make_unique<PosixFileWindow>(file, path, mapping, before, offset, bytes);
  if (!window->begin_watch()) return Status::not_supported(path + ": not mapped: the program handles SIGBUS itself");
  if (::madvise(memory, mapped, MADV_DONTFORK) != 0) return errno_status(path, "cannot exclude from forks", errno);
  if (retry_interrupted([&] { return ::madvise(memory, mapped, MADV_POPULATE_WRITE); }) != 0) {
    return errno_status(path, "cannot populate pages", errno);
  }
  return std::unique_ptr<FileWindow>(std::move(window));
}

}  // namespace tamis
