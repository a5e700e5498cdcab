// Submits several reads to the kernel at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace tamis {

struct RingRead {
  int descriptor = -1;
  std::uint64_t offset = 0;
  MutableBytes to;
  std::size_t done = 0;  ///< Set: how many bytes were read, from the front.
};

/// Submits the reads to io_uring, as many at a time as it takes, and waits for all of them. Best effort: the caller
/// reads missing bytes itself and gets the error. Nothing is read without io_uring: in a build without liburing, if the
/// kernel forbids it, or without a descriptor for it.
///
/// Each thread has its own ring, created on first use.
///
/// Threads: any.
void read_by_ring(std::span<RingRead> reads);

}  // namespace tamis
