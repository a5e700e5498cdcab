// Links a file, or copies it where it cannot be linked.
#pragma once

#include <string>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// `to` must not exist. If the file system has no links, or `to` is on another one, the bytes are copied and synced.
/// The caller syncs the folder. `held` is the open file: its bytes are copied even if `from` does not exist any more.
Status link_or_copy(FileSystem& files, const std::string& from, const std::string& to,
                    const ReadableFile* held = nullptr);

}  // namespace tamis
