// Turns a file's error into a problem of the report.
#pragma once

#include <string>
#include <string_view>

#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

std::string file_name_of(std::string_view path);

/// Strips from the message what the report shows separately: the path, and the offset if it has one.
Problem problem_of(const std::string& path, std::uint64_t offset, const Status& status);

/// Whether the status means that the file is damaged: its bytes are wrong, or the disk does not return them. Any other
/// error, such as a lack of memory or a newer version, says nothing about the file and ends a repair.
bool is_damage(const Status& status);

}  // namespace tamis
