// The figures of a run as charts.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tamis::bench {

/// Draws what a run wrote as JSON: bars for its rows, curves for growth. Into one file when the path ends with .svg,
/// otherwise into a folder, one file for each group of rows, or for the load and the runs. The exit status of the
/// program: 0, or 3 when something could not be written, or read as such figures.
int write_charts(const nlohmann::json& figures, const std::string& path);

/// What operations cost as stores grow, as SVG documents by name: growth_load and growth_runs, or all in one without a
/// name. May throw nlohmann's exceptions when the figures are not those of a run with --growth.
std::map<std::string, std::string> growth_charts(const nlohmann::json& figures, bool is_one_file);

}  // namespace tamis::bench
