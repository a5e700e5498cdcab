// Several reads handed to the kernel at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace tamis {

/// One read of a descriptor.
struct RingRead {
  int descriptor = -1;
  std::uint64_t offset = 0;
  MutableBytes to;
  std::size_t done = 0;  ///< Set: how many bytes are there, from the front.
};

/// Hands the reads to io_uring, as many at a time as it takes, and waits for all of them. Promises nothing: the bytes
/// that are not there after it the caller reads himself, and learns why. None are where there is no io_uring: in a
/// build without liburing, where the kernel forbids it, when there is no descriptor for it.
///
/// The ring belongs to the thread, and is made when it first needs it.
///
/// Threads: any.
void read_by_ring(std::span<RingRead> reads);

}  // namespace tamis
