// Tables for a terminal of 80 columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tamis::cli {

/// Rows under headings, each column as wide as its widest cell; the last column may wrap instead. Without headings
/// there is no heading line.
class Table {
 public:
  enum class Align : unsigned char { kLeft, kRight, kWrap };  ///< kWrap: the last column only.
  struct Column {
    std::string_view heading;
    Align align = Align::kRight;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// All lines, each with its line end.
  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Breaks text at spaces into lines of at most `width` characters; longer words are not broken.
std::vector<std::string> wrap(std::string_view text, std::size_t width);

}  // namespace tamis::cli
