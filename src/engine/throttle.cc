#include "engine/throttle.h"

#include <utility>

#include "base/try.h"

namespace tamis {

Status Throttle::wait_for_flush() {
  if (!keyspaces_.has_sealed()) return {};
  const auto begin = Clock::now();
  begin_stall("the memtable is full and the one before it is still being flushed");
  Status flushed = pool_.wait_until(
      Job::kFlush, [this] { return !keyspaces_.has_sealed(); }, "the flush could not be done");
  count_delay(begin);
  end_stall();
  return flushed;
}

Status Throttle::wait_for_compaction(std::uint64_t group_bytes) {
  if (keyspaces_.debt() >= kDebtThatStops) TAMIS_TRY_STATUS(wait_until_compacted());
  const double debt = keyspaces_.debt();
  if (debt <= kDebtThatSlows || pool_.threads() == 0) return {};
  begin_stall("compaction is behind");
  owed_delay_us_ += write_delay_us(debt, group_bytes);
  if (owed_delay_us_ < kMinDelayUs) return {};
  const auto begin = Clock::now();
  sleep_while_behind(begin + std::chrono::microseconds(std::exchange(owed_delay_us_, 0)));
  count_delay(begin);
  return {};
}

/// There are so many runs that reads suffer: none is added until there are fewer. Does not wait for a compaction that
/// nobody will do.
Status Throttle::wait_until_compacted() {
  const auto begin = Clock::now();
  begin_stall("compaction is far behind: writes wait for it");
  const auto has_caught_up = [this] { return keyspaces_.debt() < kDebtThatStops || !jobs_.is_due(Job::kCompaction); };
  Status compacted =
      pool_.wait_until(Job::kCompaction, has_caught_up, "compaction is far behind and could not be done");
  count_delay(begin);
  return compacted;
}

/// Ends early when compaction has caught up, and when there is nothing more to wait for.
void Throttle::sleep_while_behind(Clock::time_point end) {
  while (true) {
    const ChangeSignal::Ticket ticket = changes_.ticket();
    const auto left = end - Clock::now();
    if (left.count() <= 0 || keyspaces_.debt() <= kDebtThatSlows || !health_.check_working().ok()) return;
    changes_.wait_for(ticket, left);
  }
}

void Throttle::count_delay(Clock::time_point begin) {
  const auto duration = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin);
  const auto us = static_cast<std::uint64_t>(duration.count());
  delayed_writes_.fetch_add(1, std::memory_order_relaxed);
  delay_us_.fetch_add(us, std::memory_order_relaxed);
  if (us > longest_us_.load(std::memory_order_relaxed)) longest_us_.store(us, std::memory_order_relaxed);
}

void Throttle::begin_stall(std::string_view why) {
  if (stall_ == why) return;
  end_stall();
  stall_ = why;
  {
    MutexLock lock(mutex_);
    last_reason_ = why;
  }
  context_.tell(StoreEvent::Kind::kStallBegan, why);
}

void Throttle::tell_stall_ended() {
  stall_ = {};
  context_.tell(StoreEvent::Kind::kStallEnded, "");
}

Stats::Stalls Throttle::stats() const {
  MutexLock lock(mutex_);
  return {.delayed_writes = delayed_writes_, .delay_us = delay_us_, .longest_us = longest_us_, .reason = last_reason_};
}

}  // namespace tamis
