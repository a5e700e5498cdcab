// Curves on a chart: their lines, their marks, and their names beside them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::show {

/// In the units of the drawing.
struct Point {
  double x;
  double y;
};

std::string polyline(std::span<const Point> points, std::string_view css_class);

/// Four shapes, first solid and then hollow, so that series can be told apart without colours and where they coincide.
std::string mark(Point at, std::size_t series);

/// Where a curve ends, and its name on the right of the chart.
struct CurveName {
  std::string name;
  std::string css_class;
  Point end;
};

/// The names, moved apart between `top` and `bottom`, each with a line to its curve; `right` is the edge of the chart.
std::string curve_names(std::vector<CurveName> names, double right, double top, double bottom);

}  // namespace tamis::show
