#include <fmt/core.h>
#include <unistd.h>

#include <cstdlib>

#include "store/contestant.h"

namespace tamis::bench {

void stop(const std::string& why) {
  if (::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "\r\033[K");  // Erases the progress.
  fmt::print(stderr, "tamis: {}\n", why);
  std::_Exit(3);  // Stores may be open and their threads running: skip destructors.
}

}  // namespace tamis::bench
