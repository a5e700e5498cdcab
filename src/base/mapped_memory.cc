#include "base/mapped_memory.h"

#include <sys/mman.h>

#include <cstdint>

namespace tamis {

/// If the boundary exceeds a page, maps more than needed and unmaps the ends.
std::byte* map_memory(std::size_t bytes, std::size_t boundary) {
  const std::size_t extra = boundary - kPageBytes;
  void* const begin = ::mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (begin == MAP_FAILED) return nullptr;
  const std::size_t before = (boundary - reinterpret_cast<std::uintptr_t>(begin) % boundary) % boundary;
  std::byte* const memory = static_cast<std::byte*>(begin) + before;
  if (before > 0) (void)::munmap(begin, before);
  if (extra > before) (void)::munmap(memory + bytes, extra - before);
  return memory;
}

void unmap_memory(std::byte* memory, std::size_t bytes) { (void)::munmap(memory, bytes); }

void ask_for_large_pages(std::byte* memory, std::size_t bytes) { (void)::madvise(memory, bytes, MADV_HUGEPAGE); }

}  // namespace tamis
