#include "error.h"

#include <fmt/core.h>

#include <cerrno>
#include <cstring>

namespace tamis::cli {

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
  throw CommandError(kExitInputOutput, fmt::format("{}: {}: {}", path, doing, std::strerror(errno)));
}

}  // namespace tamis::cli
