#include "engine/fork_generation.h"

#include <pthread.h>

namespace tamis {

std::atomic<std::uint64_t> known_fork_generation = 0;

std::uint64_t fork_generation() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { known_fork_generation.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
  return known_fork_generation.load(std::memory_order_relaxed);
}

}  // namespace tamis
