// Formats reports: columns, and readable numbers and byte counts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tamis {

/// Rows under headings; each column is as wide as its widest cell.
class TextTable {
 public:
  enum class Align : unsigned char { kLeft, kRight };
  struct Column {
    std::string_view heading;
    Align align = Align::kRight;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// One cell per column.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  /// All lines, each with a line end and without trailing spaces.
  [[nodiscard]] std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "12,345"; from 100,000 on "123 K", "1.23 M", …: at most six characters, up to 999 E.
std::string count_text(std::uint64_t count);
/// "1 block", "2 blocks"; "2 entries" if the plural is given.
std::string count_of(std::uint64_t count, std::string_view thing, std::string_view things = {});
/// "1.23 MiB".
std::string bytes_text(std::uint64_t bytes);
/// "1.00 %", with three significant digits; below 0.001 % as "1.2e-06".
std::string rate_text(double rate);
/// "812 ns", "1.23 us", "45.6 ms", "7.89 s".
std::string duration_text(std::uint64_t nanoseconds);
/// "[######......]": a fraction between 0 and 1 as a bar of `width` characters.
std::string bar_text(double part, std::size_t width);
/// A user's bytes: quoted if all are printable ASCII, else as 0x…; truncated with "…" after `most` characters.
std::string shown_bytes(std::string_view bytes, std::size_t most);

}  // namespace tamis
