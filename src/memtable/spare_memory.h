// Memory of destroyed memtables, for reuse by new ones.
#pragma once

#include <array>
#include <cstddef>

#include "base/aligned_bytes.h"
#include "base/sync.h"

namespace tamis {

/// Keeps large pieces that were returned, for reuse. A memtable takes as much as the previous one, and its inserts
/// would wait for fresh pages: the kernel clears each first, and a hypervisor fetches it from the host. Unmapping a
/// whole memtable would also block everyone who maps memory meanwhile.
///
/// Invariants:
///  1. Kept and used pieces together take at most `most_bytes`, or nothing is kept: memtables still held by readers, a
///     third one, or one with a large value reduce what is kept.
///  2. Pieces are kept as long as that allows: a memtable requests the same sizes as the previous one, so an
///     unsuccessful request does not evict pieces that others need.
///
/// Threads: any.
class SpareMemory {
 public:
  /// malloc serves smaller pieces, and keeps them itself.
  static constexpr std::size_t kMinPiece = std::size_t{256} << 10;

  explicit SpareMemory(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  /// A piece of this size or slightly more, zeroed if requested, otherwise uninitialised; empty if memory is short.
  [[nodiscard]] AlignedBytes take(std::size_t size, bool is_zero) EXCLUDES(mutex_);
  /// Returns a piece, which is kept or freed.
  void give(AlignedBytes piece, bool is_zero) EXCLUDES(mutex_);

  [[nodiscard]] std::size_t bytes() const EXCLUDES(mutex_);

 private:
  struct Piece {
    AlignedBytes memory;
    bool is_zero = false;
  };
  static constexpr std::size_t kMaxPieces = 128;  // Two memtables have fewer.
  using Unneeded = std::array<AlignedBytes, kMaxPieces>;

  AlignedBytes take_kept(std::size_t size, bool is_zero) REQUIRES(mutex_);
  void keep_less(Unneeded& unneeded) REQUIRES(mutex_);
  AlignedBytes remove(std::size_t at) REQUIRES(mutex_);

  const std::size_t most_bytes_;
  mutable Mutex mutex_;
  std::array<Piece, kMaxPieces> pieces_ GUARDED_BY(mutex_);
  std::size_t count_ GUARDED_BY(mutex_) = 0;
  std::size_t bytes_ GUARDED_BY(mutex_) = 0;   // The memory they take.
  std::size_t in_use_ GUARDED_BY(mutex_) = 0;  // The memory of pieces in use.
};

}  // namespace tamis
