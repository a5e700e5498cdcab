#include "cli/error.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace tamis::cli {
namespace {

/// Advice in the library's words for its own files.
std::string_view advice_on(int error) {
  switch (error) {
    case ENOSPC: return "; free space on that disk";
    case EDQUOT: return "; free space or raise the quota";
    case EFBIG: return "; raise the file size limit (ulimit -f) or use another file system";
    case EROFS: return "; remount it for writing or use another folder";
    case EACCES:
    case EPERM: return "; check its owner and permissions, and its folder's";
    default: return "";
  }
}

}  // namespace

ExitStatus exit_status_of(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return kExitOk;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotSupported: return kExitUsage;
    case StatusCode::kBusy:
    case StatusCode::kStale:
    case StatusCode::kConflict: return kExitBusy;
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
