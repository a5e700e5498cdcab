// Which start of the machine this is.
#pragma once

#include <cstdint>

namespace tamis {

/// A number that the machine draws when it is started; 0 if it is unknown. The clock of the machine's uptime goes on
/// while it is the same.
std::uint64_t boot_number();

}  // namespace tamis
