#include "engine/option_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

namespace tamis {
namespace {

constexpr std::array<std::string_view, 5> kUnits = {"", "KiB", "MiB", "GiB", "TiB"};

struct TimeUnit {
  std::string_view name;
  std::uint64_t milliseconds;
};
constexpr std::array<TimeUnit, 5> kTimeUnits = {
    {{"ms", 1}, {"s", 1000}, {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}}};
constexpr std::uint64_t kMaxTime = 365'000 * kTimeUnits.back().milliseconds;

bool is_same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return (x | 0x20) == (y | 0x20); });
}

/// The power of 1024 that a suffix stands for: "K" and "KiB" are 1.
std::optional<unsigned> power_of(std::string_view suffix) {
  for (unsigned power = 0; power < kUnits.size(); ++power) {
    const bool is_letter = power > 0 && is_same_but_for_case(suffix, kUnits[power].substr(0, 1));
    if (is_letter || is_same_but_for_case(suffix, kUnits[power])) return power;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> value = parse_whole_number(text.substr(0, digits));
  const std::optional<unsigned> power = power_of(text.substr(digits));
  if (!value || !power || *value > (std::numeric_limits<std::uint64_t>::max() >> (10 * *power))) return std::nullopt;
  return *value << (10 * *power);
}

std::optional<std::chrono::milliseconds> parse_time(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> value = parse_whole_number(text.substr(0, digits));
  const auto unit = std::ranges::find(kTimeUnits, text.substr(digits), &TimeUnit::name);
  if (!value || unit == kTimeUnits.end() || *value > kMaxTime / unit->milliseconds) return std::nullopt;
  return std::chrono::milliseconds(*value * unit->milliseconds);
}

std::string time_text(std::chrono::milliseconds time) {
  const auto number = static_cast<std::uint64_t>(time.count());
  std::size_t unit = 0;
  while (unit + 1 < kTimeUnits.size() && number % kTimeUnits[unit + 1].milliseconds == 0) ++unit;
  return fmt::format("{}{}", number / kTimeUnits[unit].milliseconds, kTimeUnits[unit].name);
}

std::string size_text(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (bytes > 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) bytes /= 1024, ++unit;
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

}  // namespace tamis
