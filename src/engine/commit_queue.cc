#include "engine/commit_queue.h"

#include <thread>
#include <utility>

namespace tamis {

Status CommitQueue::commit(CommitRequest& request, GroupLeader& leader) {
  // Acquires what the previous leader wrote, group_ included; releases the request to the next one.
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
  constexpr int kLooks = 200;  // A few microseconds.
  for (int i = 0; i < kLooks; ++i) {
    // Pairs with the release stores in `leave`.
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

/// The group is done. Once the list is cut, another thread may lead and use group_. The rest follows the links, which
/// stay valid while the members of the group wait.
void CommitQueue::leave(CommitRequest& first) {
  CommitRequest& last = *group_.back();
  group_.clear();
  CommitRequest* follower = &last == &first ? nullptr : first.next.load(std::memory_order_relaxed);
  CommitRequest* const next_leader = cut_after(last);
  if (next_leader != nullptr) {  // First, and alone, so that it does not wait for the mutex.
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

/// With the mutex held. A waiter that spins may return as soon as its turn is set; one that sleeps needs the mutex.
void CommitQueue::give_turn(CommitRequest& request, CommitRequest::Turn turn) {
  Condition* const sleeps_on = request.sleeps_on;
  request.turn.store(turn, std::memory_order_release);
  if (sleeps_on != nullptr) sleeps_on->notify_one();
}

CommitQueue::Sleeps CommitQueue::sleeps() const {
  MutexLock lock(mutex_);
  return sleeps_;
}

/// The request after the group's last one; null if there is none: then the list is empty.
CommitRequest* CommitQueue::cut_after(CommitRequest& last) {
  CommitRequest* newest = &last;
  if (last_.compare_exchange_strong(newest, nullptr, std::memory_order_acq_rel)) return nullptr;
  CommitRequest* next = last.next.load(std::memory_order_acquire);
  while (next == nullptr) {  // It has arrived and is about to link itself.
    std::this_thread::yield();
    next = last.next.load(std::memory_order_acquire);
  }
  return next;
}

}  // namespace tamis
