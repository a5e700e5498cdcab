// The time by which values expire.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/sync.h"
#include "tree/expiry_horizon.h"

namespace tamis {

struct StoreContext;

/// The store's clock and its horizon (rule 29): a time that is past for certain. Readers hide what is due by the later
/// of both. Rewrites drop what is due by the horizon.
///
/// Invariants:
///  1. The horizon never falls, and never advances faster than the machine's uptime, whatever the clock says. So it is
///     past whenever the clock of the first use was right.
///  2. is_used() is true before an entry that expires is published.
///
/// Threads: any.
class ExpiryClock {
 public:
  explicit ExpiryClock(const StoreContext& context) : context_(context) {}

  /// Goes on with the horizon of the manifest; without one, begins at the clock. Call it before anything else, if the
  /// store uses expiry.
  void open(const ExpiryHorizon& horizon) EXCLUDES(mutex_);
  /// The first use of expiry in this store: nothing can have expired before.
  void begin() EXCLUDES(mutex_);

  /// Whether an entry of the store may expire.
  [[nodiscard]] bool is_used() const { return is_used_.load(std::memory_order_acquire); }
  /// Whether a keyspace has a default expiry.
  [[nodiscard]] bool has_defaults() const { return has_defaults_.load(std::memory_order_relaxed); }
  void add_default() { has_defaults_.store(true, std::memory_order_relaxed); }
  /// The time of readers.
  [[nodiscard]] std::uint64_t now() const;
  /// The same for a reader that fixes its time when it begins; 0, and no look at the clock, if nothing expires. To be
  /// called after the reader has its sequence.
  [[nodiscard]] std::uint64_t time_of_read() const { return is_used() ? now() : 0; }

  /// Moves the horizon on, as far as clock and uptime allow, and returns it. Call it before LiveHandles::readable: then
  /// later snapshots have later times.
  std::uint64_t advance() EXCLUDES(mutex_);
  /// As it is to be recorded.
  [[nodiscard]] ExpiryHorizon horizon() const EXCLUDES(mutex_);

 private:
  const StoreContext& context_;
  /// The stores, under the mutex, pair with the loads of is_used and now.
  std::atomic<bool> is_used_ = false;
  std::atomic<std::uint64_t> horizon_ = 0;
  std::atomic<bool> has_defaults_ = false;
  mutable Mutex mutex_;
  ExpiryHorizon recorded_ GUARDED_BY(mutex_);  ///< The horizon and the uptime when it advanced last.
  ExpiryHorizon base_ GUARDED_BY(mutex_);      ///< A past time and the uptime then: no later one is further ahead.
};

}  // namespace tamis
