// How many threads work for a store in the background.
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>

#include "tamis/options.h"

namespace tamis {

/// By default one per core. More than eight would compete with the program for cores and memory.
inline std::uint32_t background_threads_of(const Options& options) {
  if (options.background_threads != 0) return options.background_threads;
  return std::clamp(std::thread::hardware_concurrency(), 2U, 8U);
}

}  // namespace tamis
