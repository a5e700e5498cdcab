// Memory for filters and memtables: cache-line aligned, on huge pages if large.
#pragma once

#include <cstddef>
#include <utility>

#include "base/bytes.h"

namespace tamis {

inline constexpr std::size_t kCacheLineBytes = 64;

/// An owned byte buffer of fixed size, 64-byte aligned. From 256 KiB on it is mapped from the kernel and unmapped when
/// freed: malloc would keep it, and a store whose memtables come and go would grow to twice its budget. From 4 MiB on
/// it is aligned to 2 MiB and asks for 2 MiB pages, which saves a TLB miss per random access. Block-sized buffers come
/// from SlotMemory, for the same reason.
///
/// Threads: as std::vector.
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
  /// All zero. Empty (size 0) if allocation fails; callers with untrusted sizes check for that.
  static AlignedBytes zeroed(std::size_t size);
  /// The same, uninitialised; its pages are not touched.
  static AlignedBytes unset(std::size_t size);
  static AlignedBytes copy_of(Bytes bytes);
  /// The memory a buffer of this size takes: rounded up to its alignment.
  static std::size_t allocated_bytes(std::size_t size);
  /// The memory all live buffers of this process have taken outside malloc.
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
