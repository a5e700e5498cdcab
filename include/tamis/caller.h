// The source location of a call, for error messages.
#pragma once

#include <cstdint>
#include <string_view>

namespace tamis {

/// Stands in for std::source_location, which some C++20 compilers lack. As a default argument it names the call site:
///
///     Snapshot snapshot(Caller caller = Caller::here());
struct Caller {
  std::string_view file;   ///< The source file of the call.
  std::uint32_t line = 0;  ///< The line in that file; 0: `file` says it all.

  /// The call site that uses this default argument.
  static constexpr Caller here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace tamis
