// Waiting for a condition that depends on more than one mutex.
#pragma once

#include <chrono>
#include <cstdint>

#include "base/sync.h"

namespace tamis {

/// Announces that something changed. A waiter takes a ticket, checks its condition, and then waits for an announcement
/// later than the ticket, so it misses none. Announce after the change is visible.
///
/// Threads: any. The mutex is held for the length of one increment.
class ChangeSignal {
 public:
  using Ticket = std::uint64_t;

  [[nodiscard]] Ticket ticket() const EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return announced_;
  }
  void announce() EXCLUDES(mutex_) {
    {
      MutexLock lock(mutex_);
      ++announced_;
    }
    changed_.notify_all();
  }
  void wait(Ticket seen) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    while (announced_ == seen) changed_.wait(mutex_);
  }
  /// Gives up after `time`.
  void wait_for(Ticket seen, std::chrono::nanoseconds time) EXCLUDES(mutex_) {
    const auto end = std::chrono::steady_clock::now() + time;
    MutexLock lock(mutex_);
    while (announced_ == seen) {
      const auto left = end - std::chrono::steady_clock::now();
      if (left.count() <= 0) return;
      (void)changed_.wait_for(mutex_, left);
    }
  }

 private:
  mutable Mutex mutex_;
  Condition changed_;
  Ticket announced_ GUARDED_BY(mutex_) = 0;
};

}  // namespace tamis
