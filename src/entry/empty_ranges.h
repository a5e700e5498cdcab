// Ranges of keys that scans have found to be empty.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "entry/key_range.h"
#include "entry/keyspace_id.h"
#include "entry/range_tombstones.h"
#include "entry/visible.h"

namespace tamis {

/// No key of the range had a value at `moment`. To later readers this is what a range delete directly after that moment
/// would be: `as_deleted`, which is in no file.
struct EmptyRange {
  EmptyRange(KeyspaceId of, KeyRange range, Moment at)
      : keyspace(of), moment(at), as_deleted{std::move(range), at.sequence + 1} {}

  [[nodiscard]] const KeyRange& range() const { return as_deleted.range; }

  KeyspaceId keyspace;
  Moment moment;
  RangeTombstone as_deleted;
};

using SharedEmptyRanges = std::vector<std::shared_ptr<const EmptyRange>>;

/// Empty ranges that a scan stepped through entry by entry, such as the head of a queue: the next scan passes them by a
/// seek. Each may be forgotten at any time.
///
/// Invariants:
///  1. Ranges of a keyspace do not overlap.
///  2. An entry in a range that was written after its moment keeps its sequence. With sequence 0 it would be taken for
///     an older one, as under a range delete (rule 25). So a rewrite asks before it writes sequences of 0, and a range
///     that was found at an earlier moment than it was told is not kept.
///
/// Threads: any.
class EmptyRanges {
 public:
  static constexpr std::size_t kMaxRanges = 64;
  /// Ranges with longer keys are not kept.
  static constexpr std::size_t kMaxKeyBytes = 1024;

  [[nodiscard]] bool empty() const { return count_.load(std::memory_order_relaxed) == 0; }
  /// In key order, those that overlap the range and hold at this moment.
  [[nodiscard]] SharedEmptyRanges known(KeyspaceId keyspace, const KeyRange& range, const Moment& moment) const
      EXCLUDES(mutex_);
  /// Replaces what is known about the same keys. False if the range is not kept.
  bool add(EmptyRange found) EXCLUDES(mutex_);
  /// A rewrite of these keys begins, with nothing older beneath. Returns the largest sequence, at most `last`, that it
  /// may replace by 0. What is not found again between two of them is forgotten: it would keep sequences from becoming
  /// 0 for ever.
  Sequence begin_rewrite(KeyspaceId keyspace, const KeyRange& range, Sequence last) EXCLUDES(mutex_);

 private:
  struct Known {
    std::shared_ptr<const EmptyRange> range;
    bool is_rewritten = false;  // Since it was found.
  };

  void join(Known part) REQUIRES(mutex_);

  std::atomic<std::size_t> count_ = 0;  // Of known_. A scan that misses a change steps through a range once more.
  mutable Mutex mutex_;
  std::vector<Known> known_ GUARDED_BY(mutex_);
  Sequence may_be_zeroed_ GUARDED_BY(mutex_) = {};  // The largest answer of begin_rewrite.
};

}  // namespace tamis
