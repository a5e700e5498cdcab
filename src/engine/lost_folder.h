// The folder lost/, for files that a store no longer needs but that may hold data.
#pragma once

#include <string>
#include <vector>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Durably links each of these files into lost/. Existing files stay: if one has the same name and other bytes, the new
/// one becomes "NAME.1", "NAME.2" and so on.
Status link_to_lost(FileSystem& files, const std::string& directory, const std::vector<std::string>& names);

}  // namespace tamis
