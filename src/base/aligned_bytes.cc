#include "base/aligned_bytes.h"

#include <sys/mman.h>

#include <algorithm>

namespace tamis {
namespace {

constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;

constexpr std::size_t boundary_for(std::size_t size) {
  return size >= 2 * kLargePageBytes ? kLargePageBytes : kCacheLineBytes;
}

std::byte* allocate(std::size_t size) {
  const std::size_t boundary = boundary_for(size);
  if (size > SIZE_MAX - boundary) return nullptr;
  const std::size_t rounded = AlignedBytes::allocated_bytes(size);
  void* memory = std::aligned_alloc(boundary, rounded);
  // Advice only: where the kernel declines, pages stay small and nothing else changes.
  if (memory != nullptr && boundary == kLargePageBytes) (void)::madvise(memory, rounded, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

std::size_t AlignedBytes::allocated_bytes(std::size_t size) {
  const std::size_t boundary = boundary_for(size);
  return (std::max<std::size_t>(size, 1) + boundary - 1) / boundary * boundary;
}

AlignedBytes AlignedBytes::unset(std::size_t size) {
  AlignedBytes bytes;
  bytes.data_.reset(allocate(size));
  if (bytes.data_ != nullptr) bytes.size_ = size;
  return bytes;
}

AlignedBytes AlignedBytes::zeroed(std::size_t size) {
  AlignedBytes bytes = unset(size);
  if (bytes.size() > 0) std::memset(bytes.data(), 0, bytes.size());
  return bytes;
}

AlignedBytes AlignedBytes::copy_of(Bytes source) {
  AlignedBytes bytes = unset(source.size());
  if (bytes.size() > 0) std::memcpy(bytes.data(), source.data(), bytes.size());
  return bytes;
}

}  // namespace tamis
