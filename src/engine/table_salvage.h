// Getting out of a damaged table what can still be read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "entry/entry.h"
#include "io/file_system.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

/// Calls `take` for every entry of every data block whose checksum holds, in the table's order. With an index, block by
/// block; without one, each block is looked for where the one before it ended and, after damage, wherever a trailer
/// fits the bytes before it. What could not be read is added to `lost`: nothing, when all blocks are there and only
/// what serves to find them is damaged. Fails only where `take` fails, the file cannot be opened, or
/// what is wrong is no damage (is_damage).
Status salvage_entries(FileSystem& files, const std::string& path, std::uint64_t table_number,
                       const std::function<Status(const Entry&)>& take, std::vector<Problem>& lost);

}  // namespace tamis
