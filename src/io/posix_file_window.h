// A stretch of a file of the machine, mapped.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "io/file_system.h"
#include "tamis/status.h"

namespace tamis {

/// Whether stores into a mapping of this file are as good as writes (rule 7): on ext4, xfs and tmpfs, where a page of
/// the page cache is the one place in which bytes stand between the store and the disk, and never moves.
bool may_map_for_writing(int descriptor);

/// Maps whole pages of the file, and makes each ready to be stored to: present, with room on the disk, dirty. What
/// stands in the way of that, no space as well as an error of the disk, is found here and returned; a store into the
/// window would learn of it by a signal.
Result<std::unique_ptr<FileWindow>> map_window(int descriptor, const std::string& path, std::uint64_t offset,
                                               std::uint64_t bytes);

}  // namespace tamis
