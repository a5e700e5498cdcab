#include "io/errno_status.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

namespace tamis {

namespace {

/// What to do about it, where that is not plain from the error's own text.
std::string_view advice(int error) {
  switch (error) {
    case ENOSPC: return "; make room on that disk";
    case EDQUOT: return "; make room, or raise the quota";
    case EMFILE: return "; raise the limit on open files (ulimit -n)";
    case ENFILE: return "; the machine has no more open files to give: close some elsewhere";
    case EFBIG: return "; raise the limit on file sizes (ulimit -f), or use a file system without it";
    case EROFS: return "; it can only be read there";
    case EACCES:
    case EPERM: return "; look at its owner and permissions, and at those of its folder";
    case EIO: return "; the disk failed: look into the kernel's log";
    default: return "";
  }
}

}  // namespace

Status errno_status(std::string_view path, std::string_view doing, int error) {
  std::string message = fmt::format("{}: {}: {}{}", path, doing, std::generic_category().message(error), advice(error));
  if (error == ENOSPC || error == EDQUOT || error == EMFILE || error == ENFILE)
    return Status::out_of_space(std::move(message));
  return Status::io_error(std::move(message));
}

}  // namespace tamis
