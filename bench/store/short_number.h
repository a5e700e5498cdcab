// Figures for people.
#pragma once

#include <fmt/core.h>

#include <string>

namespace tamis::bench {

/// Four significant digits or so, without an exponent.
inline std::string short_number(double value) {
  if (value >= 1000) return fmt::format("{:.0f}", value);
  if (value >= 100) return fmt::format("{:.1f}", value);
  if (value >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.4f}", value);
}

}  // namespace tamis::bench
