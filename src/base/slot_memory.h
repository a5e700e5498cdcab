// Memory for many randomly read pieces of a few KiB: cached blocks.
#pragma once

#include <cstddef>

namespace tamis {

/// Hands out slots of equal size from chunks that are aligned to 2 MiB and ask for 2 MiB pages. With small pages, a
/// lookup in the cache has a TLB miss for nearly every line it touches, a third of a hit's time with a million keys.
/// malloc cannot be asked for such pages without deciding for the whole program.
///
/// A chunk is four spans. A span holds slots of one size while one of them is in use; then it is free for any size. A
/// chunk without used spans is unmapped, except one, and except those within the allowance, because the kernel would
/// clear them before reuse. The first chunks keep small pages, so that a program with a small cache holds only what it
/// touches.
///
/// Each thread uses one of 16 stocks of free slots. A stock takes eight slots at once, and returns all when it has more
/// than 256 KiB: so two threads seldom wait for each other.
///
/// Threads: any.
class SlotMemory {
 public:
  static constexpr std::size_t kMinBytes = 1 << 10;
  static constexpr std::size_t kMaxBytes = 9 << 10;
  static constexpr std::size_t kStepBytes = 64;  ///< Sizes are rounded up to a multiple of it; slots are aligned to it.

  /// Null if the kernel has no memory. `size` must be within these limits.
  static std::byte* take(std::size_t size);
  /// `slot` is what `take` returned for this size.
  static void give_back(std::byte* slot, std::size_t size);
  static constexpr std::size_t slot_bytes(std::size_t size) {
    return (size + kStepBytes - 1) / kStepBytes * kStepBytes;
  }
  /// Memory of all chunks, including free slots. Empties the stocks first, so that they keep none. For tests.
  static std::size_t chunk_bytes();
  /// Memory of chunks without used slots.
  static std::size_t free_bytes();
  /// Changes a cache's share of the allowance; 0: no cache. Chunks stay mapped up to the allowance, used or not, so a
  /// cache whose tables are replaced reuses their memory.
  static void change_allowance(std::size_t from_bytes, std::size_t to_bytes);
};

}  // namespace tamis
