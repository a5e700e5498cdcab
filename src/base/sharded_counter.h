// Counting from many threads without a line that all of them write.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/aligned_bytes.h"

namespace tamis {

/// A sum of which each thread adds to a part. Exact once the adders are done.
///
/// Threads: any.
class ShardedCounter {
 public:
  void add(std::uint64_t amount = 1) { parts_[my_part()].value.fetch_add(amount, std::memory_order_relaxed); }
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
  static std::size_t my_part() {
    static std::atomic<std::size_t> threads = 0;
    thread_local const std::size_t part = threads.fetch_add(1, std::memory_order_relaxed) % kParts;
    return part;
  }

  std::array<Part, kParts> parts_;
};

}  // namespace tamis
