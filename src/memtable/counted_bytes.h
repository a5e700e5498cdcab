// Memory that is counted while it is held.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

#include "base/aligned_bytes.h"
#include "memtable/spare_memory.h"

namespace tamis {

/// The number of bytes currently held, and their source. For budgets only: nothing is ordered by it.
///
/// Threads: any.
class MemoryCount {
 public:
  /// Takes pieces from `spare` if available, and returns them there.
  explicit MemoryCount(std::size_t bytes = 0, std::shared_ptr<SpareMemory> spare = nullptr)
      : bytes_(bytes), spare_(std::move(spare)) {}

  void add(std::size_t bytes) { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void subtract(std::size_t bytes) { bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  operator std::size_t() const { return bytes_.load(std::memory_order_relaxed); }
  /// Null: all memory comes from the allocator.
  [[nodiscard]] SpareMemory* spare() const { return spare_.get(); }

 private:
  std::atomic<std::size_t> bytes_;
  const std::shared_ptr<SpareMemory> spare_;
};

/// Adds bytes to a count and subtracts them when destroyed.
///
/// Threads: like std::unique_ptr; the count is shared and outlives it.
class MemoryCharge {
 public:
  MemoryCharge() = default;
  MemoryCharge(MemoryCount& count, std::size_t bytes) : count_(&count), bytes_(bytes) { count_->add(bytes_); }
  MemoryCharge(MemoryCharge&& other) noexcept { swap(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    MemoryCharge(std::move(other)).swap(*this);
    return *this;
  }
  ~MemoryCharge() {
    if (count_ != nullptr) count_->subtract(bytes_);
  }

 private:
  void swap(MemoryCharge& other) noexcept {
    std::swap(count_, other.count_);
    std::swap(bytes_, other.bytes_);
  }

  MemoryCount* count_ = nullptr;
  std::size_t bytes_ = 0;
};

/// A buffer and its charge. Empty if memory was short.
///
/// Threads: like AlignedBytes.
class CountedBytes {
 public:
  CountedBytes() = default;
  CountedBytes(CountedBytes&& other) noexcept { swap(other); }
  CountedBytes& operator=(CountedBytes&& other) noexcept {
    CountedBytes(std::move(other)).swap(*this);
    return *this;
  }
  ~CountedBytes() {
    if (count_ == nullptr || empty()) return;
    count_->subtract(AlignedBytes::allocated_bytes(size()));
    if (count_->spare() != nullptr) count_->spare()->give(std::move(bytes_), is_zero_);
  }

  /// At least this many bytes, uninitialised.
  static CountedBytes unset(MemoryCount& count, std::size_t size) { return {count, size, false}; }
  /// Same, zeroed.
  static CountedBytes zeroed(MemoryCount& count, std::size_t size) { return {count, size, true}; }
  /// The buffer is no longer used. If it will be kept as a spare piece, it is zeroed now.
  void clear_for_reuse() {
    if (count_ == nullptr || count_->spare() == nullptr || size() < SpareMemory::kMinPiece) return;
    std::memset(data(), 0, size());
    is_zero_ = true;
  }

  [[nodiscard]] bool empty() const { return bytes_.size() == 0; }
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::byte* data() { return bytes_.data(); }
  [[nodiscard]] const std::byte* data() const { return bytes_.data(); }

 private:
  CountedBytes(MemoryCount& count, std::size_t size, bool is_zero) : count_(&count) {
    bytes_ = count.spare() != nullptr ? count.spare()->take(size, is_zero)
             : is_zero                ? AlignedBytes::zeroed(size)
                                      : AlignedBytes::unset(size);
    if (!empty()) count.add(AlignedBytes::allocated_bytes(this->size()));
  }
  void swap(CountedBytes& other) noexcept {
    std::swap(bytes_, other.bytes_);
    std::swap(count_, other.count_);
    std::swap(is_zero_, other.is_zero_);
  }

  AlignedBytes bytes_;
  MemoryCount* count_ = nullptr;
  bool is_zero_ = false;  // Since clear_for_reuse().
};

}  // namespace tamis
