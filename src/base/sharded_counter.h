// Counts from many threads without a shared cache line.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/aligned_bytes.h"

namespace tamis {

/// Numbers threads in the order of their first call.
inline std::size_t thread_number() {
  static std::atomic<std::size_t> threads = 0;
  thread_local const std::size_t number = threads.fetch_add(1, std::memory_order_relaxed);
  return number;
}

/// A sum in per-thread parts. Exact once the writers are done.
///
/// Threads: any.
class ShardedCounter {
 public:
  void add(std::uint64_t amount = 1) {
    parts_[thread_number() % kParts].value.fetch_add(amount, std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t total = 0;
    for (const Part& part : parts_) total += part.value.load(std::memory_order_relaxed);
    return total;
  }

 private:
  static constexpr std::size_t kParts = 16;
  struct alignas(kCacheLineBytes) Part {
    std::atomic<std::uint64_t> value = 0;
  };
  std::array<Part, kParts> parts_;
};

}  // namespace tamis
