// Memory for pieces of a few KiB, of which there are many and which are read at random: cached blocks.
#pragma once

#include <cstddef>

namespace tamis {

/// Hands out slots of equal size from chunks that lie on 2 MiB boundaries and ask for 2 MiB pages: a cache on small
/// pages costs a lookup a TLB miss for nearly every line it touches, which is a third of a hit's time with a million
/// keys. malloc's memory cannot be asked for such pages without deciding it for the whole program.
///
/// A chunk is four spans. A span holds slots of one size as long as one of them is in use, then it is free for any
/// size; a chunk without used spans goes back to the kernel, except for one, and except for those that lie within the
/// allowance: the kernel would clear them before they came again. The first chunks keep small pages, so that a program
/// with a small cache holds no more than it touches.
///
/// Threads: any number at once.
class SlotMemory {
 public:
  static constexpr std::size_t kLeastBytes = 1 << 10;
  static constexpr std::size_t kMostBytes = 9 << 10;
  static constexpr std::size_t kStepBytes = 64;  ///< Sizes are rounded up to multiples of it, and slots aligned to it.

  /// Null when the kernel has no memory. `size` must lie between the two.
  static std::byte* take(std::size_t size);
  /// What `take` returned for this size.
  static void give_back(std::byte* slot, std::size_t size);
  static constexpr std::size_t slot_bytes(std::size_t size) {
    return (size + kStepBytes - 1) / kStepBytes * kStepBytes;
  }
  /// What chunks take, with the slots that are free.
  static std::size_t chunk_bytes();
  /// What chunks take of which no slot is in use.
  static std::size_t free_bytes();
  /// Caches that may hold so many bytes have begun; or, with numbers exchanged, ended. All chunks together may stay
  /// within the sum, free or not: so a cache whose tables are replaced has the memory of the old ones for the new.
  static void change_allowance(std::size_t from_bytes, std::size_t to_bytes);
};

}  // namespace tamis
