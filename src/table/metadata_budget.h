// Limits the memory of indexes and filters.
#pragma once

#include <algorithm>
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
  /// Even beyond the limit: for what soon replaces something larger.
  void charge(std::uint64_t bytes) { used_bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  void discharge(std::uint64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }
  /// `wanted` is the size of all indexes or filters together, if known. `reserved` is for something else that is
  /// charged to the same budget.
  void set_limit(std::uint64_t bytes, std::uint64_t wanted = 0, std::uint64_t reserved = 0) {
    limit_bytes_.store(bytes, std::memory_order_relaxed);
    wanted_bytes_.store(wanted, std::memory_order_relaxed);
    reserved_bytes_.store(reserved, std::memory_order_relaxed);
  }
  /// The limit without what is reserved.
  [[nodiscard]] std::uint64_t unreserved_bytes() const {
    const std::uint64_t limit = limit_bytes();
    return limit - std::min(limit, reserved_bytes_.load(std::memory_order_relaxed));
  }
  /// Everything fits: data that only saves time may be charged too.
  [[nodiscard]] bool holds_all() const { return wanted_bytes_.load(std::memory_order_relaxed) <= unreserved_bytes(); }
  /// How much of everything fits, 0 … 1.
  [[nodiscard]] double share_of_all() const {
    const std::uint64_t wanted = wanted_bytes_.load(std::memory_order_relaxed);
    const std::uint64_t room = unreserved_bytes();
    return wanted <= room ? 1 : static_cast<double>(room) / static_cast<double>(wanted);
  }
  [[nodiscard]] std::uint64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> used_bytes_ = 0;
  std::atomic<std::uint64_t> limit_bytes_;
  std::atomic<std::uint64_t> wanted_bytes_ = 0;
  std::atomic<std::uint64_t> reserved_bytes_ = 0;
};

/// Part of a budget, released by the destructor.
///
/// Threads: one at a time.
class Charge {
 public:
  Charge(MetadataBudget& budget, std::uint64_t bytes)
      : budget_(&budget), bytes_(bytes), is_taken_(budget.try_charge(bytes)) {}
  /// Of a budget that was charged already.
  static Charge charged(MetadataBudget& budget, std::uint64_t bytes) { return Charge(&budget, bytes); }
  /// Keeps what is taken.
  void release() { is_taken_ = false; }
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
  Charge(MetadataBudget* budget, std::uint64_t bytes) : budget_(budget), bytes_(bytes), is_taken_(true) {}

  MetadataBudget* budget_;
  std::uint64_t bytes_;
  bool is_taken_;
};

}  // namespace tamis
