#include "base/aligned_bytes.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/mapped_memory.h"
#include "base/sanitizer.h"
#include "base/slot_memory.h"

namespace tamis {
namespace {

constexpr std::size_t kMinMappedBytes = kWatchesMemory ? SIZE_MAX : std::size_t{256} << 10;

std::atomic<std::size_t> taken = 0;  // Not from malloc.

constexpr std::size_t boundary_for(std::size_t size) {
  if (size >= 2 * kLargePageBytes) return kLargePageBytes;
  return size >= kMinMappedBytes ? kPageBytes : kCacheLineBytes;
}

constexpr bool is_slot(std::size_t size) {
  return !kWatchesMemory && size >= SlotMemory::kMinBytes && size <= SlotMemory::kMaxBytes;
}

/// Uses malloc, not aligned_alloc: before 2.38, glibc's aligned_alloc requests more than it uses, frees the ends, and
/// does not reuse the piece once it is freed, so memory grows with every buffer. The start of malloc's piece is stored
/// in front of the buffer.
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

std::byte* map(std::size_t rounded, std::size_t boundary) {
  std::byte* const memory = map_memory(rounded, boundary);
  if (memory != nullptr && boundary == kLargePageBytes) ask_for_large_pages(memory, rounded);
  return memory;
}

std::byte* allocate(std::size_t size) {
  const std::size_t boundary = boundary_for(size);
  if (size > SIZE_MAX - 2 * boundary) return nullptr;
  const std::size_t rounded = AlignedBytes::allocated_bytes(size);
  const bool is_small = !is_slot(size) && size < kMinMappedBytes;
  if (is_small) return allocate_small(rounded);
  std::byte* const memory = is_slot(size) ? SlotMemory::take(size) : map(rounded, boundary);
  if (memory != nullptr) taken.fetch_add(rounded, std::memory_order_relaxed);
  return memory;
}

}  // namespace

void AlignedBytes::release(std::byte* memory, std::size_t size) {
  const std::size_t rounded = allocated_bytes(size);
  if (is_slot(size)) {
    SlotMemory::give_back(memory, size);
  } else if (size < kMinMappedBytes) {
    return free_small(memory);
  } else {
    unmap_memory(memory, rounded);
  }
  taken.fetch_sub(rounded, std::memory_order_relaxed);
}

std::size_t AlignedBytes::allocated_bytes(std::size_t size) {
  const std::size_t boundary = boundary_for(size);
  return (std::max<std::size_t>(size, 1) + boundary - 1) / boundary * boundary;
}

std::size_t AlignedBytes::mapped_bytes() { return taken.load(std::memory_order_relaxed); }

AlignedBytes AlignedBytes::unset(std::size_t size) {
  AlignedBytes bytes;
  bytes.data_ = allocate(size);
  if (bytes.data_ != nullptr) bytes.size_ = size;
  return bytes;
}

AlignedBytes AlignedBytes::zeroed(std::size_t size) {
  AlignedBytes bytes = unset(size);
  if (size >= kMinMappedBytes) return bytes;  // The kernel's pages are zero.
  if (bytes.size() > 0) std::memset(bytes.data(), 0, bytes.size());
  return bytes;
}

AlignedBytes AlignedBytes::copy_of(Bytes source) {
  AlignedBytes bytes = unset(source.size());
  if (bytes.size() > 0) std::memcpy(bytes.data(), source.data(), bytes.size());
  return bytes;
}

}  // namespace tamis
