#include "store/charts.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "show/chart.h"
#include "show/human_text.h"
#include "store/rows.h"

namespace tamis::bench {
namespace {

using Json = nlohmann::json;
using show::BarGroup;

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
