// A stretch of a file of the machine, mapped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Whether stores into a mapping of this file are as good as writes (rule 7): on ext4, XFS and tmpfs, where a page of
/// the page cache is the one place in which bytes stand between the store and the disk. XFS copies blocks that files
/// share (`cp --reflink`) when they are written; a store meets a full disk there by a fault.
bool may_map_for_writing(int descriptor);

/// Maps whole pages of the file, open as `descriptor`, and makes each ready to be stored to: present, with room on the
/// disk, dirty. What stands in the way of that is found here and returned. A page that cannot be stored to later on
/// raises SIGBUS, which FaultWatch turns into an error of copy_in; kNotSupported where it cannot.
Result<std::unique_ptr<FileWindow>> map_window(WritableFile& file, int descriptor, const std::string& path,
                                               std::uint64_t offset, std::uint64_t bytes);

}  // namespace tamis
