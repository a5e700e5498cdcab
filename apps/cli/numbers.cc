#include "cli/numbers.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "cli/error.h"

namespace tamis::cli {
namespace {

[[noreturn]] void bad_value(std::string_view option, std::string_view text, std::string_view expected) {
  usage_error(fmt::format("{}: '{}' is not {}", option, text, expected));
}

/// The number, if the whole text is one.
template <typename T>
std::optional<T> read_number(std::string_view text) {
  T value = {};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <typename T>
T parse_number(std::string_view option, std::string_view text, std::string_view expected) {
  const std::optional<T> value = read_number<T>(text);
  if (!value) bad_value(option, text, expected);
  return *value;
}

/// The power of 1024 that a suffix stands for.
std::optional<int> power_of_suffix(std::string_view suffix) {
  if (suffix.empty()) return 0;
  if (suffix.size() != 1 && suffix.substr(1) != "iB" && suffix.substr(1) != "ib") return std::nullopt;
  constexpr std::string_view kLetters = "KMGT";
  const std::size_t at = kLetters.find(suffix[0] >= 'a' ? static_cast<char>(suffix[0] - 'a' + 'A') : suffix[0]);
  if (at == std::string_view::npos) return std::nullopt;
  return static_cast<int>(at) + 1;
}

}  // namespace

double parse_rate(std::string_view option, std::string_view text) {
  const std::optional<double> value = read_number<double>(text);
  if (!value || !(*value > 0 && *value < 1)) {
    bad_value(option, text, "a rate between 0 and 1 (exclusive), such as 0.01 for one in a hundred");
  }
  return *value;
}

double parse_rate_or_one(std::string_view option, std::string_view text) {
  return read_number<double>(text) == 1.0 ? 1 : parse_rate(option, text);
}

double parse_positive(std::string_view option, std::string_view text) {
  const std::optional<double> value = read_number<double>(text);
  if (!value || !std::isfinite(*value) || *value <= 0) bad_value(option, text, "a number above 0");
  return *value;
}

std::uint64_t parse_count(std::string_view option, std::string_view text) {
  return parse_number<std::uint64_t>(option, text, "a whole number from 0 to 18446744073709551615");
}

std::uint32_t parse_small_count(std::string_view option, std::string_view text) {
  return parse_number<std::uint32_t>(option, text, "a whole number from 0 to 4294967295");
}

std::int64_t parse_integer(std::string_view option, std::string_view text) {
  return parse_number<std::int64_t>(option, text, "a 64-bit whole number");
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
  const std::size_t power = std::min(
      show::kDiskUnits.size(),
      static_cast<std::size_t>(std::ranges::find(show::kDiskUnits, text.substr(digits)) - show::kDiskUnits.begin()));
  if (power == show::kDiskUnits.size()) return parse_bytes(option, text);
  const std::optional<std::uint64_t> value = read_number<std::uint64_t>(text.substr(0, digits));
  std::uint64_t unit = 1000;
  for (std::size_t i = 0; i < power; ++i) unit *= 1000;
  if (!value || *value > std::numeric_limits<std::uint64_t>::max() / unit) {
    bad_value(option, text, "a size in bytes, such as 500MB, 1TB or 64G");
  }
  return *value * unit;
}

}  // namespace tamis::cli
