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
///  1. What is kept and what is in use are at most `most_bytes` together, or nothing is kept: memtables that readers
///     still hold, a third one, or one with a large value in it cost what is kept.
///  2. Pieces are kept as long as that allows: a memtable asks for the sizes that the one before it asked for, so
///  whoever
///     asks in vain does not cost others theirs.
///
/// Threads: any.
class SpareMemory {
 public:
  /// Smaller pieces are malloc's, which keeps them by itself.
  static constexpr std::size_t kSmallestPiece = std::size_t{256} << 10;

  explicit SpareMemory(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// A piece of this size or a little more, all zero if that is wanted, otherwise not set to anything; empty when the
  /// memory is not to be had.
  [[nodiscard]] AlignedBytes take(std::size_t size, bool is_zero) EXCLUDES(mutex_);
  /// A piece that was taken comes back: it is kept, or freed.
  void give(AlignedBytes piece, bool is_zero) EXCLUDES(mutex_);

  [[nodiscard]] std::size_t bytes() const EXCLUDES(mutex_);

 private:
  struct Piece {
    AlignedBytes memory;
    bool is_zero = false;
  };
  static constexpr std::size_t kMostPieces = 128;  // Two memtables have fewer.
  using Unneeded = std::array<AlignedBytes, kMostPieces>;

  AlignedBytes take_kept(std::size_t size, bool is_zero) REQUIRES(mutex_);
  void keep_less(Unneeded& unneeded) REQUIRES(mutex_);
  AlignedBytes remove(std::size_t at) REQUIRES(mutex_);

  const std::size_t most_bytes_;
  mutable Mutex mutex_;
  std::array<Piece, kMostPieces> pieces_ GUARDED_BY(mutex_);
  std::size_t count_ GUARDED_BY(mutex_) = 0;
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;   // What they take of memory.
  std::size_t in_use_ GUARDED_BY(mutex_) = 0;  // What those take that are out.
};

}  // namespace tamis
