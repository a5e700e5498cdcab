#include "io/process_id.h"

#include <unistd.h>

namespace tamis {

std::uint64_t own_process_id() { return static_cast<std::uint64_t>(::getpid()); }

}  // namespace tamis
