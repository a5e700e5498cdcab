// How what went wrong with a file is told in a report.
#pragma once

#include <string>
#include <string_view>

#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

std::string file_name_of(std::string_view path);

/// The status's message without what the report says beside it: the path, and the offset, which is taken from the
/// message where it has one.
Problem problem_of(const std::string& path, std::uint64_t offset, const Status& status);

}  // namespace tamis
