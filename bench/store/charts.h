// The figures of a run as charts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tamis::bench {

/// Draws what a run wrote as JSON: bars for its rows, curves for growth. Into one file when the path ends with .svg,
/// otherwise into a folder, one file for each group of rows, or for the load and the runs. The exit status of the
/// program: 0, or 3 when something could not be written, or read as such figures.
int write_charts(const nlohmann::json& figures, const std::string& path);

}  // namespace tamis::bench
