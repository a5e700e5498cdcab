// Horizontal bars as SVG.
#pragma once

#include <string>
#include <vector>

namespace tamis::show {

struct Bar {
  std::string label;
  double value;
  double low;  ///< The spread is drawn as a line over the bar's end.
  double high;
  std::size_t series;  ///< Determines the colour.
};

/// Bars that are compared with each other.
struct BarGroup {
  std::string title;
  std::string unit;  ///< Says which direction is better.
  std::vector<Bar> bars;
};

/// A self-contained SVG document that follows the reader's light or dark theme. Each group has its own scale, from 0 to
/// its longest bar or slightly beyond.
std::string bar_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<BarGroup>& groups);

}  // namespace tamis::show
