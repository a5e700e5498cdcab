#include "io/errno_status.h"

#include <fmt/core.h>

#include <cerrno>
#include <system_error>

namespace tamis {

namespace {

/// What to do, where the error's own text does not make it obvious.
std::string_view advice(int error) {
  switch (error) {
    case ENOSPC: return "; free space on that disk";
    case EDQUOT: return "; free space or raise the quota";
    case EMFILE: return "; raise the open file limit (ulimit -n)";
    case ENFILE: return "; the system-wide open file limit is reached; close files in other processes";
    case EFBIG: return "; raise the file size limit (ulimit -f) or use another file system";
    case EROFS: return "; remount it for writing or use another folder";
    case EACCES:
    case EPERM: return "; check its owner and permissions, and its folder's";
    case EIO: return "; the disk failed; check the kernel log";
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
