#include "text/text_layout.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tamis {
namespace {

constexpr std::string_view kGap = "  ";

/// Columns on a terminal: UTF-8 continuation bytes take none.
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}

/// Three significant digits: "1.23", "12.3", "123".
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0);
}

std::string with_thousands(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

bool is_printable(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

std::string TextTable::text() const {
  std::vector<std::size_t> width;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    width.push_back(display_width(columns_[column].heading));
    for (const auto& row : rows_) width[column] = std::max(width[column], display_width(row[column]));
  }
  std::string all;
  const auto add_line = [&](const auto& cell) {
    std::string line;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::string_view text = cell(column);
      const std::string space(width[column] - display_width(text), ' ');
      if (column > 0) line += kGap;
      if (columns_[column].align == Align::kRight) line += space;
      line += text;
      if (columns_[column].align == Align::kLeft) line += space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    line += '\n';
    all += line;
  };
  add_line([&](std::size_t column) { return columns_[column].heading; });
  for (const auto& row : rows_) add_line([&](std::size_t column) { return std::string_view(row[column]); });
  return all;
}

std::string count_text(std::uint64_t count) {
  constexpr std::array kUnits = {'K', 'M', 'G', 'T', 'P', 'E'};
  if (count < 100'000) return with_thousands(count);
  double value = static_cast<double>(count) / 1000;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) value /= 1000, ++unit;
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string count_of(std::uint64_t count, std::string_view thing, std::string_view things) {
  if (count == 1) return fmt::format("1 {}", thing);
  return things.empty() ? fmt::format("{} {}s", with_thousands(count), thing)
                        : fmt::format("{} {}", with_thousands(count), things);
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) value /= 1024, ++unit;
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string rate_text(double rate) {
  const double percent = 100 * rate;
  if (percent == 0) return "0 %";
  if (percent < 0.001) return fmt::format("{:.1e}", rate);
  if (percent >= 99.95) return "100 %";
  return fmt::format("{:#.3g} %", percent);
}

std::string duration_text(std::uint64_t nanoseconds) {
  constexpr std::array kUnits = {"ns", "us", "ms", "s"};
  if (nanoseconds < 1000) return fmt::format("{} ns", nanoseconds);
  double value = static_cast<double>(nanoseconds);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) value /= 1000, ++unit;
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string bar_text(double part, std::size_t width) {
  const double filled = std::round(std::clamp(part, 0.0, 1.0) * static_cast<double>(width));
  return fmt::format("[{:.<{}}]", std::string(static_cast<std::size_t>(filled), '#'), width);
}

std::string shown_bytes(std::string_view bytes, std::size_t most) {
  if (is_printable(bytes)) {
    std::string quoted;
    for (const char c : bytes.substr(0, most)) {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
    return fmt::format("\"{}\"{}", quoted, bytes.size() > most ? "…" : "");
  }
  std::string hex = "0x";
  for (const char c : bytes.substr(0, most / 2)) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return hex + (bytes.size() > most / 2 ? "…" : "");
}

}  // namespace tamis
