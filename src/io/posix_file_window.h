// A mapped range of a real file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Whether stores into a mapping of this file are as good as writes (rule 7): on ext4, XFS and tmpfs, where the page
/// cache is the only place for bytes between the store and the disk. XFS copies blocks that files share (`cp
/// --reflink`) when they are written; there, a store on a full disk faults.
bool may_map_for_writing(int descriptor);

/// Maps the pages around a range of the file, open as `descriptor`, and makes each ready for stores: present, with disk
/// space, dirty. The range lies inside the file and need not begin at a page: they are larger on some machines.
/// Problems with that are returned here. A page that fails later raises SIGBUS, which FaultWatch turns into an error of
/// copy_in; kNotSupported where it cannot.
Result<std::unique_ptr<FileWindow>> map_window(WritableFile& file, int descriptor, const std::string& path,
                                               std::uint64_t offset, std::uint64_t bytes);

}  // namespace tamis
