// The report as charts.
#pragma once

#include <string>

#include "store/report.h"

namespace tamis::bench {

/// Into one file when the path ends with .svg, otherwise into a folder, one file for each group of rows. The exit
/// status of the program: 0, or 3 when something could not be written.
int write_charts(const Report& report, const std::string& path, const std::string& subtitle);

}  // namespace tamis::bench
