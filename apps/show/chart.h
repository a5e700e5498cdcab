// Charts, as self-contained SVG documents that follow the reader's light or dark theme.
#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tamis::show {

/// A horizontal bar.
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

/// Each group has its own scale, from 0 to its longest bar or slightly beyond.
std::string bar_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<BarGroup>& groups);

struct Point {
  double x;
  double y;
};

/// Between two values, with a line and a label at each step.
struct Axis {
  double low;
  double high;
  bool is_logarithmic;
  std::vector<std::pair<double, std::string>> steps;
};

/// Holds these values, which are above 0; its steps are 1, 2, 5, 10, 20, 50, ….
Axis logarithmic_axis(double low, double high);

struct Curve {
  std::string name;
  std::size_t series;        ///< Gives colour and marks.
  std::vector<Point> line;   ///< From left to right, above the bottom of the plot at first; cut off where it leaves it.
  std::vector<Point> marks;  ///< Inside the plot.
  bool is_bound = false;     ///< Dashed and grey.
  double widest_step = std::numeric_limits<double>::infinity();  ///< Dotted where x grows by more: nothing is between.
};

/// Curves that are compared with each other.
struct LinePanel {
  std::string title;
  std::string across;  ///< What goes to the right.
  Axis x;
  Axis y;
  std::vector<Curve> curves;
  double height = 230;  ///< Of the plot.
};

/// Panels below each other.
std::string line_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<LinePanel>& panels);

}  // namespace tamis::show
