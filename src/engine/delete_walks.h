// Deletes that follow each other in key order, and what they leave empty.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/sync.h"
#include "engine/health.h"
#include "engine/keyspaces.h"
#include "entry/empty_ranges.h"
#include "entry/key_range.h"
#include "entry/keyspace_id.h"

namespace tamis {

/// Steps through deleted keys soon after their deletes and tells EmptyRanges what is empty, so that the first scan over
/// them passes them by a seek. It does so only where deletes arrive in key order.
///
/// Deletes of one keyspace in ascending order are a stretch. Each walk makes the known empty range longer, up to the
/// last of them. A walk that comes to a key with a value is in vain, and the next one waits for twice as many deletes;
/// so does the one after a walk that had to wait for storage.
///
/// Invariants:
///  1. There is one walk at a time.
///  2. For each delete, walks take at most kStepsOfADelete steps: where a range was forgotten, or other keys lie
///     between, nothing is stepped through again and again.
///  3. A walk ends early when the store closes, and after kMaxSteps: it keeps a view, and its caller waits.
///
/// Threads: `add`: the commit leader. Others any.
class DeleteWalks {
 public:
  /// What is left to the first scan. With 64 the walks themselves are the larger part of a delete (decision 0057).
  static constexpr std::uint64_t kMinDeletes = 128;
  /// A delete and the value beneath it are two.
  static constexpr std::uint64_t kStepsOfADelete = 4;
  static constexpr std::uint64_t kMaxSteps = std::uint64_t{1} << 16;

  DeleteWalks(Keyspaces& keyspaces, EmptyRanges& empty_ranges, const Health& health)
      : keyspaces_(keyspaces), empty_ranges_(empty_ranges), health_(health) {}

  /// Keys from `first` to `last` have been deleted in ascending order, by this many deletes, which are published.
  void add(KeyspaceId keyspace, std::string_view first, std::string_view last, std::uint64_t deletes) {
    if (keyspace != told_.keyspace || first <= told_.last || !told_.is_begun) told_.begin(keyspace, first);
    told_.last.assign(last);
    told_.deletes += deletes;
    if (told_.deletes >= kMinDeletes) hand_over();
  }
  /// Whether deletes are to be walked over.
  [[nodiscard]] bool are_due() const { return are_due_.load(std::memory_order_relaxed); }
  /// By whoever has deleted, when others may write again.
  void walk() EXCLUDES(mutex_);

 private:
  /// What the writer has told of a stretch and is not handed over.
  struct Told {
    void begin(KeyspaceId of, std::string_view key) {
      keyspace = of;
      from.assign(key);
      deletes = 0;
      is_begun = true;
      is_handed_over = false;
    }

    KeyspaceId keyspace = kDefaultKeyspace;
    std::string from;  // Where the stretch begins.
    std::string last;
    std::uint64_t deletes = 0;
    bool is_begun = false;
    bool is_handed_over = false;  // What was told before of the stretch.
  };
  struct Walk {
    std::uint64_t stretch = 0;
    KeyspaceId keyspace = kDefaultKeyspace;
    KeyRange range;
    std::uint64_t deletes = 0;
  };
  enum class End : std::uint8_t { kWhole, kEarly, kInVain };
  struct Walked {
    End end = End::kInVain;
    std::uint64_t steps = 0;
    bool is_slow = false;
  };

  void hand_over() EXCLUDES(mutex_);
  std::optional<Walk> begin() EXCLUDES(mutex_);
  Walked walk_over(const Walk& walk);
  void end(const Walk& walk, const Walked& walked) EXCLUDES(mutex_);
  void set_due() REQUIRES(mutex_) { are_due_.store(deletes_ >= wanted_ && !is_walking_, std::memory_order_relaxed); }

  Keyspaces& keyspaces_;
  EmptyRanges& empty_ranges_;
  const Health& health_;
  std::atomic<bool> are_due_ = false;
  Told told_;  // The leader's.

  Mutex mutex_;
  std::uint64_t stretch_ GUARDED_BY(mutex_) = 0;  // Its number.
  KeyspaceId keyspace_ GUARDED_BY(mutex_) = kDefaultKeyspace;
  std::string from_ GUARDED_BY(mutex_);  // Where the stretch, or what is known to be empty of it, begins.
  std::string last_ GUARDED_BY(mutex_);
  std::uint64_t deletes_ GUARDED_BY(mutex_) = 0;  // Not walked over.
  std::uint64_t wanted_ GUARDED_BY(mutex_) = kMinDeletes;
  bool is_walking_ GUARDED_BY(mutex_) = false;
};

}  // namespace tamis
