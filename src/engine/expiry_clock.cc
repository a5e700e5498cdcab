#include "engine/expiry_clock.h"

#include "engine/store_context.h"

namespace tamis {

void ExpiryClock::open(const ExpiryHorizon& horizon) {
  const Uptime uptime = context_.uptime();
  // A repair without a manifest has lost it.
  const bool is_lost = horizon.time == 0;
  const std::uint64_t clock = is_lost ? context_.precise_unix_milliseconds() : 0;
  MutexLock lock(mutex_);
  recorded_ = base_ = is_lost ? ExpiryHorizon{.time = clock, .at = uptime} : horizon;
  // After a restart of the machine nobody knows how long it was off.
  const bool goes_on = uptime.boot != 0 && uptime.boot == base_.at.boot && uptime.milliseconds >= base_.at.milliseconds;
  if (!goes_on) base_.at = uptime;
  horizon_.store(base_.time, std::memory_order_relaxed);
  is_used_.store(true, std::memory_order_release);
}

void ExpiryClock::begin() {
  if (!is_used()) open({.time = context_.precise_unix_milliseconds(), .at = context_.uptime()});
}

std::uint64_t ExpiryClock::now() const {
  return std::max(context_.precise_unix_milliseconds(), horizon_.load(std::memory_order_acquire));
}

std::uint64_t ExpiryClock::advance() {
  if (!is_used()) return 0;
  const std::uint64_t clock = context_.precise_unix_milliseconds();
  const Uptime uptime = context_.uptime();
  MutexLock lock(mutex_);
  const std::uint64_t elapsed = uptime.milliseconds - std::min(uptime.milliseconds, base_.at.milliseconds);
  const std::uint64_t time = std::min(clock, base_.time + elapsed);
  if (time > recorded_.time) {
    recorded_ = {.time = time, .at = uptime};
    horizon_.store(time, std::memory_order_release);
  }
  return recorded_.time;
}

ExpiryHorizon ExpiryClock::horizon() const {
  MutexLock lock(mutex_);
  return recorded_;
}

}  // namespace tamis
