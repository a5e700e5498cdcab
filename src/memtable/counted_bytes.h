// Memory that is counted as long as it is held.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "base/aligned_bytes.h"

namespace tamis {

/// How many bytes somebody holds at the moment. A figure for budgets: nothing is ordered by it.
using MemoryCount = std::atomic<std::size_t>;

/// Adds a number of bytes to a count and takes them off again at its end.
///
/// Threads: as a std::unique_ptr; the count is shared and outlives it.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryCount& count, std::size_t bytes) : count_(&count), bytes_(bytes) {
    count_->fetch_add(bytes_, std::memory_order_relaxed);
  }
  MemoryCharge(MemoryCharge&& other) noexcept { swap(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    MemoryCharge(std::move(other)).swap(*this);
    return *this;
  }
  ~MemoryCharge() {
    if (count_ != nullptr) count_->fetch_sub(bytes_, std::memory_order_relaxed);
  }

 private:
  void swap(MemoryCharge& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(bytes_, other.bytes_);
  }

  MemoryCount* count_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A buffer and its charge. Empty when the memory was not to be had.
///
/// Threads: as AlignedBytes.
class CountedBytes {
 public:
  CountedBytes() = default;
  CountedBytes(MemoryCount& count, AlignedBytes bytes)
      : bytes_(std::move(bytes)), charge_(count, empty() ? 0 : AlignedBytes::allocated_bytes(bytes_.size())) {}

  [[nodiscard]] bool empty() const { return bytes_.size() == 0; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

 private:
  AlignedBytes bytes_;
  MemoryCharge charge_;
};

}  // namespace tamis
