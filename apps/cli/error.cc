#include "cli/error.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace tamis::cli {
namespace {

/// What to do, in the words of the library, which says the same of its own files.
std::string_view advice_on(int error) {
  switch (error) {
    case ENOSPC: return "; make room on that disk";
    case EDQUOT: return "; make room, or raise the quota";
    case EFBIG: return "; raise the limit on file sizes (ulimit -f), or use a file system without it";
    case EROFS: return "; it can only be read there";
    case EACCES:
    case EPERM: return "; look at its owner and permissions, and at those of its folder";
    default: return "";
  }
}

}  // namespace

ExitStatus exit_status_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return kExitOk;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotSupported: return kExitUsage;
    case StatusCode::kBusy: return kExitBusy;
    case StatusCode::kIoError:
    case StatusCode::kOutOfSpace:
    case StatusCode::kClosed: return kExitInputOutput;
    case StatusCode::kCorruption: return kExitCorruption;
  }
  return kExitInputOutput;
}

void usage_error(std::string message) { throw CommandError(kExitUsage, std::move(message)); }

void system_error(std::string_view path, std::string_view doing) {
  const int error = errno;
  throw CommandError(kExitInputOutput,
                     fmt::format("{}: {}: {}{}", path, doing, std::strerror(error), advice_on(error)));
}

}  // namespace tamis::cli
