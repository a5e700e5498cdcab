// The edge of the library: nothing throws across it.
#pragma once

#include <new>
#include <string>
#include <string_view>

#include "tamis/status.h"

namespace tamis {

/// Runs a call of a user. What throws in it can only be std::bad_alloc, from one of the many small allocations that
/// nobody checks; half of a change may have been made by then. So the program ends here, as std::terminate says, and
/// the next opening finds what it finds after any crash of a process. Allocations as large as what a user brings or the
/// budget allows are checked where they are made, and answered with kOutOfSpace (docs/decisions/0016).
template <typename Call>
auto never_throws(Call call) noexcept {
  return call();
}

/// Copies what may be large.
inline Status assign_bytes(std::string& to, std::string_view bytes) {
  try {
    to.assign(bytes);
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space("no memory for a value of " + std::to_string(bytes.size()) + " bytes");
  }
}

}  // namespace tamis
