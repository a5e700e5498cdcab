// Curves over logarithmic axes, as SVG.
#pragma once

#include <string>
#include <vector>

#include "show/curves.h"

namespace tamis::bench {

/// Its points, from left to right; both coordinates are above 0.
struct LineSeries {
  std::string name;
  std::vector<show::Point> points;
};

/// Curves that are compared with each other.
struct LinePanel {
  std::string title;
  std::string unit;    ///< Of what goes upwards, for people.
  std::string across;  ///< What goes to the right.
  std::vector<LineSeries> lines;
};

/// Panels below each other, each with scales of its own.
std::string line_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<LinePanel>& panels);

}  // namespace tamis::bench
