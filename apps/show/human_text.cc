#include "show/human_text.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>

namespace tamis::show {
namespace {

/// "1.23" and a unit, three digits; `base` is the ratio of successive units.
template <std::size_t kCount>
std::string with_unit(std::uint64_t bytes, double base, const std::array<std::string_view, kCount>& units) {
  if (static_cast<double>(bytes) < base) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / base;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) value /= base, ++unit;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

}  // namespace

std::string with_thousands(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string short_number(double value) {
  if (value >= 1000) return with_thousands(static_cast<std::uint64_t>(std::llround(value)));
  if (value >= 100) return fmt::format("{:.1f}", value);
  if (value >= 1) return fmt::format("{:.2f}", value);
  return fmt::format("{:.4f}", value);
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  return with_unit(bytes, 1024, kUnits);
}

std::string human_count(std::uint64_t count) {
  constexpr std::array<std::string_view, 4> kUnits = {"K", "M", "G", "T"};
  return count < 1000 ? std::to_string(count) : with_unit(count, 1000, kUnits);
}

std::string human_disk_bytes(std::uint64_t bytes) { return with_unit(bytes, 1000, kDiskUnits); }

std::string date_text(std::uint64_t unix_seconds) {
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm parts = {};
  std::array<char, 40> text = {};
  if (::gmtime_r(&time, &parts) == nullptr) return "no date";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", &parts)};
}

std::string human_rate(double rate) {
  const double percent = 100 * rate;
  if (percent == 0) return "0 %";
  if (percent < 0.001) return fmt::format("{:.2e}", rate);
  if (percent >= 99.95) return "100 %";
  return fmt::format("{:#.3g} %", percent);
}

std::string bar(double part, std::size_t width) {
  const double filled = std::round(std::clamp(part, 0.0, 1.0) * static_cast<double>(width));
  return fmt::format("[{:.<{}}]", std::string(static_cast<std::size_t>(filled), '#'), width);
}

}  // namespace tamis::show
