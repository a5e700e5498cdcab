// Back-pressure: how writers wait for flushes and compactions.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/change_signal.h"
#include "base/sync.h"
#include "engine/health.h"
#include "engine/job_pool.h"
#include "engine/keyspaces.h"
#include "engine/pacing.h"
#include "engine/store_context.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

/// Delays writes in proportion to their bytes while compaction is behind (pacing.h). Stops them while a full memtable
/// waits for the flush of the previous one, and while there are too many runs.
///
/// Threads: the commit leader; `stats` any.
class Throttle {
 public:
  Throttle(const StoreContext& context, const Keyspaces& keyspaces, const JobSource& jobs, JobPool& pool,
           const Health& health, ChangeSignal& changes)
      : context_(context), keyspaces_(keyspaces), jobs_(jobs), pool_(pool), health_(health), changes_(changes) {}

  /// Waits until no sealed memtable is left: memory holds two, one being written and one being flushed.
  Status wait_for_flush();
  /// Called before a group of this size is written.
  Status slow_down(std::uint64_t group_bytes) {
    if (keyspaces_.debt() > kDebtThatSlows) [[unlikely]]
      return wait_for_compaction(group_bytes);
    end_stall();
    return {};
  }

  [[nodiscard]] Stats::Stalls stats() const EXCLUDES(mutex_);

 private:
  using Clock = std::chrono::steady_clock;

  Status wait_for_compaction(std::uint64_t group_bytes);
  Status wait_until_compacted();
  void sleep_while_behind(Clock::time_point end);
  void count_delay(Clock::time_point begin);
  void begin_stall(std::string_view why) EXCLUDES(mutex_);
  void end_stall() {
    if (!stall_.empty()) [[unlikely]]
      tell_stall_ended();
  }
  void tell_stall_ended();

  const StoreContext& context_;
  const Keyspaces& keyspaces_;
  const JobSource& jobs_;
  JobPool& pool_;
  const Health& health_;
  ChangeSignal& changes_;
  // Belongs to the leader.
  std::uint64_t owed_delay_us_ = 0;
  std::string_view stall_;  // Why writers wait; empty: they do not.

  std::atomic<std::uint64_t> delayed_writes_ = 0;
  std::atomic<std::uint64_t> delay_us_ = 0;
  std::atomic<std::uint64_t> longest_us_ = 0;
  mutable Mutex mutex_;
  std::string last_reason_ GUARDED_BY(mutex_);
};

}  // namespace tamis
