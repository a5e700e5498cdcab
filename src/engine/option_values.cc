#include "engine/option_values.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

namespace tamis {
namespace {

constexpr std::array<std::string_view, 5> kUnits = {"", "KiB", "MiB", "GiB", "TiB"};

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

/// How many characters to insert, drop or replace to turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
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

std::string size_text(std::uint64_t bytes) {
  std::size_t unit = 0;
  while (bytes > 0 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) bytes /= 1024, ++unit;
  return fmt::format("{}{}", bytes, kUnits[unit]);
}

std::optional<std::string_view> nearest_word(std::string_view word, std::span<const std::string_view> candidates) {
  std::optional<std::string_view> best;
  std::size_t nearest = std::max(word.size() / 2, std::size_t{2}) + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= nearest) continue;
    best = candidate;
    nearest = distance;
  }
  return best;
}

}  // namespace tamis
