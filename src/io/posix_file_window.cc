#include "io/posix_file_window.h"

#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstring>

#include "base/check.h"
#include "io/descriptor.h"
#include "io/errno_status.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23  // Linux 5.14; older ones answer EINVAL.
#endif
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

namespace tamis {
namespace {

class PosixFileWindow final : public FileWindow {
 public:
  PosixFileWindow(void* memory, std::uint64_t begin, std::uint64_t bytes)
      : FileWindow(begin, bytes), memory_(static_cast<std::byte*>(memory)) {}
  ~PosixFileWindow() override { ::munmap(memory_, bytes()); }

  void copy_in(std::uint64_t offset, std::span<const Bytes> pieces) override {
    for (const Bytes piece : pieces) {
      TAMIS_CHECK(offset >= begin() && offset <= end() && piece.size() <= end() - offset);
      if (!piece.empty()) std::memcpy(memory_ + (offset - begin()), piece.data(), piece.size());
      offset += piece.size();
    }
  }

 private:
  std::byte* const memory_;
};

}  // namespace

bool may_map_for_writing(int descriptor) {
  struct statfs info {};
  if (retry_interrupted([&] { return ::fstatfs(descriptor, &info); }) != 0) return false;
  return info.f_type == EXT4_SUPER_MAGIC || info.f_type == XFS_SUPER_MAGIC || info.f_type == TMPFS_MAGIC;
}

Result<std::unique_ptr<FileWindow>> map_window(int descriptor, const std::string& path, std::uint64_t offset,
                                               std::uint64_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(offset));
  if (memory == MAP_FAILED) return errno_status(path, "cannot map", errno);
  auto window = std::make_unique<PosixFileWindow>(memory, offset, bytes);
  if (::madvise(memory, bytes, MADV_DONTFORK) != 0) return errno_status(path, "cannot keep from a child", errno);
  if (retry_interrupted([&] { return ::madvise(memory, bytes, MADV_POPULATE_WRITE); }) != 0) {
    return errno_status(path, "cannot make pages ready", errno);
  }
  return std::unique_ptr<FileWindow>(std::move(window));
}

}  // namespace tamis
