// Curves on a chart: their lines, their marks, and their names beside them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tamis::show {

/// In drawing units.
struct Point {
  double x;
  double y;
};

std::string polyline(std::span<const Point> points, std::string_view css_class);

/// Four shapes, first solid, then hollow, so that series differ even without colour and where they overlap.
std::string mark(Point at, std::size_t series);

/// Where a curve ends, and its name to the right of the chart.
struct CurveName {
  std::string name;
  std::string css_class;
  Point end;
};

/// The names, spread between `top` and `bottom`, each with a line to its curve; `right` is the edge of the chart.
std::string curve_names(std::vector<CurveName> names, double right, double top, double bottom);

}  // namespace tamis::show
