// What the process has allocated from glibc's allocator, and outside it.
#pragma once

#include <malloc.h>

#include <cstddef>

#include "base/aligned_bytes.h"

namespace tamis::test {

/// Allocated and not yet freed, including the allocator's overhead.
inline std::size_t allocator_bytes_in_use() {
  const struct mallinfo2 info = ::mallinfo2();
  return info.uordblks + info.hblkhd + AlignedBytes::mapped_bytes();
}

}  // namespace tamis::test
