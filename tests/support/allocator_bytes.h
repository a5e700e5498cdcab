// What the process has taken from glibc's allocator, and past it.
#pragma once

#include <malloc.h>

#include <cstddef>

#include "base/aligned_bytes.h"

namespace tamis::test {

/// Allocated and not yet freed, with what the allocator adds to each piece.
inline std::size_t allocator_bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd + AlignedBytes::mapped_bytes();
}

}  // namespace tamis::test
