// Rounds of one cell, and tables of them: printed for people, and as JSON.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench_run.h"

namespace tamis::layout {

using bench::Samples;

/// Nanoseconds that `work` takes of this thread's processor time, so that programs beside it do not count. For work of
/// many microseconds: reading this clock is a system call.
template <typename Work>
double nanoseconds(const Work& work) {
  const auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  work();
  return now() - begin;
}

/// Rows are contestants, columns what was measured; both appear in the order in which they were first added.
class Table {
 public:
  explicit Table(std::string title) : title_(std::move(title)) {}

  void add(const std::string& row, const std::string& column, double value) {
    if (std::ranges::find(columns_, column) == columns_.end()) columns_.push_back(column);
    auto at = std::ranges::find_if(rows_, [&](const Row& one) { return one.name == row; });
    if (at == rows_.end()) at = rows_.insert(rows_.end(), Row{row, {}});
    auto cell = std::ranges::find_if(at->cells, [&](const auto& one) { return one.first == column; });
    if (cell == at->cells.end()) cell = at->cells.insert(at->cells.end(), {column, Samples{}});
    cell->second.values.push_back(value);
  }

  void print() const {
    fmt::print("\n{}\n{:<44}", title_, "");
    for (const std::string& column : columns_) fmt::print("{:>18}", column);
    for (const Row& row : rows_) {
      fmt::print("\n{:<44}", row.name);
      for (const std::string& column : columns_) fmt::print("{:>18}", shown(row, column));
    }
    fmt::print("\n");
    std::fflush(stdout);
  }

  [[nodiscard]] nlohmann::json json() const {
    nlohmann::json rows = nlohmann::json::array();
    const auto rounded = [](double x) { return std::round(x * 100) / 100; };
    for (const Row& row : rows_) {
      nlohmann::json one = {{"name", row.name}};
      for (const auto& [column, cell] : row.cells) {
        one[column] = {
            {"median", rounded(cell.median())}, {"low", rounded(cell.low())}, {"high", rounded(cell.high())}};
      }
      rows.push_back(std::move(one));
    }
    return {{"title", title_}, {"rows", rows}};
  }

 private:
  struct Row {
    std::string name;
    std::vector<std::pair<std::string, Samples>> cells;
  };

  static std::string shown(const Row& row, const std::string& column) {
    for (const auto& [name, cell] : row.cells) {
      if (name != column) continue;
      if (cell.low() == cell.high()) return fmt::format("{:.2f}", cell.median());
      return fmt::format("{:.1f} [{:.0f}-{:.0f}]", cell.median(), cell.low(), cell.high());
    }
    return "";
  }

  std::string title_;
  std::vector<std::string> columns_;
  std::vector<Row> rows_;
};

/// What one section of the program needs to know and hands back.
struct Settings {
  std::size_t entries = 5'000'000;
  int rounds = 7;
  std::string only;  // Contestants whose name does not hold this are left out.

  [[nodiscard]] bool wants(const std::string& name) const { return name.find(only) != std::string::npos; }
};
struct Report {
  std::vector<Table> tables;
  std::uint64_t checksum = 0;
};

Report bench_blocks(const Settings& settings);
Report bench_index(const Settings& settings);
Report bench_path(const Settings& settings);
Report bench_journal(const Settings& settings);
Report bench_syncs(const Settings& settings);
Report bench_memtable(const Settings& settings);

}  // namespace tamis::layout
