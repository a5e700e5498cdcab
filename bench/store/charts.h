// Charts of a run's figures.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tamis::bench {

/// Draws the JSON of a run: bars for its rows, curves for growth. Into one file if the path ends with .svg, otherwise
/// into a folder, one file per group of rows, or for the load and the runs. Returns the program's exit status: 0, or 3
/// if something could not be written or is not such figures.
int write_charts(const nlohmann::json& figures, const std::string& path);

}  // namespace tamis::bench
