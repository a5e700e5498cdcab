#include "engine/commit_queue.h"

#include <thread>
#include <utility>

namespace tamis {

Status CommitQueue::commit(CommitRequest& request, GroupLeader& leader) {
  // Acquires what the last leader left behind (group_ and all that it wrote), releases the request to the next one.
  CommitRequest* const before = last_.exchange(&request, std::memory_order_acq_rel);
  if (before != nullptr) {
    before->next.store(&request, std::memory_order_release);
    if (wait_for_turn(request) == CommitRequest::Turn::kDone) return std::move(request.status);
  }
  form_group(request);
  leader.lead(group_);
  leave(request);
  return std::move(request.status);
}

CommitRequest::Turn CommitQueue::wait_for_turn(CommitRequest& request) {
  constexpr int kLooks = 200;  // Some microseconds.
  for (int i = 0; i < kLooks; ++i) {
    // Pairs with the release stores in `leave`: what the leader wrote before is seen.
    const CommitRequest::Turn turn = request.turn.load(std::memory_order_acquire);
    if (turn != CommitRequest::Turn::kWaits) return turn;
    pause_briefly();
  }
  Condition woken;
  MutexLock lock(mutex_);
  request.sleeps_on = &woken;
  ++sleeps_.begun;
  while (request.turn.load(std::memory_order_acquire) == CommitRequest::Turn::kWaits) {
    woken.wait(mutex_);
    ++sleeps_.interrupted;
  }
  return request.turn.load(std::memory_order_acquire);
}

void CommitQueue::form_group(CommitRequest& first) {
  group_.push_back(&first);
  if (first.kind != CommitRequest::Kind::kWrite) return;
  std::size_t bytes = first.changes.byte_size();
  for (CommitRequest* request = first.next.load(std::memory_order_acquire); request != nullptr;
       request = request->next.load(std::memory_order_acquire)) {
    if (request->kind != CommitRequest::Kind::kWrite) return;
    bytes += request->changes.byte_size();
    if (bytes > kGroupBytes) return;
    group_.push_back(request);
  }
}

/// The group is done. As soon as the list is cut, somebody else may lead and use group_; what is left to do follows the
/// links, which stay as long as those in the group wait.
void CommitQueue::leave(CommitRequest& first) {
  CommitRequest& last = *group_.back();
  group_.clear();
  CommitRequest* follower = &last == &first ? nullptr : first.next.load(std::memory_order_relaxed);
  CommitRequest* const next_leader = cut_after(last);
  if (next_leader != nullptr) {  // First, and by itself: it should not have to wait for the mutex.
    MutexLock lock(mutex_);
    give_turn(*next_leader, CommitRequest::Turn::kLeads);
  }
  if (follower == nullptr) return;
  MutexLock lock(mutex_);
  while (follower != nullptr) {
    CommitRequest* const after = follower == &last ? nullptr : follower->next.load(std::memory_order_relaxed);
    give_turn(*follower, CommitRequest::Turn::kDone);
    follower = after;
  }
}

/// With the mutex held. Who does not sleep may be gone as soon as it has its turn; who does needs the mutex to go on.
void CommitQueue::give_turn(CommitRequest& request, CommitRequest::Turn turn) {
  Condition* const sleeps_on = request.sleeps_on;
  request.turn.store(turn, std::memory_order_release);
  if (sleeps_on != nullptr) sleeps_on->notify_one();
}

CommitQueue::Sleeps CommitQueue::sleeps() const {
  MutexLock lock(mutex_);
  return sleeps_;
}

/// Who came after the last one of the group; null when nobody did, and then the list is empty.
CommitRequest* CommitQueue::cut_after(CommitRequest& last) {
  CommitRequest* newest = &last;
  if (last_.compare_exchange_strong(newest, nullptr, std::memory_order_acq_rel)) return nullptr;
  CommitRequest* next = last.next.load(std::memory_order_acquire);
  while (next == nullptr) {  // It has come, and is about to say so.
    std::this_thread::yield();
    next = last.next.load(std::memory_order_acquire);
  }
  return next;
}

}  // namespace tamis
