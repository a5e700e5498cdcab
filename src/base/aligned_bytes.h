// Memory for filters and memtables: on cache-line boundaries, on large pages when it is large.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "base/bytes.h"

namespace tamis {

inline constexpr std::size_t kCacheLineBytes = 64;

/// An owned byte buffer of fixed size, 64-byte aligned. From 256 KiB on it comes from the kernel and goes back to it:
/// malloc would keep it, and a store whose memtables come and go would grow to twice its budget. From 4 MiB on it
/// lies on 2 MiB boundaries and asks for 2 MiB pages, which saves a TLB miss per random access.
///
/// Threads: as a std::vector.
class AlignedBytes {
 public:
  AlignedBytes() = default;
  /// All zero. Empty (size 0) when the memory is not to be had; callers that size by outside numbers check for that.
  static AlignedBytes zeroed(std::size_t size);
  /// The same with bytes that were not set to anything, and whose pages are not touched.
  static AlignedBytes unset(std::size_t size);
  static AlignedBytes copy_of(Bytes bytes);
  /// What a buffer of this size takes: the next multiple of the boundary it lies on.
  static std::size_t allocated_bytes(std::size_t size);
  /// What all buffers of this process that are alive have taken from the kernel.
  static std::size_t mapped_bytes();

  [[nodiscard]] std::byte* data() { return data_.get(); }
  [[nodiscard]] const std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] Bytes span() const { return {data_.get(), size_}; }
  [[nodiscard]] MutableBytes span() { return {data_.get(), size_}; }

 private:
  struct Free {
    Free() : size(0) {}
    explicit Free(std::size_t bytes) : size(bytes) {}
    void operator()(std::byte* memory) const;
    std::size_t size;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t size_ = 0;
};

}  // namespace tamis
