// Memory mapped from the kernel.
#pragma once

#include <cstddef>

namespace tamis {

inline constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;
inline constexpr std::size_t kPageBytes = 4096;

/// Zeroed memory of `bytes`, a multiple of `boundary`, which is a multiple of the page size and the alignment. Or null.
std::byte* map_memory(std::size_t bytes, std::size_t boundary);
void unmap_memory(std::byte* memory, std::size_t bytes);
/// A hint: if the kernel declines, pages stay small and nothing else changes.
void ask_for_large_pages(std::byte* memory, std::size_t bytes);

}  // namespace tamis
