// Draws the plot. Positions are in SVG units; rates are on a logarithmic axis.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "cli/filter/rate_plot.h"
#include "cli/numbers.h"
#include "show/curves.h"
#include "show/svg.h"

namespace tamis::cli {
namespace {

using show::line_from;
using show::Point;
using show::polyline;
using show::text_at;

constexpr double kWidth = 920;
constexpr double kHeight = 600;
constexpr double kLeft = 84;
constexpr double kRight = 772;
constexpr double kTop = 108;
constexpr double kBottom = 540;
constexpr double kFewestBits = 3.5;
constexpr double kMostBits = 20.5;
constexpr int kDecades = 6;  // The axis goes from 1 down to 10^-6.
// Predicted points farther apart than this are the few sizes a kind comes in; nothing lies between them.
constexpr double kWidestStepBits = 1.5;

double x_of(double bits) { return kLeft + (bits - kFewestBits) / (kMostBits - kFewestBits) * (kRight - kLeft); }
double y_of(double rate) { return kTop - std::log10(rate) / kDecades * (kBottom - kTop); }

std::string axes() {
  std::string svg;
  for (int decade = 0; decade <= kDecades; ++decade) {
    const double y = y_of(std::pow(10.0, -decade));
    svg += line_from(kLeft, y, kRight, y, decade == kDecades ? "axis" : "grid");
    svg += text_at(kLeft - 10, y + 4.5, "text-anchor=\"end\"", fmt::format("{:g} %", std::pow(10.0, 2 - decade)));
  }
  for (int bits = 4; bits <= 20; bits += 2) {
    svg += line_from(x_of(bits), kTop, x_of(bits), kBottom, "grid");
    svg += text_at(x_of(bits), kBottom + 20, "text-anchor=\"middle\"", std::to_string(bits));
  }
  svg += text_at((kLeft + kRight) / 2, kBottom + 44, "text-anchor=\"middle\"", "bits per key");
  svg += text_at(kLeft, kTop - 14, "text-anchor=\"start\"", "false-positive rate (logarithmic)");
  return svg;
}

std::vector<Point> places_of(std::span<const RatePoint> points) {
  std::vector<Point> places;
  for (const RatePoint& point : points) places.push_back({x_of(point.bits_per_key), y_of(point.rate)});
  return places;
}

/// The points as a line, dotted where a kind jumps from one size to the next.
std::string predicted_line(std::span<const RatePoint> points) {
  std::string svg;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= points.size(); ++i) {
    const bool is_jump = i < points.size() && points[i].bits_per_key - points[i - 1].bits_per_key > kWidestStepBits;
    if (i < points.size() && !is_jump) continue;
    svg += polyline(places_of(points.subspan(begin, i - begin)), "line");
    if (is_jump) svg += polyline(places_of(points.subspan(i - 1, 2)), "line dots");
    begin = i;
  }
  return svg;
}

/// The last point above the bottom of the plot, followed to the bottom if the line goes on below it.
RatePoint end_of(const std::vector<RatePoint>& points) {
  const double floor = std::pow(10.0, -kDecades);
  const auto below = std::ranges::find_if(points, [&](const RatePoint& point) { return point.rate < floor; });
  if (below == points.end()) return points.back();
  if (below == points.begin()) return {below->bits_per_key, floor};
  const RatePoint& above = *(below - 1);
  const double part = std::log(floor / above.rate) / std::log(below->rate / above.rate);
  return {above.bits_per_key + part * (below->bits_per_key - above.bits_per_key), floor};
}

show::CurveName name_for(std::string_view name, std::string css_class, const std::vector<RatePoint>& points) {
  const RatePoint end = end_of(points);
  return {std::string(name), std::move(css_class), {x_of(end.bits_per_key), y_of(end.rate)}};
}

}  // namespace

std::string rate_plot_svg(const RatePlot& plot) {
  std::string svg =
      fmt::format("<clipPath id=\"inside\"><rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/></clipPath>\n", kLeft,
                  kTop - 6, kRight - kLeft, kBottom - kTop + 6);
  svg += text_at(kLeft, 34, "class=\"title\"", "What a bit per key buys");
  svg += text_at(kLeft, 56, "",
                 fmt::format("Lines: predicted. Marks: measured on {} keys with {} others.", with_thousands(plot.keys),
                             with_thousands(plot.probes)));
  svg += axes();
  const std::vector<RatePoint> bound = {{kFewestBits, std::exp2(-kFewestBits)}, {kMostBits, std::exp2(-kMostBits)}};
  svg += "<g clip-path=\"url(#inside)\">\n<g class=\"bound\">" + polyline(places_of(bound), "line dash") + "</g>\n";
  std::vector<show::CurveName> names = {name_for("least possible", "bound", bound)};
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const RateSeries& series = plot.series[i];
    if (series.predicted.empty()) continue;
    const std::string css_class = show::series_class(i);
    svg += fmt::format("<g class=\"{}\">\n{}", css_class, predicted_line(series.predicted));
    for (const RatePoint& point : series.measured) {
      if (point.rate > 0) svg += show::mark({x_of(point.bits_per_key), y_of(point.rate)}, i);
    }
    svg += "</g>\n";
    names.push_back(name_for(series.kind, css_class, series.predicted));
  }
  svg += "</g>\n";
  svg += show::curve_names(std::move(names), kRight, kTop, kBottom);
  return show::svg_document(kWidth, kHeight, "False-positive rate of filters against bits per key", svg);
}

}  // namespace tamis::cli
