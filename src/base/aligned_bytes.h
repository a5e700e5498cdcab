// Memory for filters and memtables: on cache-line boundaries, on large pages when it is large.
#pragma once

#include <cstddef>
#include <utility>

#include "base/bytes.h"

namespace tamis {

inline constexpr std::size_t kCacheLineBytes = 64;

/// An owned byte buffer of fixed size, 64-byte aligned. From 256 KiB on it comes from the kernel and goes back to it:
/// malloc would keep it, and a store whose memtables come and go would grow to twice its budget. From 4 MiB on it
/// lies on 2 MiB boundaries and asks for 2 MiB pages, which saves a TLB miss per random access; a block's size comes
/// from SlotMemory, for the same reason.
///
/// Threads: as a std::vector.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  AlignedBytes(AlignedBytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedBytes& operator=(AlignedBytes&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedBytes() {
    if (data_ != nullptr) release(data_, size_);
  }
  /// All zero. Empty (size 0) when the memory is not to be had; callers that size by outside numbers check for that.
  static AlignedBytes zeroed(std::size_t size);
  /// The same with bytes that were not set to anything, and whose pages are not touched.
  static AlignedBytes unset(std::size_t size);
  static AlignedBytes copy_of(Bytes bytes);
  /// What a buffer of this size takes: the next multiple of the boundary it lies on.
  static std::size_t allocated_bytes(std::size_t size);
  /// What all buffers of this process that are alive have taken from others than malloc.
  static std::size_t mapped_bytes();

  [[nodiscard]] std::byte* data() { return data_; }
  [[nodiscard]] const std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Bytes span() const { return {data_, size_}; }
  [[nodiscard]] MutableBytes span() { return {data_, size_}; }

 private:
  static void release(std::byte* memory, std::size_t size);

  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace tamis
