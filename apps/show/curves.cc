#include "show/curves.h"

#include <fmt/core.h>

#include <algorithm>

#include "show/svg.h"

namespace tamis::show {
namespace {

constexpr double kNameGap = 19;

/// Downwards from the top, then back up from the bottom where they ran out of room. The names must be in order.
std::vector<double> places_for(const std::vector<CurveName>& names, double top, double bottom) {
  std::vector<double> places;
  double free = top;
  for (const CurveName& name : names) {
    places.push_back(std::max(name.end.y, free));
    free = places.back() + kNameGap;
  }
  double ceiling = bottom;
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    *place = std::min(*place, ceiling);
    ceiling = *place - kNameGap;
  }
  return places;
}

}  // namespace

std::string polyline(std::span<const Point> points, std::string_view css_class) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", point.x, point.y);
  }
  return fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", path, css_class);
}

std::string mark(Point at, std::size_t series) {
  const auto [x, y] = at;
  const std::string_view look = series % 8 < 4 ? "mark" : "mark ring";
  switch (series % 4) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.2\" class=\"{}\"/>\n", x, y, look);
    case 1: return fmt::format("<path d=\"M{:.1f} {:.1f}l5 5l-5 5l-5 -5z\" class=\"{}\"/>\n", x, y - 5, look);
    case 2: return fmt::format("<path d=\"M{:.1f} {:.1f}h7.6v7.6h-7.6z\" class=\"{}\"/>\n", x - 3.8, y - 3.8, look);
    default: return fmt::format("<path d=\"M{:.1f} {:.1f}l5 8.6h-10z\" class=\"{}\"/>\n", x, y - 5, look);
  }
}

std::string curve_names(std::vector<CurveName> names, double right, double top, double bottom) {
  std::ranges::sort(names, [](const CurveName& a, const CurveName& b) {
    return a.end.y != b.end.y ? a.end.y < b.end.y : a.end.x > b.end.x;
  });
  const std::vector<double> places = places_for(names, top, bottom);
  std::string svg;
  for (std::size_t i = 0; i < names.size(); ++i) {
    svg += fmt::format("<g class=\"{}\"><path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}\" class=\"leader\"/>{}</g>\n",
                       names[i].css_class, names[i].end.x + 7, names[i].end.y, right + 14, places[i], right + 20,
                       text_at(right + 25, places[i] + 4.5, "class=\"name\"", names[i].name));
  }
  return svg;
}

}  // namespace tamis::show
