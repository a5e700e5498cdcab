#include "store/charts.h"

#include <fmt/core.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "store/bar_chart.h"

namespace tamis::bench {
namespace {

BarGroup bars_of(const Report& report, const RowInfo& row) {
  BarGroup group = {
      std::string(row.title), fmt::format("{}, {} is better", row.unit, row.more_is_better ? "more" : "less"), {}};
  for (std::size_t i = 0; i < report.engines().size(); ++i) {
    const EngineName& engine = report.engines()[i];
    if (const Samples* cell = report.samples(row.name, engine.id)) {
      group.bars.push_back({engine.name, cell->median(), cell->low(), cell->high(), i});
    }
  }
  return group;
}

int write_text(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  if (out.good()) return 0;
  fmt::print(stderr, "tamis: {}: cannot be written\n", path);
  return 3;
}

}  // namespace

int write_charts(const Report& report, const std::string& path, const std::string& subtitle) {
  std::vector<BarGroup> all;
  std::map<std::string, std::vector<BarGroup>> by_group;
  for (const RowInfo& row : row_table()) {
    BarGroup bars = bars_of(report, row);
    if (bars.bars.empty()) continue;
    all.push_back(bars);
    by_group[std::string(row.group)].push_back(std::move(bars));
  }
  if (path.ends_with(".svg")) return write_text(path, bar_chart_svg("Stores side by side", subtitle, all));
  std::error_code error;
  std::filesystem::create_directories(path, error);
  int status = 0;
  for (const auto& [name, groups] : by_group) {
    const std::string svg = bar_chart_svg("Stores side by side: " + name, subtitle, groups);
    status = std::max(status, write_text(fmt::format("{}/{}.svg", path, name), svg));
  }
  return status;
}

}  // namespace tamis::bench
