#include "memtable/spare_memory.h"

#include <bit>
#include <utility>

namespace tamis {
namespace {

AlignedBytes fresh(std::size_t size, bool is_zero) {
  return is_zero ? AlignedBytes::zeroed(size) : AlignedBytes::unset(size);
}

/// Rounds up by less than an eighth, so that similar requests get equal sizes.
std::size_t rounded(std::size_t size) {
  const std::size_t step = std::bit_floor(size) / 8;
  return (size + step - 1) / step * step;
}

}  // namespace

AlignedBytes SpareMemory::take(std::size_t size, bool is_zero) {
  if (size < kMinPiece) return fresh(size, is_zero);
  size = rounded(size);
  {
    Unneeded unneeded;  // Unmapped after the mutex is released.
    MutexLock lock(mutex_);
    AlignedBytes piece = take_kept(size, is_zero);
    in_use_ += AlignedBytes::allocated_bytes(piece.size() == 0 ? size : piece.size());
    if (piece.size() != 0) return piece;
    keep_less(unneeded);
  }
  AlignedBytes piece = fresh(size, is_zero);
  if (piece.size() == 0) {
    MutexLock lock(mutex_);
    in_use_ -= AlignedBytes::allocated_bytes(size);
  }
  return piece;
}

void SpareMemory::give(AlignedBytes piece, bool is_zero) {
  if (piece.size() < kMinPiece) return;
  const std::size_t more = AlignedBytes::allocated_bytes(piece.size());
  MutexLock lock(mutex_);
  in_use_ -= more;
  if (count_ == kMaxPieces || in_use_ + bytes_ + more > most_bytes_) return;
  pieces_[count_++] = {std::move(piece), is_zero};
  bytes_ += more;
}

AlignedBytes SpareMemory::take_kept(std::size_t size, bool is_zero) {
  for (std::size_t i = 0; i < count_; ++i) {
    const std::size_t has = pieces_[i].memory.size();
    if (pieces_[i].is_zero == is_zero && has >= size && has - size <= size / 4) return remove(i);
  }
  return {};
}

/// Releases pieces until the rest fits.
void SpareMemory::keep_less(Unneeded& unneeded) {
  for (std::size_t i = 0; count_ > 0 && in_use_ + bytes_ > most_bytes_; ++i) unneeded[i] = remove(count_ - 1);
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
