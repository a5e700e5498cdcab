// Draws the plot.
#include <fmt/core.h>

#include <cmath>
#include <string>

#include "cli/filter/rate_plot.h"
#include "cli/numbers.h"

namespace tamis::cli {
namespace {

constexpr double kMinBits = 3;  // A ribbon asked for 4 bits may take 3.
constexpr double kMaxBits = 20.5;
constexpr int kDecades = 6;  // The axis goes from 1 down to 10^-6.
constexpr double kHeight = 430;
// Predicted points farther apart than this are the few sizes a kind comes in; nothing lies between them.
constexpr double kWidestStepBits = 1.5;

show::LinePanel empty_panel() {
  show::Axis bits = {.low = kMinBits, .high = kMaxBits, .is_logarithmic = false, .steps = {}};
  for (int step = 4; step <= 20; step += 2) bits.steps.emplace_back(step, std::to_string(step));
  show::Axis rates = {.low = std::pow(10.0, -kDecades), .high = 1, .is_logarithmic = true, .steps = {}};
  for (int decade = 0; decade <= kDecades; ++decade) {
    rates.steps.emplace_back(std::pow(10.0, -decade), fmt::format("{:g} %", std::pow(10.0, 2 - decade)));
  }
  return {"False-positive rate (logarithmic)", "bits per key", std::move(bits), std::move(rates), {}, kHeight};
}

}  // namespace

std::string rate_plot_svg(const RatePlot& plot) {
  show::LinePanel panel = empty_panel();
  panel.curves.push_back({.name = "least possible",
                          .series = 0,
                          .line = {{kMinBits, std::exp2(-kMinBits)}, {kMaxBits, std::exp2(-kMaxBits)}},
                          .marks = {},
                          .is_bound = true});
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    const RateSeries& series = plot.series[i];
    if (series.predicted.empty()) continue;
    panel.curves.push_back({series.kind, i, series.predicted, {}, false, kWidestStepBits});
    for (const show::Point& point : series.measured) {
      if (point.y > 0) panel.curves.back().marks.push_back(point);
    }
  }
  const std::string subtitle = fmt::format("Lines: predicted. Marks: measured on {} keys with {} others.",
                                           with_thousands(plot.keys), with_thousands(plot.probes));
  return show::line_chart_svg("What a bit per key buys", subtitle, {panel});
}

}  // namespace tamis::cli
