// Many writers, one of whom writes for all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/sync.h"
#include "entry/changes.h"
#include "tamis/status.h"

namespace tamis {

/// One caller's wish, on its stack until it is done.
struct CommitRequest {
  enum class Kind : std::uint8_t {
    kWrite,   ///< Write the changes, if any, and sync.
    kSeal,    ///< Seal the memtable, so that it is flushed.
    kResume,  ///< Let writes go on that have stopped.
  };
  enum class Turn : std::uint8_t { kWaits, kLeads, kDone };

  Kind kind = Kind::kWrite;
  Changes changes = {};
  bool sync = false;
  Status status = {};  ///< The leader's answer.

  // The queue's.
  std::atomic<Turn> turn = Turn::kWaits;       ///< Set under its mutex, read without by the one who waits.
  std::atomic<CommitRequest*> next = nullptr;  ///< Who came after this one.
  Condition* sleeps_on = nullptr;              ///< Under its mutex; null: it does not sleep.
};

/// Does the work of all requests of a group while the others wait. A request to seal or to resume is alone in its
/// group.
class GroupLeader {
 public:
  virtual ~GroupLeader() = default;
  /// Sets the status of each. Called by one thread at a time, in the order in which the requests came.
  virtual void lead(std::span<CommitRequest* const> group) = 0;
};

/// Makes groups of the requests that wait.
///
/// The requests are a list, each leading to the one that came after it. Who finds it empty leads at once and, when
/// nobody has come meanwhile, leaves it empty: two atomic operations for a writer that is alone. The mutex is for those
/// who wait, and for waking them. Who waits looks a little while before it sleeps: a put takes less than a microsecond,
/// falling asleep and being woken some ten. Each sleeps on a condition of its own, and is woken once: when its request
/// is done or its turn to lead has come.
///
/// Invariants:
///  1. Requests are done in the order in which they came.
///  2. A group has at most kGroupBytes of batches, or one batch; so a writer waits for the group being written and
///     then for its own.
///  3. The first request of the list leads, or is about to. A request is not touched once its turn is kDone.
///
/// Threads: any.
class CommitQueue {
 public:
  /// Returns when the request is done, with its status.
  Status commit(CommitRequest& request, GroupLeader& leader) EXCLUDES(mutex_);
  /// How often somebody fell asleep, and how often somebody was woken.
  struct Sleeps {
    std::uint64_t begun = 0;
    std::uint64_t interrupted = 0;
  };
  [[nodiscard]] Sleeps sleeps() const EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kGroupBytes = 1 << 20;

  CommitRequest::Turn wait_for_turn(CommitRequest& request) EXCLUDES(mutex_);
  void form_group(CommitRequest& first);
  void leave(CommitRequest& first) EXCLUDES(mutex_);
  CommitRequest* cut_after(CommitRequest& last);
  static void give_turn(CommitRequest& request, CommitRequest::Turn turn);

  std::atomic<CommitRequest*> last_ = nullptr;  // Of the list; null when it is empty.
  std::vector<CommitRequest*> group_;           // The leader's, from form_group until it leaves.
  mutable Mutex mutex_;
  Sleeps sleeps_ GUARDED_BY(mutex_);
};

}  // namespace tamis
