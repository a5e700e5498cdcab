#include "base/aligned_bytes.h"

#include <sys/mman.h>

#include <algorithm>

namespace tamis {
namespace {

constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;

std::byte* allocate(std::size_t size) {
  const bool large = size >= 2 * kLargePageBytes;
  const std::size_t alignment = large ? kLargePageBytes : kCacheLineBytes;
  if (size > SIZE_MAX - alignment) return nullptr;
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  // Advice only: where the kernel declines, pages stay small and nothing else changes.
  if (memory != nullptr && large) (void)::madvise(memory, rounded, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

AlignedBytes AlignedBytes::zeroed(std::size_t size) {
  AlignedBytes bytes;
  bytes.data_.reset(allocate(size));
  if (bytes.data_ == nullptr) return bytes;
  bytes.size_ = size;
  std::memset(bytes.data_.get(), 0, size);
  return bytes;
}

AlignedBytes AlignedBytes::copy_of(Bytes source) {
  AlignedBytes bytes;
  bytes.data_.reset(allocate(source.size()));
  if (bytes.data_ == nullptr) return bytes;
  bytes.size_ = source.size();
  if (!source.empty()) std::memcpy(bytes.data_.get(), source.data(), source.size());
  return bytes;
}

}  // namespace tamis
