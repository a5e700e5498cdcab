// Where in a program a call was made, for messages about it.
#pragma once

#include <cstdint>
#include <string_view>

namespace tamis {

/// std::source_location, which not every compiler of C++20 has yet. As a default argument it names the call:
///
///     Snapshot snapshot(Caller caller = Caller::here());
struct Caller {
  std::string_view file;   ///< The source file of the call.
  std::uint32_t line = 0;  ///< The line in that file.

  /// The place of the call whose default argument this is.
  static constexpr Caller here(const char* file = __builtin_FILE(), std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }
};

}  // namespace tamis
