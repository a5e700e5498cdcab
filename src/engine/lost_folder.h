// Where files go that a store does without and that may still be worth something to somebody.
#pragma once

#include <string>
#include <vector>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Gives each of these files of the folder a second name in its lost/, durably. What is there already stays: a file
/// with other bytes under the same name makes the new one "NAME.1", "NAME.2" and so on.
Status link_to_lost(FileSystem& files, const std::string& directory, const std::vector<std::string>& names);

}  // namespace tamis
