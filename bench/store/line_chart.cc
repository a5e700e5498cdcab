#include "store/line_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "show/human_text.h"
#include "show/svg.h"

namespace tamis::bench {
namespace {

using show::line_from;
using show::Point;
using show::text_at;

constexpr double kWidth = 920;
constexpr double kMargin = 24;
constexpr double kLeft = 100;
constexpr double kRight = 740;
constexpr double kHead = 84;
constexpr double kPlotTop = 40;
constexpr double kPlotHeight = 230;
constexpr double kPanelHeight = kPlotTop + kPlotHeight + 66;

/// 1, 2, 5, 10, 20, 50, …: the step at or below a value, and the one at or above it.
double step_below(double value) {
  const double decade = std::pow(10.0, std::floor(std::log10(value)));
  return value >= 5 * decade ? 5 * decade : value >= 2 * decade ? 2 * decade : decade;
}
double step_above(double value) {
  const double below = step_below(value);
  return below == value ? value : step_below(below * 2.5);
}

/// A logarithmic axis between two steps.
class Scale {
 public:
  Scale(double low, double high, double begin, double end)
      : low_(step_below(low)), high_(std::max(step_above(high), step_below(low_ * 2.5))), begin_(begin), end_(end) {}

  [[nodiscard]] double at(double value) const {
    return begin_ + std::log(value / low_) / std::log(high_ / low_) * (end_ - begin_);
  }
  [[nodiscard]] std::vector<double> steps() const {
    std::vector<double> steps;
    for (double step = low_; step <= high_ * 1.001; step = step_below(step * 2.5)) steps.push_back(step);
    return steps;
  }

 private:
  double low_;
  double high_;
  double begin_;
  double end_;
};

/// "5 M", "200,000" shortened, "0.5" as it is.
std::string step_text(double value) {
  if (value >= 1e6) return fmt::format("{:g} M", value / 1e6);
  if (value >= 1e4) return fmt::format("{:g} k", value / 1e3);
  return value >= 1 ? show::with_thousands(static_cast<std::uint64_t>(std::llround(value)))
                    : fmt::format("{:g}", value);
}

struct Scales {
  Scale x;
  Scale y;
};

Scales scales_of(const LinePanel& panel, double top) {
  Point least = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  Point most = {0, 0};
  for (const LineSeries& line : panel.lines) {
    for (const Point& point : line.points) {
      least = {std::min(least.x, point.x), std::min(least.y, point.y)};
      most = {std::max(most.x, point.x), std::max(most.y, point.y)};
    }
  }
  return {Scale(least.x, most.x, kLeft, kRight), Scale(least.y, most.y, top + kPlotHeight, top)};
}

std::string axes(const LinePanel& panel, const Scales& scales, double top) {
  const double bottom = top + kPlotHeight;
  std::string svg;
  for (const double step : scales.y.steps()) {
    const double y = scales.y.at(step);
    svg += line_from(kLeft, y, kRight, y, y > bottom - 1 ? "axis" : "grid");
    svg += text_at(kLeft - 10, y + 4.5, "text-anchor=\"end\"", step_text(step));
  }
  for (const double step : scales.x.steps()) {
    const double x = scales.x.at(step);
    svg += line_from(x, top, x, bottom, "grid");
    svg += text_at(x, bottom + 20, "text-anchor=\"middle\"", step_text(step));
  }
  return svg + text_at((kLeft + kRight) / 2, bottom + 42, "text-anchor=\"middle\"", panel.across);
}

std::string draw(const LinePanel& panel, double y) {
  const double top = y + kPlotTop;
  const Scales scales = scales_of(panel, top);
  std::string svg = text_at(kLeft, y + 22, "class=\"row\"", fmt::format("{} ({})", panel.title, panel.unit));
  svg += axes(panel, scales, top);
  std::vector<show::CurveName> names;
  for (std::size_t i = 0; i < panel.lines.size(); ++i) {
    std::vector<Point> places;
    for (const Point& point : panel.lines[i].points) places.push_back({scales.x.at(point.x), scales.y.at(point.y)});
    svg += fmt::format("<g class=\"{}\">\n{}", show::series_class(i), show::polyline(places, "line"));
    for (const Point& place : places) svg += show::mark(place, i);
    svg += "</g>\n";
    names.push_back({panel.lines[i].name, show::series_class(i), places.back()});
  }
  return svg + show::curve_names(std::move(names), kRight, top, top + kPlotHeight);
}

}  // namespace

std::string line_chart_svg(const std::string& title, const std::string& subtitle,
                           const std::vector<LinePanel>& panels) {
  std::string svg = text_at(kMargin, 36, "class=\"title\"", title) + text_at(kMargin, 60, "", subtitle);
  double y = kHead;
  for (const LinePanel& panel : panels) {
    svg += draw(panel, y);
    y += kPanelHeight;
  }
  return show::svg_document(kWidth, y, title, svg);
}

}  // namespace tamis::bench
