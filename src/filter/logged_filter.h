// A mutable filter from a file that may have a log behind its container.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes.h"
#include "tamis/filter.h"

namespace tamis {

/// A filter with the changes of its log, and where the log ends.
struct LoggedFilter {
  MutableFilter filter = {};
  std::uint64_t seed = 0;  ///< Of the log's checksums.
  std::uint64_t log_begin = 0;
  std::uint64_t log_end = 0;
  bool is_torn = false;  ///< There is something behind the end that a crash has left.
};

/// For the bytes of a file that has a log.
Result<LoggedFilter> open_logged_filter(Bytes file, std::string_view name);

}  // namespace tamis
