#include "memtable/spare_memory.h"

#include <utility>

namespace tamis {

AlignedBytes SpareMemory::take(std::size_t size, bool is_zero) {
  if (size < kSmallestPiece) return {};
  std::array<AlignedBytes, kMostPieces> makes_room;  // Unmapped after the mutex is free again.
  std::size_t unmapped = 0;
  MutexLock lock(mutex_);
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t has = pieces_[i].memory.size();
    if (pieces_[i].is_zero == is_zero && has >= size && has - size <= size / 4) return remove(i);
  }
  for (std::size_t freed = 0; freed < size && count_ > 0; ++unmapped) {
    makes_room[unmapped] = remove(count_ - 1);
    freed += makes_room[unmapped].size();
  }
  return {};
}

void SpareMemory::give(AlignedBytes piece, bool is_zero) {
  const std::size_t more = AlignedBytes::allocated_bytes(piece.size());
  if (piece.size() < kSmallestPiece) return;
  MutexLock lock(mutex_);
  if (count_ == kMostPieces || bytes_ + more > most_bytes_) return;
  pieces_[count_++] = {std::move(piece), is_zero};
  bytes_ += more;
}

AlignedBytes SpareMemory::remove(std::size_t at) {
  AlignedBytes memory = std::move(pieces_[at].memory);
  bytes_ -= AlignedBytes::allocated_bytes(memory.size());
  pieces_[at] = std::move(pieces_[--count_]);
  return memory;
}

std::size_t SpareMemory::bytes() const {
  MutexLock lock(mutex_);
  return bytes_;
}

}  // namespace tamis
