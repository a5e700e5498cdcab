// Nothing throws across the API: what the engine adds to base/never_throws.h.
#pragma once

#include <new>
#include <string>
#include <string_view>

#include "base/never_throws.h"
#include "tamis/status.h"

namespace tamis {

/// Copies a value, which may be large.
[[gnu::always_inline]] inline Status assign_bytes(std::string& to, std::string_view bytes) {
  try {
    to.assign(bytes);
    return {};
  } catch (const std::bad_alloc&) {
    return Status::out_of_space("no memory for a value of " + std::to_string(bytes.size()) + " bytes");
  }
}

}  // namespace tamis
