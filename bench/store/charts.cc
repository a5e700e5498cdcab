#include "store/charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
#include <vector>

#include "show/chart.h"
#include "show/human_text.h"
#include "store/parts.h"

namespace tamis::bench {
namespace {

using Json = nlohmann::json;
using show::BarGroup;
using show::Curve;
using show::LinePanel;
using show::Point;

std::string subtitle(const Json& figures) {
  return fmt::format(
      "Up to {} entries, of 16 + 100 bytes unless said; bars: median of {} rounds, lines: lowest to highest",
      show::with_thousands(figures.at("entries")), figures.at("rounds").get<std::uint64_t>());
}

/// The contestants' bars for one row, in their order; empty if it was not measured.
BarGroup bars_of(const Json& figures, const RowInfo& row) {
  BarGroup group = {
      std::string(row.title), fmt::format("{}, {} is better", row.unit, row.more_is_better ? "more" : "less"), {}};
  const Json& engines = figures.at("engines");
  for (std::size_t i = 0; i < engines.size(); ++i) {
    for (const Json& cell : figures.at("rows")) {
      if (cell.at("workload") != row.name || cell.at("engine") != engines[i].at("engine")) continue;
      group.bars.push_back({engines[i].at("name"), cell.at("median"), cell.at("low"), cell.at("high"), i});
    }
  }
  return group;
}

/// By the name of each chart's file in a folder.
std::map<std::string, std::string> bar_charts(const Json& figures, bool is_one_file) {
  std::map<std::string, std::vector<BarGroup>> charts;
  for (const RowInfo& row : row_table()) {
    BarGroup bars = bars_of(figures, row);
    if (!bars.bars.empty()) charts[is_one_file ? "" : std::string(row.group)].push_back(std::move(bars));
  }
  std::map<std::string, std::string> documents;
  for (const auto& [name, groups] : charts) {
    const std::string title = name.empty() ? "Stores side by side" : "Stores side by side: " + name;
    documents[name] = show::bar_chart_svg(title, subtitle(figures), groups);
  }
  return documents;
}

struct Operation {
  const char* key;
  const char* name;
  double nanoseconds;  ///< One of the key's unit.
};

/// Measured at several points along one axis.
struct Axis {
  const char* part;    ///< In the figures.
  const char* key;     ///< The horizontal axis.
  const char* across;  ///< For people; {} stands for the entries in runs.
  const char* title;
  std::span<const Operation> operations;
};

constexpr auto kLoadOperations =
    std::to_array<Operation>({{"put_ns", "put", 1}, {"hit_ns", "get, hit", 1}, {"absent_ns", "get, absent", 1}});
constexpr auto kRunOperations = std::to_array<Operation>(
    {{"hit_ns", "get, hit", 1}, {"absent_ns", "get, absent", 1}, {"seek_100_us", "seek + 100", 1e3}});
constexpr auto kAxes = std::to_array<Axis>(
    {{"load", "entries", "entries in the store (logarithmic)", "As a store grows", kLoadOperations},
     {"runs", "runs", "sorted runs of the same {} entries (logarithmic)", "As runs become more", kRunOperations}});

/// Contestants, in the order of their figures.
std::vector<std::string> engines_of(const Json& points) {
  std::vector<std::string> engines;
  for (const Json& point : points) {
    const std::string engine = point.at("engine");
    if (std::ranges::find(engines, engine) == engines.end()) engines.push_back(engine);
  }
  return engines;
}

std::vector<Point> points_of(const Json& points, const Axis& axis, const std::string& engine,
                             const Operation& operation) {
  std::vector<Point> costs;
  for (const Json& point : points) {
    if (point.at("engine") != engine) continue;
    const double cost = point.at(operation.key).get<double>() * operation.nanoseconds;
    if (cost > 0) costs.push_back({point.at(axis.key), cost});
  }
  return costs;
}

/// Axes that hold all points.
void fit_axes(LinePanel& panel) {
  const Point first = panel.curves.front().line.front();
  Point low = first;
  Point high = first;
  for (const Curve& curve : panel.curves) {
    for (const Point& point : curve.line) {
      low = {std::min(low.x, point.x), std::min(low.y, point.y)};
      high = {std::max(high.x, point.x), std::max(high.y, point.y)};
    }
  }
  panel.x = show::logarithmic_axis(low.x, high.x);
  panel.y = show::logarithmic_axis(low.y, high.y);
}

/// A single contestant's operations share one panel; with several, each operation has its own.
std::vector<LinePanel> panels_of(const Json& points, const Axis& axis, std::uint64_t entries) {
  const std::vector<std::string> engines = engines_of(points);
  const std::string piled = show::with_thousands(std::min(entries, kMaxPiled));
  const std::string across = fmt::format(fmt::runtime(axis.across), piled);
  std::vector<LinePanel> panels;
  for (const Operation& operation : axis.operations) {
    for (const std::string& engine : engines) {
      const std::vector<Point> line = points_of(points, axis, engine, operation);
      if (line.empty()) continue;
      const bool is_alone = engines.size() == 1;
      const std::string title = fmt::format("{}: {} (ns, logarithmic; less is better)", axis.title,
                                            is_alone ? engine : std::string(operation.name));
      if (panels.empty() || panels.back().title != title) panels.push_back({title, across, {}, {}, {}});
      std::vector<Curve>& curves = panels.back().curves;
      curves.push_back({is_alone ? operation.name : engine, curves.size(), line, line});
    }
  }
  for (LinePanel& panel : panels) fit_axes(panel);
  return panels;
}

/// What operations cost as stores grow, as SVG documents by name: growth_load and growth_runs, or all in one without a
/// name.
std::map<std::string, std::string> growth_charts(const Json& figures, bool is_one_file) {
  std::map<std::string, std::vector<LinePanel>> charts;
  for (const Axis& axis : kAxes) {
    std::vector<LinePanel>& chart = charts[is_one_file ? "" : fmt::format("growth_{}", axis.part)];
    const Json& points = figures.at("growth").at(axis.part);
    for (LinePanel& panel : panels_of(points, axis, figures.at("entries"))) chart.push_back(std::move(panel));
  }
  const auto rounds = figures.at("rounds").get<std::uint64_t>();
  const std::string subtitle =
      fmt::format("Entries of 16 + 100 bytes; gets are medians of {} {}", rounds, rounds == 1 ? "round" : "rounds");
  std::map<std::string, std::string> documents;
  for (const auto& [name, panels] : charts) {
    if (!panels.empty()) documents[name] = show::line_chart_svg("What an operation costs", subtitle, panels);
  }
  return documents;
}

int write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (out.good()) return 0;
  fmt::print(stderr, "tamis: {}: cannot write\n", path);
  return 3;
}

}  // namespace

int write_charts(const nlohmann::json& figures, const std::string& path) {
  const bool is_one_file = path.ends_with(".svg");
  std::map<std::string, std::string> documents;
  try {
    documents = figures.contains("growth") ? growth_charts(figures, is_one_file) : bar_charts(figures, is_one_file);
  } catch (const Json::exception&) {
    fmt::print(stderr, "tamis: these are not the figures of a run of tamis-bench\n");
    return 3;
  }
  if (!is_one_file) {
    std::error_code ignored;  // If this fails, so does writing.
    std::filesystem::create_directories(path, ignored);
  }
  int status = 0;
  for (const auto& [name, svg] : documents) {
    status = std::max(status, write_text(is_one_file ? path : fmt::format("{}/{}.svg", path, name), svg));
  }
  return status;
}

}  // namespace tamis::bench
