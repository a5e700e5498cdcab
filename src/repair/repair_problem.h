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

/// Whether a file that answers this is damaged: its bytes are wrong, or the disk does not give them. Anything else, as
/// a lack of descriptors or memory or a newer version, says nothing of the file, and a repair ends with it.
bool is_damage(const Status& status);

}  // namespace tamis
