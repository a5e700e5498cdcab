// tamis filter plot: a chart of measured and predicted rates.
#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/command_line.h"
#include "cli/error.h"
#include "cli/files.h"
#include "cli/filter/rate_plot.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/verbs.h"
#include "tamis/filter.h"

namespace tamis::cli {
namespace {

std::string points_as_json(const RateSeries& series, const std::vector<show::Point>& points,
                           std::string_view rate_name) {
  std::string lines;
  for (const show::Point& point : points) {
    lines += JsonObject()
                 .add("kind", series.kind)
                 .add("bits_per_key", point.x)
                 .add(rate_name, point.y)
                 .add("fpr_bound", std::exp2(-point.x))
                 .text() +
             "\n";
  }
  return lines;
}

std::string describe(const RatePlot& plot, const std::string& output, bool json) {
  std::string text;
  std::size_t marks = 0;
  for (const RateSeries& series : plot.series) {
    marks += series.measured.size();
    if (!json) continue;
    text += points_as_json(series, series.predicted, "fpr_predicted");
    text += points_as_json(series, series.measured, "fpr_measured");
  }
  return json ? text : fmt::format("{}: {} kinds, {} measured filters\n", output, plot.series.size(), marks);
}

}  // namespace

int run_filter_plot(Arguments arguments) {
  std::vector<std::string> kinds;
  std::string output;
  CommandLine line({.name = "filter plot",
                    .summary =
                        "Measures filters of 4 to 20 bits per key and plots their false-positive rates, measured and "
                        "predicted, against the theoretical minimum, as SVG. Takes a few seconds.",
                    .usage = "[--kind K...] -o FILE.svg",
                    .example = "  tamis filter plot --kind line ribbon -o rates.svg",
                    .common = kJson | kQuiet | kNoProgress});
  line.list("--kind", "K", "only these kinds; default: all", kinds);
  line.option("-o,--output", "FILE", "the SVG to write, or - for standard output", output);
  if (!line.read(arguments)) return kExitOk;
  line.need_all({"--output"});
  for (const std::string& kind : kinds) need(filter_size(kind, 1, {}));
  if (kinds.empty()) {
    for (const FilterKindInfo& info : filter_kinds()) kinds.emplace_back(info.name);
  }

  const RatePlot plot = measure_rates(kinds, line.common());
  write_whole(output, rate_plot_svg(plot));
  if (output != "-" && !line.common().quiet) standard_output().write(describe(plot, output, line.common().json));
  return kExitOk;
}

}  // namespace tamis::cli
