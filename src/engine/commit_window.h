// The recent commits, against which transactions are checked.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "engine/live_handles.h"
#include "engine/read_set.h"
#include "engine/written_keys.h"
#include "entry/changes.h"
#include "entry/entry.h"
#include "tamis/stats.h"
#include "tamis/status.h"

namespace tamis {

/// What the leader must find before it accepts a transaction: nothing that was read, or written, has been written by
/// others after its snapshot. Constant while its request waits.
struct CommitCheck {
  Sequence snapshot = {};
  const ReadSet* reads = nullptr;  ///< Null: the writes are checked instead (Isolation::kSnapshot).
};

/// Remembers which keys the commits after `complete_after_` wrote, while transactions live. Nothing is recorded while
/// none does: a group then costs a load and a store.
///
/// A transaction is accepted if its snapshot is not older than complete_after_ and no key that it has read was written
/// after the snapshot (rule 39). An older one conflicts: the window may have forgotten what matters. So running out of
/// memory, or of the window's share, makes conflicts and never a wrong answer.
///
/// Invariant: every write with a sequence above complete_after_ that is published, or about to be, is recorded.
///
/// Threads: the commit leader, except as said and for `begin`, `end` and `stats`.
class CommitWindow {
 public:
  CommitWindow(const LiveHandles& handles, std::uint64_t max_bytes) : handles_(handles), max_bytes_(max_bytes) {}

  /// A transaction begins. Called before it takes its snapshot, so that no commit after the snapshot is left out,
  /// except one that is being published meanwhile: then the snapshot is older than complete_after_.
  void begin() { live_.fetch_add(1, std::memory_order_seq_cst); }
  void end() { live_.fetch_sub(1, std::memory_order_seq_cst); }

  /// Whether the transaction may commit these changes, after the members of its group that were added. kConflict names
  /// the first key that it read, or writes, and that was written since.
  Status check(const CommitCheck& check, const Changes& changes);
  /// A member of the group that was accepted, and precedes the transactions that are checked next (rule 39).
  /// kOutOfSpace if memory is short.
  Status add_to_group(const Changes& changes);
  /// All members have been checked.
  void forget_group() { group_.clear(); }
  void count_conflict() { conflicts_.fetch_add(1, std::memory_order_relaxed); }

  /// Call directly before these changes are published; their sequences begin after `before`. `committing` of the live
  /// transactions wrote them and need no record.
  void record(std::span<const Changes> changes, Sequence before, Sequence last, std::uint64_t committing) {
    if (live_.load(std::memory_order_seq_cst) == committing) [[likely]] {
      if (!order_.empty()) [[unlikely]]
        forget_all();
      complete_after_ = last;
      return;
    }
    record_all(changes, before, last);
  }
  /// From now on it takes at most this. What it must forget makes old transactions conflict.
  void limit(std::uint64_t max_bytes) {
    max_bytes_ = max_bytes;
    forget_beyond_limit();
  }
  /// By any thread.
  void count_committed() { committed_.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] Stats::Transactions stats() const;

 private:
  /// One write, in the order of sequences.
  struct Recorded {
    Sequence sequence = {};
    std::optional<WrittenKeys::Keys::iterator> key;  // None: an interval.
  };
  static constexpr std::size_t kMinTrim = 64;
  /// Of a recorded key besides its bytes: a node of the map.
  static constexpr std::uint64_t kBytesOfAKey = sizeof(WrittenKeys::Keys::value_type) + 5 * sizeof(void*);

  [[nodiscard]] bool fits(std::span<const Changes> changes) const;
  void record_all(std::span<const Changes> changes, Sequence before, Sequence last);
  void record_changes(std::span<const Changes> changes, Sequence before);
  void forget_until(Sequence last);
  void forget_oldest();
  void forget_beyond_limit();
  void forget_all();
  void count_bytes(std::int64_t more);

  const LiveHandles& handles_;
  std::atomic<std::uint64_t> live_ = 0;
  // Belongs to the leader.
  std::uint64_t max_bytes_;
  Sequence complete_after_ = {};
  WrittenKeys written_;
  std::deque<Recorded> order_;
  std::size_t trims_at_ = kMinTrim;  // When order_ has this many, what no transaction needs is forgotten.
  WrittenKeys group_;                // By the members of the current group that were accepted.
  // Counted by the leader, read by any thread.
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> committed_ = 0;
  std::atomic<std::uint64_t> conflicts_ = 0;
};

}  // namespace tamis
