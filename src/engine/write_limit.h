// A limit for what compactions write per second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/sync.h"

namespace tamis {

/// Spreads the writes of flushes and compactions evenly over time. A flush counts, but nobody waits for it: writers
/// would.
///
/// Threads: any.
class WriteLimit {
 public:
  using Clock = std::chrono::steady_clock;

  /// 0: no limit.
  explicit WriteLimit(std::uint64_t bytes_per_second) : bytes_per_second_(bytes_per_second) {}

  [[nodiscard]] bool exists() const { return bytes_per_second_ != 0; }
  /// Counts the bytes. They are within the limit from the returned time on.
  Clock::time_point take(std::uint64_t bytes, Clock::time_point now) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_second_);
    free_at_ =
        std::max(free_at_, now) + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    return free_at_;
  }

 private:
  const std::uint64_t bytes_per_second_;
  Mutex mutex_;
  Clock::time_point free_at_ GUARDED_BY(mutex_);
};

}  // namespace tamis
