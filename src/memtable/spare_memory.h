// Memory of memtables that are gone, for those that come.
#pragma once

#include <array>
#include <cstddef>

#include "base/aligned_bytes.h"
#include "base/sync.h"

namespace tamis {

/// Large pieces that were given back, kept for whoever asks next. A memtable takes as much as the one before it, and
/// pages fresh from the kernel are what its inserts would wait for: each is cleared first, under a hypervisor fetched
/// from the host, and giving a whole memtable back holds up everybody who maps something meanwhile.
///
/// Invariants:
///  1. It keeps at most `most_bytes`.
///  2. Whoever asks in vain makes room: as much is given back to the kernel as is about to be taken from it. So what is
///     kept and what is in use together grow no larger than what was in use at once, plus most_bytes.
///
/// Threads: any.
class SpareMemory {
 public:
  /// Smaller pieces are malloc's, which keeps them by itself.
  static constexpr std::size_t kSmallestPiece = std::size_t{256} << 10;

  explicit SpareMemory(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// A piece of this size or a little more, all zero if that is wanted; empty when there is none.
  [[nodiscard]] AlignedBytes take(std::size_t size, bool is_zero) EXCLUDES(mutex_);
  /// The piece is kept, or freed.
  void give(AlignedBytes piece, bool is_zero) EXCLUDES(mutex_);

  [[nodiscard]] std::size_t bytes() const EXCLUDES(mutex_);

 private:
  struct Piece {
    AlignedBytes memory;
    bool is_zero = false;
  };
  static constexpr std::size_t kMostPieces = 64;  // A memtable has fewer.

  AlignedBytes remove(std::size_t at) REQUIRES(mutex_);

  const std::size_t most_bytes_;
  mutable Mutex mutex_;
  std::array<Piece, kMostPieces> pieces_ GUARDED_BY(mutex_);
  std::size_t count_ GUARDED_BY(mutex_) = 0;
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;  // What they take of memory.
};

}  // namespace tamis
