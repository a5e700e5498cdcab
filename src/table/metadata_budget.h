// Limits the memory of indexes and filters.
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "base/check.h"

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

/// Part of a budget, released by the destructor.
///
/// Threads: one at a time.
class Charge {
 public:
  Charge(MetadataBudget& budget, std::uint64_t bytes)
      : budget_(&budget), bytes_(bytes), is_taken_(budget.try_charge(bytes)) {}
  Charge(Charge&& other) noexcept
      : budget_(other.budget_), bytes_(other.bytes_), is_taken_(std::exchange(other.is_taken_, false)) {}
  Charge& operator=(Charge&&) = delete;
  ~Charge() {
    if (is_taken_) budget_->discharge(bytes_);
  }
  [[nodiscard]] bool is_taken() const { return is_taken_; }
  void shrink_to(std::uint64_t bytes) {
    TAMIS_CHECK(is_taken_ && bytes <= bytes_);
    budget_->discharge(bytes_ - bytes);
    bytes_ = bytes;
  }

 private:
  MetadataBudget* budget_;
  std::uint64_t bytes_;
  bool is_taken_;
};

}  // namespace tamis
