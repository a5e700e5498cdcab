// Durations, counted by size.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/aligned_bytes.h"
#include "tamis/stats.h"

namespace tamis {

/// Counts durations in buckets: 16 to each doubling, so that a bucket's middle is within 3.2 % of what is in it. Counts
/// are in parts, of which each thread adds to one. Takes 4.6 KiB for each part, and allocates nothing later.
///
/// Threads: any. A sum is exact once the writers are done.
class LatencyHistogram {
 public:
  explicit LatencyHistogram(std::size_t parts) : count_(parts), parts_(std::make_unique<Part[]>(parts)) {}

  void add(std::uint64_t ns);
  [[nodiscard]] Stats::Latency latency() const;

 private:
  static constexpr std::size_t kBuckets = 16 * std::size_t{36};  // The last doubling, to 550 s, has what is longer too.

  struct alignas(kCacheLineBytes) Part {
    std::atomic<std::uint64_t> sum_ns = 0;
    std::atomic<std::uint64_t> max_ns = 0;
    std::array<std::atomic<std::uint64_t>, kBuckets> counts = {};
  };

  const std::size_t count_;
  const std::unique_ptr<Part[]> parts_;
};

/// The time since its construction.
class Stopwatch {
 public:
  [[nodiscard]] std::uint64_t ns() const {
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - begin_).count());
  }

 private:
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin_ = Clock::now();
};

/// Adds the time from its construction to its destruction.
class LatencyTimer {
 public:
  explicit LatencyTimer(LatencyHistogram& histogram) : histogram_(histogram) {}
  LatencyTimer(const LatencyTimer&) = delete;
  LatencyTimer& operator=(const LatencyTimer&) = delete;
  ~LatencyTimer() { histogram_.add(stopwatch_.ns()); }

 private:
  LatencyHistogram& histogram_;
  const Stopwatch stopwatch_;
};

}  // namespace tamis
