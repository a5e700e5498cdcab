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
  std::size_t series;  ///< Gives the colour.
};

/// Bars that are compared with each other.
struct BarGroup {
  std::string title;
  std::string unit;  ///< With what is better, for people.
  std::vector<Bar> bars;
};

/// An SVG document that needs nothing else and follows the reader's light or dark theme. Each group has a scale of its
/// own, from 0 to its longest bar or a little farther.
std::string bar_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<BarGroup>& groups);

}  // namespace tamis::show
