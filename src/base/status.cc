#include "tamis/status.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

namespace tamis {

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::kOk: return "ok";
    case StatusCode::kInvalidArgument: return "invalid argument";
    case StatusCode::kNotSupported: return "not supported";
    case StatusCode::kBusy: return "busy";
    case StatusCode::kIoError: return "input/output error";
    case StatusCode::kOutOfSpace: return "out of space";
    case StatusCode::kCorruption: return "corruption";
    case StatusCode::kClosed: return "closed";
    case StatusCode::kConflict: return "conflict";
    case StatusCode::kStale: return "stale";
  }
  return "unknown status";
}

std::string Status::to_text() const {
  if (ok()) return "ok";
  return fmt::format("{}: {}", to_string(code()), message());
}

namespace detail {

void stop_program(std::string_view why) {
  std::fprintf(stderr, "tamis: stopped: %.*s\n", static_cast<int>(why.size()), why.data());
  std::abort();
}

}  // namespace detail
}  // namespace tamis
