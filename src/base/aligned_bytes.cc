#include "base/aligned_bytes.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace tamis {
namespace {

constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;
constexpr std::size_t kPageBytes = 4096;
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kLeastMappedBytes = SIZE_MAX;  // AddressSanitizer sees the ends of malloc's pieces only.
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
constexpr std::size_t kLeastMappedBytes = SIZE_MAX;
#else
constexpr std::size_t kLeastMappedBytes = std::size_t{256} << 10;
#endif
#else
constexpr std::size_t kLeastMappedBytes = std::size_t{256} << 10;
#endif

std::atomic<std::size_t> mapped = 0;

constexpr std::size_t boundary_for(std::size_t size) {
  if (size >= 2 * kLargePageBytes) return kLargePageBytes;
  return size >= kLeastMappedBytes ? kPageBytes : kCacheLineBytes;
}

/// Maps more than is needed where the boundary is wider than a page, and gives the ends back.
void* map(std::size_t rounded, std::size_t boundary) {
  const std::size_t extra = boundary - kPageBytes;
  void* begin = ::mmap(nullptr, rounded + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  mapped.fetch_add(rounded, std::memory_order_relaxed);
  const std::size_t before = (boundary - reinterpret_cast<std::uintptr_t>(begin) % boundary) % boundary;
  std::byte* memory = static_cast<std::byte*>(begin) + before;
  if (before > 0) (void)::munmap(begin, before);
  if (extra > before) (void)::munmap(memory + rounded, extra - before);
  return memory;
}

/// From malloc, not from aligned_alloc: glibc before 2.38 asks for more than it uses, gives the ends back, and does not
/// find the piece again when it is freed, so that memory grows with every buffer that comes and goes. Where malloc's
/// piece begins stands in front of the buffer.
std::byte* allocate_small(std::size_t rounded) {
  void* const piece = std::malloc(rounded + kCacheLineBytes);
  if (piece == nullptr) return nullptr;
  const std::size_t before = kCacheLineBytes - reinterpret_cast<std::uintptr_t>(piece) % kCacheLineBytes;
  std::byte* const memory = static_cast<std::byte*>(piece) + before;
  std::memcpy(memory - sizeof piece, &piece, sizeof piece);
  return memory;
}

void free_small(std::byte* memory) {
  void* piece = nullptr;
  std::memcpy(&piece, memory - sizeof piece, sizeof piece);
  std::free(piece);
}

std::byte* allocate(std::size_t size) {
  const std::size_t boundary = boundary_for(size);
  if (size > SIZE_MAX - 2 * boundary) return nullptr;
  const std::size_t rounded = AlignedBytes::allocated_bytes(size);
  if (size < kLeastMappedBytes) return allocate_small(rounded);
  void* memory = map(rounded, boundary);
  // Advice only: where the kernel declines, pages stay small and nothing else changes.
  if (memory != nullptr && boundary == kLargePageBytes) (void)::madvise(memory, rounded, MADV_HUGEPAGE);
  return static_cast<std::byte*>(memory);
}

}  // namespace

void AlignedBytes::release(std::byte* memory, std::size_t size) {
  if (size < kLeastMappedBytes) return free_small(memory);
  const std::size_t rounded = allocated_bytes(size);
  (void)::munmap(memory, rounded);
  mapped.fetch_sub(rounded, std::memory_order_relaxed);
}

std::size_t AlignedBytes::allocated_bytes(std::size_t size) {
  const std::size_t boundary = boundary_for(size);
  return (std::max<std::size_t>(size, 1) + boundary - 1) / boundary * boundary;
}

std::size_t AlignedBytes::mapped_bytes() { return mapped.load(std::memory_order_relaxed); }

AlignedBytes AlignedBytes::unset(std::size_t size) {
  AlignedBytes bytes;
  bytes.data_ = allocate(size);
  if (bytes.data_ != nullptr) bytes.size_ = size;
  return bytes;
}

AlignedBytes AlignedBytes::zeroed(std::size_t size) {
  AlignedBytes bytes = unset(size);
  if (size >= kLeastMappedBytes) return bytes;  // The kernel's pages are zero.
  if (bytes.size() > 0) std::memset(bytes.data(), 0, bytes.size());
  return bytes;
}

AlignedBytes AlignedBytes::copy_of(Bytes source) {
  AlignedBytes bytes = unset(source.size());
  if (bytes.size() > 0) std::memcpy(bytes.data(), source.data(), bytes.size());
  return bytes;
}

}  // namespace tamis
