#include "cli/table.h"

#include <algorithm>

#include "cli/output.h"

namespace tamis::cli {
namespace {

constexpr std::size_t kTerminalColumns = 80;
constexpr std::size_t kGap = 2;

/// Columns the text takes on a terminal (UTF-8, no wide characters).
std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string padded(std::string_view text, std::size_t width, Table::Align align) {
  const std::string space(width - std::min(width, display_width(text)), ' ');
  return align == Table::Align::kRight ? space + std::string(text) : std::string(text) + space;
}

std::string without_trailing_space(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

}  // namespace

std::vector<std::string> wrap(std::string_view text, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width) lines.emplace_back();
    if (!lines.back().empty()) lines.back() += ' ';
    lines.back() += word;
  }
  return lines;
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (std::size_t column = 0; column < columns_.size(); ++column) {
    std::size_t width = display_width(columns_[column].heading);
    if (columns_[column].align != Align::kWrap) {
      for (const auto& row : rows_) width = std::max(width, display_width(row[column]));
    }
    widths.push_back(width);
  }
  return widths;
}

std::string Table::text() const {
  const std::vector<std::size_t> width = widths();
  std::size_t before_last = 0;
  for (std::size_t column = 0; column + 1 < columns_.size(); ++column) before_last += width[column] + kGap;

  const auto line_of = [&](const auto& cell) {
    std::string line;
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (column > 0) line.append(kGap, ' ');
      line += padded(cell(column), width[column], columns_[column].align);
    }
    return without_trailing_space(std::move(line));
  };

  std::string all;
  if (std::ranges::any_of(columns_, [](const Column& column) { return !column.heading.empty(); })) {
    all = bold(line_of([&](std::size_t column) { return std::string(columns_[column].heading); })) + "\n";
  }
  for (const auto& row : rows_) {
    std::vector<std::string> last = {row.back()};
    if (columns_.back().align == Align::kWrap) {
      last = wrap(row.back(), std::max(kTerminalColumns - std::min(before_last, kTerminalColumns), std::size_t{20}));
    }
    all += line_of([&](std::size_t column) { return column + 1 < columns_.size() ? row[column] : last[0]; }) + "\n";
    for (std::size_t more = 1; more < last.size(); ++more) all += std::string(before_last, ' ') + last[more] + "\n";
  }
  return all;
}

}  // namespace tamis::cli
