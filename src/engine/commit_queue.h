// Group commit: one writer writes for all that wait.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

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
  enum class Turn : std::uint32_t { kWaits, kSleeps, kLeads, kDone };

  Kind kind = Kind::kWrite;
  Changes changes = {};
  bool sync = false;
  const std::function<Status()>* task = nullptr;
  const CommitCheck* check = nullptr;  ///< Of a transaction: written only if this holds.
  bool is_rejected = false;  ///< The leader has set its status already: the others of its group do not depend on it.
  Status status = {};        ///< The leader's answer.

  // For the queue:
  std::atomic<Turn> turn = Turn::kWaits;       ///< kSleeps: the waiter needs to be woken.
  std::atomic<CommitRequest*> next = nullptr;  ///< The request that came after this one.
};

/// Does the work of all requests in a group. A request that is not a write forms its own group.
class GroupLeader {
 public:
  virtual ~GroupLeader() = default;
  /// Sets the status of each. Called by one thread at a time, in the order of arrival.
  virtual void lead(std::span<CommitRequest* const> group) = 0;
};

/// How long a leader waits for writers that come back.
struct CommitPatience {
  double share_of_sync = 0.25;                                                ///< At most this part of the last sync,
  std::chrono::steady_clock::duration most = std::chrono::microseconds(200);  ///< and at most this.
};

/// Forms groups of waiting requests.
///
/// The requests form a linked list. A request that finds the list empty leads at once and, if no other arrives, empties
/// it again: a lone writer needs two atomic operations. There is no mutex. A waiter spins briefly before it sleeps: a
/// put takes less than a microsecond, a sleep and a wake-up about ten. It sleeps on its own word and is woken once,
/// when its request is done or when it must lead.
///
/// Writers that sync come back together, when their group is done. One that led at once would sync for itself alone
/// while the others wait for the next sync. So it waits for them, if they came the last time: until as many are there
/// as were in the last group and behind it, at most a fraction of the time of a sync (docs/decisions/0049).
///
/// Invariants:
///  1. Requests are done in the order of arrival.
///  2. A group has at most kGroupBytes of batches, or one batch. So a writer waits for at most one other group.
///  3. The first request of the list leads, or is about to. A request is not touched once its turn is kDone.
///
/// Threads: any.
class CommitQueue {
 public:
  CommitQueue() = default;
  explicit CommitQueue(CommitPatience patience) : patience_(patience) {}

  /// Returns when the request is done, with its status.
  Status commit(CommitRequest& request, GroupLeader& leader);
  /// How often a waiter fell asleep, and how often one was woken.
  struct Sleeps {
    std::uint64_t begun = 0;
    std::uint64_t interrupted = 0;
  };
  [[nodiscard]] Sleeps sleeps() const;
  /// How often a leader waited for writers that had just been served, and how often none came.
  struct Gatherings {
    std::uint64_t begun = 0;
    std::uint64_t vain = 0;
  };
  [[nodiscard]] Gatherings gatherings() const;

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kGroupBytes = 1 << 20;

  CommitRequest::Turn wait_for_turn(CommitRequest& request);
  void count_arrival();
  void form_group(CommitRequest& first);
  bool take_along(std::size_t& bytes);
  void gather(std::size_t& bytes);
  void wait_for_arrivals(Clock::time_point end);
  void leave(CommitRequest& first);
  CommitRequest* cut_after(CommitRequest& last);
  static void give_turn(CommitRequest& request, CommitRequest::Turn turn);

  const CommitPatience patience_ = {};
  std::atomic<CommitRequest*> last_ = nullptr;  // The newest request; null if there is none.
  // Requests that sync, counted from the beginning, modulo 2^32. Counted before they are linked.
  std::atomic<std::uint32_t> arrivals_ = 0;
  std::atomic<std::uint32_t> awaited_ = 0;  // The arrival that wakes a leader that waits.

  // Belongs to the leader, from form_group until it leaves.
  std::vector<CommitRequest*> group_;
  std::uint32_t synced_ = 0;        // Of the group: those that sync.
  std::uint32_t served_ = 0;        // Of the arrivals: those in earlier groups.
  std::uint32_t expected_ = 1;      // So many of them may be there soon.
  std::uint32_t skips_ = 0;         // How many groups do not wait for them, because the last one did so in vain.
  Clock::duration sync_time_ = {};  // Of the last group that synced.

  std::atomic<std::uint64_t> sleeps_begun_ = 0;
  std::atomic<std::uint64_t> sleeps_interrupted_ = 0;
  std::atomic<std::uint64_t> gatherings_begun_ = 0;
  std::atomic<std::uint64_t> gatherings_vain_ = 0;
};

}  // namespace tamis
