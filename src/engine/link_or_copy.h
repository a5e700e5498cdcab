// A second name for a file, or a second file where there are no names to be had.
#pragma once

#include <string>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// `to` must not exist. Where the file system has no links, or `to` is on another one, the bytes are copied and synced.
/// The folder is the caller's to sync.
Status link_or_copy(FileSystem& files, const std::string& from, const std::string& to);

}  // namespace tamis
