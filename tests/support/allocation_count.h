// Counts allocations, and makes them fail, by replacing the global operator new. Include it in exactly one file of a
// test program.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tamis::test {

inline std::atomic<std::uint64_t> allocations = 0;     // In all threads.
inline std::atomic<bool> do_allocations_fail = false;  // The same.

/// How many allocations an action makes the second time, after the first has grown all buffers.
template <typename Action>
std::uint64_t allocations_when_repeated(Action action) {
  action();
  const std::uint64_t before = allocations.load();
  action();
  return allocations.load() - before;
}

}  // namespace tamis::test

// The nothrow form too: AddressSanitizer's own version does not call ours and does not match our delete.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  tamis::test::allocations.fetch_add(1, std::memory_order_relaxed);
  return tamis::test::do_allocations_fail ? nullptr : std::malloc(size);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
// Not inlined: g++ would compare this free with the caller's new and warn of a mismatch.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
