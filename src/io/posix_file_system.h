// The operating system's files.
#pragma once

#include "io/file_system.h"

namespace tamis {

/// The machine's file system; a stateless singleton. Every descriptor is O_CLOEXEC.
FileSystem& posix_file_system();

/// Part of it: an open-file-description lock. It belongs to the open file, not the process, so a second opener in the
/// same process is refused as well, and closing another descriptor of the file does not release it.
Result<std::unique_ptr<FileLock>> lock_posix_file(const std::string& path, LockMode mode);

}  // namespace tamis
