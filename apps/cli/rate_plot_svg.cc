// Draws the plot. Positions are in SVG units; rates are on a logarithmic axis.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "numbers.h"
#include "rate_plot.h"

namespace tamis::cli {
namespace {

constexpr double kWidth = 920;
constexpr double kHeight = 600;
constexpr double kLeft = 84;
constexpr double kRight = 772;
constexpr double kTop = 108;
constexpr double kBottom = 540;
constexpr double kFewestBits = 3.5;
constexpr double kMostBits = 20.5;
constexpr int kDecades = 6;  // The axis goes from 1 down to 10^-6.
constexpr double kLabelGap = 19;
// Predicted points farther apart than this are the few sizes a kind comes in; nothing lies between them.
constexpr double kWidestStepBits = 1.5;

double x_of(double bits) { return kLeft + (bits - kFewestBits) / (kMostBits - kFewestBits) * (kRight - kLeft); }
double y_of(double rate) { return kTop - std::log10(rate) / kDecades * (kBottom - kTop); }

// A series is painted with currentColor, so that one rule per series and theme is enough.
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

std::string style() {
  std::string light;
  std::string dark;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    light += fmt::format(".s{}{{color:{}}}", i, kColours[i].light);
    dark += fmt::format(".s{}{{color:{}}}", i, kColours[i].dark);
  }
  return fmt::format(
      "<style>\n"
      "text{{font:13px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#3d444d}}\n"
      ".title{{font-size:18px;font-weight:600;fill:#1f2328}}\n"
      ".paper{{fill:#ffffff}}.grid{{stroke:#d8dee4;stroke-width:1}}.axis{{stroke:#8c959f;stroke-width:1}}\n"
      ".bound{{color:#57606a}}.line{{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}}\n"
      ".dash{{stroke-dasharray:6 4}}.dots{{stroke-dasharray:1 6;stroke-linecap:round}}\n"
      ".mark{{fill:currentColor;stroke:#ffffff;stroke-width:1}}\n"
      ".ring{{fill:none;stroke:currentColor;stroke-width:1.6}}\n"
      ".leader{{fill:none;stroke:currentColor;stroke-width:1;opacity:.45}}.name{{fill:currentColor;font-weight:600}}\n"
      "{}\n"
      "@media (prefers-color-scheme:dark){{\n"
      "text{{fill:#b7bfc8}}.title{{fill:#f0f3f6}}.paper{{fill:#0d1117}}.grid{{stroke:#262c34}}.axis{{stroke:#6e7781}}\n"
      ".bound{{color:#aab2bb}}.mark{{stroke:#0d1117}}.ring{{stroke:currentColor}}.name{{fill:currentColor}}\n"
      "{}\n}}\n</style>\n",
      light, dark);
}

std::string text_at(double x, double y, std::string_view attributes, std::string_view text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, text);
}

std::string line_from(double x1, double y1, double x2, double y2, std::string_view css_class) {
  return fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1, x2, y2,
                     css_class);
}

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

std::string polyline(std::span<const RatePoint> points, std::string_view css_class) {
  std::string path;
  for (const RatePoint& point : points) {
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x_of(point.bits_per_key), y_of(point.rate));
  }
  return fmt::format("<polyline points=\"{}\" class=\"{}\"/>\n", path, css_class);
}

/// The points as a line, dotted where a kind jumps from one size to the next.
std::string predicted_line(std::span<const RatePoint> points) {
  std::string svg;
  std::size_t begin = 0;
  for (std::size_t i = 1; i <= points.size(); ++i) {
    const bool is_jump = i < points.size() && points[i].bits_per_key - points[i - 1].bits_per_key > kWidestStepBits;
    if (i < points.size() && !is_jump) continue;
    svg += polyline(points.subspan(begin, i - begin), "line");
    if (is_jump) svg += polyline(points.subspan(i - 1, 2), "line dots");
    begin = i;
  }
  return svg;
}

/// Four shapes, first solid and then hollow, so that series can be told apart without colours and where they coincide.
std::string mark(double x, double y, std::size_t series) {
  const std::string_view look = series % 8 < 4 ? "mark" : "mark ring";
  switch (series % 4) {
    case 0: return fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4.2\" class=\"{}\"/>\n", x, y, look);
    case 1: return fmt::format("<path d=\"M{:.1f} {:.1f}l5 5l-5 5l-5 -5z\" class=\"{}\"/>\n", x, y - 5, look);
    case 2: return fmt::format("<path d=\"M{:.1f} {:.1f}h7.6v7.6h-7.6z\" class=\"{}\"/>\n", x - 3.8, y - 3.8, look);
    default: return fmt::format("<path d=\"M{:.1f} {:.1f}l5 8.6h-10z\" class=\"{}\"/>\n", x, y - 5, look);
  }
}

/// Where a series ends inside the plot, and where its name goes on the right.
struct Label {
  std::string_view name;
  std::string css_class;
  double x;
  double y;
  double text_y;
};

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

Label label_for(std::string_view name, std::string css_class, const std::vector<RatePoint>& points) {
  const RatePoint end = end_of(points);
  return {name, std::move(css_class), x_of(end.bits_per_key), y_of(end.rate), y_of(end.rate)};
}

/// Moves names apart: downwards from the top, then back up from the bottom where they ran out of room.
void spread(std::vector<Label>& labels) {
  std::ranges::sort(labels, [](const Label& a, const Label& b) { return a.y != b.y ? a.y < b.y : a.x > b.x; });
  double free = kTop;
  for (Label& label : labels) free = (label.text_y = std::max(label.y, free)) + kLabelGap;
  double ceiling = kBottom;
  for (auto label = labels.rbegin(); label != labels.rend(); ++label) {
    ceiling = (label->text_y = std::min(label->text_y, ceiling)) - kLabelGap;
  }
}

std::string draw(const Label& label) {
  return fmt::format("<g class=\"{}\"><path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}H{:.1f}\" class=\"leader\"/>{}</g>\n",
                     label.css_class, label.x + 7, label.y, kRight + 14, label.text_y, kRight + 20,
                     text_at(kRight + 25, label.text_y + 4.5, "class=\"name\"", label.name));
}

}  // namespace

std::string rate_plot_svg(const RatePlot& plot) {
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
      "<title>False-positive rate of filters against bits per key</title>\n{2}"
      "<rect width=\"{0}\" height=\"{1}\" class=\"paper\"/>\n"
      "<clipPath id=\"inside\"><rect x=\"{3}\" y=\"{4}\" width=\"{5}\" height=\"{6}\"/></clipPath>\n",
      kWidth, kHeight, style(), kLeft, kTop - 6, kRight - kLeft, kBottom - kTop + 6);
  svg += text_at(kLeft, 34, "class=\"title\"", "What a bit per key buys");
  svg += text_at(kLeft, 56, "",
                 fmt::format("Lines: predicted. Marks: measured on {} keys with {} others.", with_thousands(plot.keys),
                             with_thousands(plot.probes)));
  svg += axes();
  const std::vector<RatePoint> bound = {{kFewestBits, std::exp2(-kFewestBits)}, {kMostBits, std::exp2(-kMostBits)}};
  svg += "<g clip-path=\"url(#inside)\">\n<g class=\"bound\">" + polyline(bound, "line dash") + "</g>\n";
  std::vector<Label> labels = {label_for("least possible", "bound", bound)};
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const RateSeries& series = plot.series[i];
    if (series.predicted.empty()) continue;
    const std::string css_class = fmt::format("s{}", i % kColours.size());
    svg += fmt::format("<g class=\"{}\">\n{}", css_class, predicted_line(series.predicted));
    for (const RatePoint& point : series.measured) {
      if (point.rate > 0) svg += mark(x_of(point.bits_per_key), y_of(point.rate), i);
    }
    svg += "</g>\n";
    labels.push_back(label_for(series.kind, css_class, series.predicted));
  }
  svg += "</g>\n";
  spread(labels);
  for (const Label& label : labels) svg += draw(label);
  return svg + "</svg>\n";
}

}  // namespace tamis::cli
