#include "show/chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "show/human_text.h"

namespace tamis::show {
namespace {

// The page, and where its bars and plots begin and end.
constexpr double kWidth = 920;
constexpr double kMargin = 24;
constexpr double kHead = 84;
constexpr double kBarsLeft = 230;
constexpr double kBarsRight = 760;
constexpr double kBarHeight = 18;
constexpr double kBarGap = 6;
constexpr double kTitleHeight = 34;
constexpr double kGroupGap = 16;
constexpr double kFarthestSpread = 1.6;  // Relative to the longest bar.
constexpr double kLeft = 100;
constexpr double kRight = 740;
constexpr double kPlotTop = 40;
constexpr double kBelowPlot = 66;
constexpr double kNameGap = 19;

struct Colour {
  const char* light;
  const char* dark;
};
constexpr std::array<Colour, 8> kColours = {{{"#2563eb", "#79a8ff"},
                                             {"#c2570c", "#ffa657"},
                                             {"#15803d", "#56d364"},
                                             {"#7c3aed", "#c6a0ff"},
                                             {"#be185d", "#ff8fc7"},
                                             {"#0e7490", "#4fd1e0"},
                                             {"#92640a", "#e3c04b"},
                                             {"#b91c1c", "#ff8e86"}}};

/// The class of a series; its elements are in a group of that class and have its colour. Colours repeat after eight.
std::string series_class(std::size_t series) { return fmt::format("s{}", series % kColours.size()); }

/// A series uses currentColor, so that one rule per series and theme is enough.
std::string style() {
  std::string light;
  std::string dark;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    light += fmt::format(".{}{{color:{}}}", series_class(i), kColours[i].light);
    dark += fmt::format(".{}{{color:{}}}", series_class(i), kColours[i].dark);
  }
  return fmt::format(
      "<style>\n"
      "text{{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#3d444d}}\n"
      ".title{{font-size:18px;font-weight:600;fill:#1f2328}}.row{{font-weight:600}}\n"
      ".paper{{fill:#ffffff}}.grid{{stroke:#d8dee4;stroke-width:1}}.axis{{stroke:#8c959f;stroke-width:1}}\n"
      ".bar{{fill:currentColor}}.spread{{stroke:#1f2328;stroke-width:1.5}}\n"
      ".bound{{color:#57606a}}.line{{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}}\n"
      ".dash{{stroke-dasharray:6 4}}.dots{{stroke-dasharray:1 6;stroke-linecap:round}}\n"
      ".mark{{fill:currentColor;stroke:#ffffff;stroke-width:1}}\n"
      ".ring{{fill:none;stroke:currentColor;stroke-width:1.6}}\n"
      ".leader{{fill:none;stroke:currentColor;stroke-width:1;opacity:.45}}.name{{fill:currentColor;font-weight:600}}\n"
      "{}\n"
      "@media (prefers-color-scheme:dark){{\n"
      "text{{fill:#b7bfc8}}.title{{fill:#f0f3f6}}.paper{{fill:#0d1117}}.grid{{stroke:#262c34}}.axis{{stroke:#6e7781}}\n"
      ".spread{{stroke:#f0f3f6}}.bound{{color:#aab2bb}}.mark{{stroke:#0d1117}}.ring{{stroke:currentColor}}"
      ".name{{fill:currentColor}}\n"
      "{}\n}}\n</style>\n",
      light, dark);
}

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    if (c == '<') {
      safe += "&lt;";
    } else if (c == '&') {
      safe += "&amp;";
    } else {
      safe += c;
    }
  }
  return safe;
}

std::string text_at(double x, double y, std::string_view attributes, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\"{}{}>{}</text>\n", x, y, attributes.empty() ? "" : " ", attributes,
                     escaped(text));
}

std::string line_from(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     css_class);
}

/// Below the title. Elements are styled by class: title and row for text; grid, axis and spread for lines; line, dash
/// and dots for curves; mark and ring for points; name and leader for labels beside a curve.
std::string document(double height, const std::string& title, const std::string& subtitle,
                     const std::string& elements) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>{2}</title>\n{3}<rect width=\"{0}\" height=\"{1}\" class=\"paper\"/>\n{4}{5}{6}</svg>\n",
      kWidth, height, escaped(title), style(), text_at(kMargin, 36, "class=\"title\"", title),
      text_at(kMargin, 60, "", subtitle), elements);
}

double height_of(const BarGroup& group) {
  return kTitleHeight + static_cast<double>(group.bars.size()) * (kBarHeight + kBarGap) + kGroupGap;
}

/// The spread ends where it ends, or at the edge of the chart with its value.
std::string draw(const Bar& bar, double y, double edge) {
  const auto x_of = [&](double value) { return kBarsLeft + std::min(value, edge) / edge * (kBarsRight - kBarsLeft); };
  const double middle = y + kBarHeight / 2;
  std::string svg = text_at(kBarsLeft - 10, middle + 4.5, "text-anchor=\"end\"", bar.label);
  svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" class=\"bar {}\"/>\n",
                     kBarsLeft, y, std::max(1.0, x_of(bar.value) - kBarsLeft), kBarHeight, series_class(bar.series));
  if (bar.high > bar.low) svg += line_from(x_of(bar.low), middle, x_of(bar.high), middle, "spread");
  std::string figure = short_number(bar.value);
  if (bar.high > edge) figure += fmt::format(" (to {})", short_number(bar.high));
  return svg + text_at(x_of(std::max(bar.value, bar.high)) + 8, middle + 4.5, "", figure);
}

/// What the longest bar and most spreads need: one slow round must not make all bars short.
double edge_of(const BarGroup& group) {
  double longest = 0;
  double farthest = 0;
  for (const Bar& bar : group.bars) {
    longest = std::max(longest, bar.value);
    farthest = std::max(farthest, bar.high);
  }
  const double edge = std::min(std::max(longest, farthest), kFarthestSpread * longest);
  return edge > 0 ? edge : 1;
}

std::string draw(const BarGroup& group, double y) {
  const double edge = edge_of(group);
  std::string svg = text_at(kBarsLeft, y + 20, "class=\"row\"", fmt::format("{} ({})", group.title, group.unit));
  double at = y + kTitleHeight;
  const double top = at - kBarGap / 2;
  for (const Bar& bar : group.bars) {
    svg += draw(bar, at, edge);
    at += kBarHeight + kBarGap;
  }
  return svg + line_from(kBarsLeft, top, kBarsLeft, at - kBarGap / 2, "axis");
}

/// 1, 2, 5, 10, 20, 50, …: the step at or below a value, and the one at or above it.
double step_below(double value) {
  const double decade = std::pow(10.0, std::floor(std::log10(value)));
  return value >= 5 * decade ? 5 * decade : value >= 2 * decade ? 2 * decade : decade;
}
double step_above(double value) {
  const double below = step_below(value);
  return below == value ? value : step_below(below * 2.5);
}

/// "5 M", "200,000" shortened, "0.5" as it is.
std::string step_text(double value) {
  if (value >= 1e6) return fmt::format("{:g} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:g} k", value / 1e3);
  return value >= 1 ? with_thousands(static_cast<std::uint64_t>(std::llround(value))) : fmt::format("{:g}", value);
}

double place_on(const Axis& axis, double value, double begin, double end) {
  const double part = axis.is_logarithmic ? std::log(value / axis.low) / std::log(axis.high / axis.low)
                                          : (value - axis.low) / (axis.high - axis.low);
  return begin + part * (end - begin);
}

/// A panel whose plot begins at this height of the drawing.
struct Plot {
  const LinePanel& panel;
  double top;

  [[nodiscard]] double bottom() const { return top + panel.height; }
  [[nodiscard]] double x(double value) const { return place_on(panel.x, value, kLeft, kRight); }
  [[nodiscard]] double y(double value) const { return place_on(panel.y, value, bottom(), top); }
  [[nodiscard]] Point place(Point point) const { return {x(point.x), y(point.y)}; }
};

std::string axes(const Plot& plot) {
  std::string svg;
  for (const auto& [step, label] : plot.panel.y.steps) {
    const double y = plot.y(step);
    svg += line_from(kLeft, y, kRight, y, y > plot.bottom() - 1 ? "axis" : "grid");
    svg += text_at(kLeft - 10, y + 4.5, "text-anchor=\"end\"", label);
  }
  for (const auto& [step, label] : plot.panel.x.steps) {
    svg += line_from(plot.x(step), plot.top, plot.x(step), plot.bottom(), "grid");
    svg += text_at(plot.x(step), plot.bottom() + 20, "text-anchor=\"middle\"", label);
  }
  return svg + text_at((kLeft + kRight) / 2, plot.bottom() + 42, "text-anchor=\"middle\"", plot.panel.across);
}

/// Four shapes, first solid and then hollow, so that series can be told apart without colours and where they coincide.
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

std::string polyline(std::span<const Point> points, std::string_view css_class) {
  std::string path;
  for (const Point& point : points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", point.x, point.y);
  }
  return fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", path, css_class);
}

/// As places in the drawing, up to where the line leaves the plot through its bottom.
std::vector<Point> visible_part(const Plot& plot, const std::vector<Point>& line) {
  std::vector<Point> places;
  for (const Point& point : line) {
    const Point place = plot.place(point);
    if (place.y <= plot.bottom() || places.empty()) {
      places.push_back(place);
      continue;
    }
    const Point above = places.back();
    const double part = (plot.bottom() - above.y) / (place.y - above.y);
    places.push_back({above.x + part * (place.x - above.x), plot.bottom()});
    break;
  }
  return places;
}

std::string draw(const Curve& curve, std::span<const Point> places, const Plot& plot) {
  if (curve.is_bound) return polyline(places, "line dash");
  std::string svg;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= places.size(); ++i) {
    const bool is_jump = i < places.size() && curve.line[i].x - curve.line[i - 1].x > curve.widest_step;
    if (i < places.size() && !is_jump) continue;
    svg += polyline(places.subspan(begin, i - begin), "line");
    if (is_jump) svg += polyline(places.subspan(i - 1, 2), "line dots");
    begin = i;
  }
  for (const Point& point : curve.marks) svg += mark(plot.place(point), curve.series);
  return svg;
}

/// Where a curve ends, and its name on the right of the chart.
struct CurveName {
  std::string name;
  std::string css_class;
  Point end;
};

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

/// The names, moved apart, each with a line to its curve.
std::string curve_names(std::vector<CurveName> names, const Plot& plot) {
  std::ranges::sort(names, [](const CurveName& a, const CurveName& b) {
    return a.end.y != b.end.y ? a.end.y < b.end.y : a.end.x > b.end.x;
  });
  const std::vector<double> places = places_for(names, plot.top, plot.bottom());
  std::string svg;
  for (std::size_t i = 0; i < names.size(); ++i) {
    svg += fmt::format("<g class=\"{}\"><path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}\" class=\"leader\"/>{}</g>\n",
                       names[i].css_class, names[i].end.x + 7, names[i].end.y, kRight + 14, places[i], kRight + 20,
                       text_at(kRight + 25, places[i] + 4.5, "class=\"name\"", names[i].name));
  }
  return svg;
}

std::string draw(const LinePanel& panel, double y) {
  const Plot plot = {panel, y + kPlotTop};
  std::string svg = text_at(kLeft, y + 22, "class=\"row\"", panel.title) + axes(plot);
  std::vector<CurveName> names;
  for (const Curve& curve : panel.curves) {
    const std::string css_class = curve.is_bound ? "bound" : series_class(curve.series);
    const std::vector<Point> places = visible_part(plot, curve.line);
    svg += fmt::format("<g class=\"{}\">\n{}</g>\n", css_class, draw(curve, places, plot));
    names.push_back({curve.name, css_class, places.back()});
  }
  return svg + curve_names(std::move(names), plot);
}

}  // namespace

std::string bar_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<BarGroup>& groups) {
  std::string svg;
  double y = kHead;
  for (const BarGroup& group : groups) {
    svg += draw(group, y);
    y += height_of(group);
  }
  return document(y, title, subtitle, svg);
}

Axis logarithmic_axis(double low, double high) {
  Axis axis = {.low = step_below(low), .high = step_above(high), .is_logarithmic = true, .steps = {}};
  axis.high = std::max(axis.high, step_below(axis.low * 2.5));
  for (double step = axis.low; step <= axis.high * 1.001; step = step_below(step * 2.5)) {
    axis.steps.emplace_back(step, step_text(step));
  }
  return axis;
}

std::string line_chart_svg(const std::string& title, const std::string& subtitle,
                           const std::vector<LinePanel>& panels) {
  std::string svg;
  double y = kHead;
  for (const LinePanel& panel : panels) {
    svg += draw(panel, y);
    y += kPlotTop + panel.height + kBelowPlot;
  }
  return document(y, title, subtitle, svg);
}

}  // namespace tamis::show
