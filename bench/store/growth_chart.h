// Charts of the cost of operations as stores grow.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace tamis::bench {

/// SVG documents by name: growth_load and growth_runs, or all in one without a name. May throw nlohmann's exceptions if
/// the figures are not those of a run with --growth.
std::map<std::string, std::string> growth_charts(const nlohmann::json& figures, bool is_one_file);

}  // namespace tamis::bench
