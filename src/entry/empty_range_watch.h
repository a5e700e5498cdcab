// Notices where a scan steps through entries that it does not show.
#pragma once

#include <cstdint>
#include <utility>

#include "entry/empty_ranges.h"

namespace tamis {

/// Tells EmptyRanges about ranges that cost a scan many steps.
///
/// Threads: one.
class EmptyRangeWatch {
 public:
  /// Of a range that is worth telling. A queue is popped this often between two: with 4 it takes 2.9 us per item, with
  /// 8 3.3, with 16 3.9 (tamis-bench queue_last).
  static constexpr std::uint64_t kMinSteps = 4;
  static constexpr std::uint64_t kDeletedInVain = 256;  // Some ten blocks.

  EmptyRangeWatch(EmptyRanges& ranges, KeyspaceId keyspace, const Moment& moment, bool fills_cache)
      : ranges_(ranges), keyspace_(keyspace), moment_(moment), may_fill_cache_(fills_cache) {}

  /// To count entries that range deletes and empty ranges hide.
  [[nodiscard]] std::uint64_t* count_steps() {
    is_counting_ = true;
    return &steps_;
  }
  /// A search that passes fewer deleted keys has not taken many steps.
  [[nodiscard]] std::uint64_t min_deleted() const { return is_counting_ ? 0 : kMinSteps; }
  /// Ends a count of steps; `more` are added to it. Whether there were many.
  bool were_many(std::uint64_t more) {
    fills_cache_ = may_fill_cache_;
    return std::exchange(steps_, 0) + more >= kMinSteps;
  }
  /// The search has passed kDeletedInVain deleted keys, and goes on.
  void goes_on_in_vain() { fills_cache_ = false; }
  /// Whether blocks that the scan reads are cached: not while it goes on in vain, because the next scan knows that the
  /// range is empty. Lives as long as this.
  [[nodiscard]] const bool* fills_cache() const { return &fills_cache_; }
  /// The scan's source has no visible key in this range.
  void found(KeyRange range) { (void)ranges_.add(EmptyRange(keyspace_, std::move(range), moment_)); }

 private:
  EmptyRanges& ranges_;
  const KeyspaceId keyspace_;
  const Moment moment_;
  bool is_counting_ = false;
  std::uint64_t steps_ = 0;
  const bool may_fill_cache_;
  bool fills_cache_ = may_fill_cache_;
};

}  // namespace tamis
