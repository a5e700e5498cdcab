// The plot of false-positive rates against bits per key: measuring and drawing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "show/line_chart.h"

namespace tamis::cli {

/// One kind: its predicted line and its measured marks. x is bits per key, y the rate.
struct RateSeries {
  std::string kind;
  std::vector<show::Point> predicted;
  std::vector<show::Point> measured;
};

/// The data of a plot.
struct RatePlot {
  std::uint64_t keys = 0;
  std::uint64_t probes = 0;
  std::vector<RateSeries> series;
};

/// Builds and measures a filter of each of these kinds for 4, 5, … 20 bits per key. Takes seconds.
RatePlot measure_rates(const std::vector<std::string>& kinds, const CommonOptions& options);

/// A self-contained SVG document that follows the reader's light or dark theme.
std::string rate_plot_svg(const RatePlot& plot);

}  // namespace tamis::cli
