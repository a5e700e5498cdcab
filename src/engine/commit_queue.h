// Group commit: one writer writes for all that wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/sync.h"
#include "entry/changes.h"
#include "tamis/status.h"

namespace tamis {

struct CommitCheck;  // engine/commit_window.h.

/// A caller's request. It lives on the caller's stack until it is done.
struct CommitRequest {
  enum class Kind : std::uint8_t {
    kWrite,   ///< Write the changes, if any, and sync.
    kSeal,    ///< Seal the memtables, so that they are flushed.
    kTask,    ///< Do the task between two groups of writes.
    kResume,  ///< Let writes go on that have stopped.
  };
  enum class Turn : std::uint8_t { kWaits, kLeads, kDone };

  Kind kind = Kind::kWrite;
  Changes changes = {};
  bool sync = false;
  const std::function<Status()>* task = nullptr;
  const CommitCheck* check = nullptr;  ///< Of a transaction: written only if this holds.
  bool is_rejected = false;  ///< The leader has set its status already: the others of its group do not depend on it.
  Status status = {};        ///< The leader's answer.

  // For the queue:
  std::atomic<Turn> turn = Turn::kWaits;       ///< Set under the mutex, read without it by its waiter.
  std::atomic<CommitRequest*> next = nullptr;  ///< The request that came after this one.
  Condition* sleeps_on = nullptr;              ///< Guarded by the mutex; null if the waiter is not asleep.
};

/// Does the work of all requests in a group. A request that is not a write forms its own group.
class GroupLeader {
 public:
  virtual ~GroupLeader() = default;
  /// Sets the status of each. Called by one thread at a time, in the order of arrival.
  virtual void lead(std::span<CommitRequest* const> group) = 0;
};

/// Forms groups of waiting requests.
///
/// The requests form a linked list. A request that finds the list empty leads at once and, if no other arrives, empties
/// it again: a lone writer needs two atomic operations. The mutex is only for waiting and waking. A waiter spins
/// briefly before it sleeps: a put takes less than a microsecond, a sleep and a wake-up about ten. Each waiter sleeps
/// on its own condition and is woken once, when its request is done or when it must lead.
///
/// Invariants:
///  1. Requests are done in the order of arrival.
///  2. A group has at most kGroupBytes of batches, or one batch. So a writer waits for at most one other group.
///  3. The first request of the list leads, or is about to. A request is not touched once its turn is kDone.
///
/// Threads: any.
class CommitQueue {
 public:
  /// Returns when the request is done, with its status.
  Status commit(CommitRequest& request, GroupLeader& leader) EXCLUDES(mutex_);
  /// How often a waiter fell asleep, and how often one was woken.
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

  std::atomic<CommitRequest*> last_ = nullptr;  // The newest request; null if there is none.
  std::vector<CommitRequest*> group_;           // Belongs to the leader, from form_group until it leaves.
  mutable Mutex mutex_;
  Sleeps sleeps_ GUARDED_BY(mutex_);
};

}  // namespace tamis
