// The operating system's files.
#pragma once

#include "io/file_system.h"

namespace tamis {

/// The file system of the machine; there is one, and it has no state of its own. Every descriptor is O_CLOEXEC.
FileSystem& posix_file_system();

/// Part of it: an open-file-description lock, which belongs to the open file and not to the process, so that a
/// second opener in the same process is refused as well, and closing another descriptor of the file does not let go.
Result<std::unique_ptr<FileLock>> lock_posix_file(const std::string& path, LockMode mode);

}  // namespace tamis
