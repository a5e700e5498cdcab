// Which process this is.
#pragma once

#include <cstdint>

namespace tamis {

std::uint64_t own_process_id();

}  // namespace tamis
