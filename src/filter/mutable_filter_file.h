// The file of a mutable filter over any file system, for tests with disks that crash.
#pragma once

#include <string>

#include "io/file_system.h"
#include "tamis/mutable_filter_file.h"

namespace tamis {

/// MutableFilterFile::open without the lock. `files` outlives the result.
Result<MutableFilterFile> open_mutable_filter_file(FileSystem& files, const std::string& path);

}  // namespace tamis
