#include "show/bar_chart.h"

#include <fmt/core.h>

#include <algorithm>

#include "show/human_text.h"
#include "show/svg.h"

namespace tamis::show {
namespace {

constexpr double kWidth = 920;
constexpr double kMargin = 24;
constexpr double kLeft = 230;
constexpr double kRight = 760;
constexpr double kHead = 84;
constexpr double kBarHeight = 18;
constexpr double kBarGap = 6;
constexpr double kTitleHeight = 34;
constexpr double kGroupGap = 16;
constexpr double kFarthestSpread = 1.6;  // Relative to the longest bar.

double height_of(const BarGroup& group) {
  return kTitleHeight + static_cast<double>(group.bars.size()) * (kBarHeight + kBarGap) + kGroupGap;
}

/// The spread ends where it ends, or at the edge of the chart with its value.
std::string draw(const Bar& bar, double y, double edge) {
  const auto x_of = [&](double value) { return kLeft + std::min(value, edge) / edge * (kRight - kLeft); };
  const double middle = y + kBarHeight / 2;
  std::string svg = text_at(kLeft - 10, middle + 4.5, "text-anchor=\"end\"", bar.label);
  svg += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\" class=\"bar {}\"/>\n",
                     kLeft, y, std::max(1.0, x_of(bar.value) - kLeft), kBarHeight, series_class(bar.series));
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
  std::string svg = text_at(kLeft, y + 20, "class=\"row\"", fmt::format("{} ({})", group.title, group.unit));
  double at = y + kTitleHeight;
  const double top = at - kBarGap / 2;
  for (const Bar& bar : group.bars) {
    svg += draw(bar, at, edge);
    at += kBarHeight + kBarGap;
  }
  return svg + line_from(kLeft, top, kLeft, at - kBarGap / 2, "axis");
}

}  // namespace

std::string bar_chart_svg(const std::string& title, const std::string& subtitle, const std::vector<BarGroup>& groups) {
  double height = kHead;
  for (const BarGroup& group : groups) height += height_of(group);
  std::string svg;
  svg += text_at(kMargin, 36, "class=\"title\"", title);
  svg += text_at(kMargin, 60, "", subtitle);
  double y = kHead;
  for (const BarGroup& group : groups) {
    svg += draw(group, y);
    y += height_of(group);
  }
  return svg_document(kWidth, height, title, svg);
}

}  // namespace tamis::show
