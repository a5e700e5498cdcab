#include "numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <optional>

#include "error.h"

namespace tamis::cli {
namespace {

[[noreturn]] void bad_value(std::string_view option, std::string_view text, std::string_view expected) {
  usage_error(fmt::format("{}: '{}' is not {}", option, text, expected));
}

/// The number, if the text is one from its first to its last character.
template <typename T>
std::optional<T> read_number(std::string_view text) {
  T value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// The power of 1024 a suffix stands for.
std::optional<int> power_of_suffix(std::string_view suffix) {
  if (suffix.empty()) return 0;
  if (suffix.size() != 1 && suffix.substr(1) != "iB" && suffix.substr(1) != "ib") return std::nullopt;
  constexpr std::string_view kLetters = "KMGT";
  const std::size_t at = kLetters.find(suffix[0] >= 'a' ? static_cast<char>(suffix[0] - 'a' + 'A') : suffix[0]);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<int>(at) + 1;
}

constexpr std::array<std::string_view, 4> kDiskUnits = {"KB", "MB", "GB", "TB"};

/// "1.23" and a unit, three digits; `base` is what a unit is of the one before.
template <std::size_t kCount>
std::string with_unit(std::uint64_t bytes, double base, const std::array<std::string_view, kCount>& units) {
  if (static_cast<double>(bytes) < base) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / base;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < units.size()) value /= base, ++unit;
  return fmt::format("{:.{}f} {}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, units[unit]);
}

}  // namespace

double parse_rate(std::string_view option, std::string_view text) {
  const std::optional<double> value = read_number<double>(text);
  if (!value || !(*value > 0 && *value < 1)) {
    bad_value(option, text, "a rate between 0 and 1 (both excluded), such as 0.01 for one in a hundred");
  }
  return *value;
}

double parse_positive(std::string_view option, std::string_view text) {
  const std::optional<double> value = read_number<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0) bad_value(option, text, "a number above 0");
  return *value;
}

std::uint64_t parse_count(std::string_view option, std::string_view text) {
  const std::optional<std::uint64_t> value = read_number<std::uint64_t>(text);
  if (!value) bad_value(option, text, "a whole number from 0 to 18446744073709551615");
  return *value;
}

std::uint32_t parse_small_count(std::string_view option, std::string_view text) {
  const std::optional<std::uint32_t> value = read_number<std::uint32_t>(text);
  if (!value) bad_value(option, text, "a whole number from 0 to 4294967295");
  return *value;
}

std::int64_t parse_integer(std::string_view option, std::string_view text) {
  const std::optional<std::int64_t> value = read_number<std::int64_t>(text);
  if (!value) bad_value(option, text, "a whole number of 64 bits");
  return *value;
}

std::uint64_t parse_bytes(std::string_view option, std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::optional<std::uint64_t> value = read_number<std::uint64_t>(text.substr(0, digits));
  const std::optional<int> power = power_of_suffix(text.substr(digits));
  if (!value || !power || *value > (std::numeric_limits<std::uint64_t>::max() >> (10 * *power))) {
    bad_value(option, text, "a size in bytes, such as 65536, 64K, 10M or 2G");
  }
  return *value << (10 * *power);
}

std::uint64_t parse_disk_bytes(std::string_view option, std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  const std::size_t power =
      std::min(kDiskUnits.size(),
               static_cast<std::size_t>(std::ranges::find(kDiskUnits, text.substr(digits)) - kDiskUnits.begin()));
  if (power == kDiskUnits.size()) return parse_bytes(option, text);
  const std::optional<std::uint64_t> value = read_number<std::uint64_t>(text.substr(0, digits));
  std::uint64_t unit = 1000;
  for (std::size_t i = 0; i < power; ++i) unit *= 1000;
  if (!value || *value > std::numeric_limits<std::uint64_t>::max() / unit) {
    bad_value(option, text, "a size in bytes, such as 500MB, 1TB or 64G");
  }
  return *value * unit;
}

std::string with_thousands(std::uint64_t value) {
  const std::string digits = std::to_string(value);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
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

}  // namespace tamis::cli
