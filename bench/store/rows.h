// The rows of the benchmark's table: what is measured, its unit, and tamis's targets.
#pragma once

#include <span>
#include <string_view>

namespace tamis::bench {

struct RowInfo {
  std::string_view name;   ///< As on the command line.
  std::string_view group;  ///< Rows of one chart; also a name on the command line.
  std::string_view title;
  std::string_view unit;
  bool more_is_better;
};

/// In table order.
std::span<const RowInfo> row_table();
/// Null for an unknown name.
const RowInfo* find_row(std::string_view name);

/// A bound on tamis's median: `factor` times another median, or a number.
struct Target {
  enum class Against {
    kEngine,   ///< The same row of the contestant `reference`.
    kBest,     ///< The same row of the best rival.
    kOwnRow,   ///< tamis's own row `reference`.
    kAbsolute  ///< The factor itself.
  };
  std::string_view row;
  Against against;
  std::string_view reference;
  double factor;
};

/// A row may have several. They assume release builds of the rivals (scripts/build-rivals).
std::span<const Target> target_table();

}  // namespace tamis::bench
