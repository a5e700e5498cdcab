// Limits the memory of indexes and filters.
#pragma once

#include <atomic>
#include <cstdint>

namespace tamis {

/// The maximum bytes of indexes and filters in memory. They are charged before they are loaded.
///
/// Threads: any. `set_limit`: one at a time.
class MetadataBudget {
 public:
  explicit MetadataBudget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// False, and nothing is charged, if it does not fit.
  [[nodiscard]] bool try_charge(std::uint64_t bytes) {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      const std::uint64_t limit = limit_bytes();
      if (used > limit || bytes > limit - used) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void discharge(std::uint64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// `wanted` is the size of everything together, if known.
  void set_limit(std::uint64_t bytes, std::uint64_t wanted = 0) {
    limit_bytes_.store(bytes, std::memory_order_relaxed);
    holds_all_.store(wanted <= bytes, std::memory_order_relaxed);
  }
  /// Everything fits: data that only saves time may be charged too.
  [[nodiscard]] bool holds_all() const { return holds_all_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> used_bytes_ = 0;
  std::atomic<std::uint64_t> limit_bytes_;
  std::atomic<bool> holds_all_ = true;
};

}  // namespace tamis
