// How much memory indexes and filters may take.
#pragma once

#include <atomic>
#include <cstdint>

namespace tamis {

/// How many bytes of indexes and filters may be in memory. Charged before they are loaded.
///
/// Threads: any. `set_limit`: one at a time.
class MetadataBudget {
 public:
  explicit MetadataBudget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  /// False, and nothing charged, when it does not fit.
  [[nodiscard]] bool try_charge(std::uint64_t bytes) {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    do {
      const std::uint64_t limit = limit_bytes();
      if (used > limit || bytes > limit - used) return false;
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
    return true;
  }
  void discharge(std::uint64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// `wanted` is what everything together would take, where that is known.
  void set_limit(std::uint64_t bytes, std::uint64_t wanted = 0) {
    limit_bytes_.store(bytes, std::memory_order_relaxed);
    holds_all_.store(wanted <= bytes, std::memory_order_relaxed);
  }
  /// Everything fits: what only saves time may be charged too.
  [[nodiscard]] bool holds_all() const { return holds_all_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> used_bytes_ = 0;
  std::atomic<std::uint64_t> limit_bytes_;
  std::atomic<bool> holds_all_ = true;
};

}  // namespace tamis
