// Numbers for people.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <cstdint>
#include <string>

#include "show/human_text.h"

namespace tamis::bench {

/// About four significant digits, without an exponent.
inline std::string short_number(double value) {
  if (value >= 1000) return show::with_thousands(static_cast<std::uint64_t>(std::llround(value)));
  if (value >= 100) return fmt::format("{:.1f}", value);
  if (value >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.4f}", value);
}

}  // namespace tamis::bench
