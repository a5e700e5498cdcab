#include "engine/commit_queue.h"

#include <thread>
#include <utility>

#include "base/futex.h"
#include "base/sync.h"

namespace tamis {
namespace {

constexpr int kLooks = 200;  // A few microseconds.
/// So that waiting for writers that do not come back costs little.
constexpr std::uint32_t kSkipsAfterVain = 8;

}  // namespace

Status CommitQueue::commit(CommitRequest& request, GroupLeader& leader) {
  if (request.sync) count_arrival();
  // Acquires what the previous leader wrote, group_ included; releases the request to the next one.
  CommitRequest* const before = last_.exchange(&request, std::memory_order_acq_rel);
  if (before != nullptr) before->next.store(&request, std::memory_order_release);
  if (before != nullptr && wait_for_turn(request) == CommitRequest::Turn::kDone) return std::move(request.status);
  form_group(request);
  if (!request.sync) {
    leader.lead(group_);
  } else {
    const Clock::time_point begin = Clock::now();
    leader.lead(group_);
    sync_time_ = Clock::now() - begin;
  }
  leave(request);
  return std::move(request.status);
}

CommitRequest::Turn CommitQueue::wait_for_turn(CommitRequest& request) {
  using Turn = CommitRequest::Turn;
  Turn turn = Turn::kWaits;
  for (int i = 0; i < kLooks; ++i) {
    // Pairs with the exchange in `give_turn`.
    turn = request.turn.load(std::memory_order_acquire);
    if (turn != Turn::kWaits) return turn;
    pause_briefly();
  }
  if (!request.turn.compare_exchange_strong(turn, Turn::kSleeps, std::memory_order_acquire)) return turn;
  sleeps_begun_.fetch_add(1, std::memory_order_relaxed);
  for (turn = Turn::kSleeps; turn == Turn::kSleeps; turn = request.turn.load(std::memory_order_acquire)) {
    sleep_while(request.turn, Turn::kSleeps);
    sleeps_interrupted_.fetch_add(1, std::memory_order_relaxed);
  }
  return turn;
}

/// Wakes a leader that waits for this one as the last. Sequentially consistent, as the leader is: either it sees this
/// arrival, or it is seen to wait.
void CommitQueue::count_arrival() {
  if (arrivals_.fetch_add(1) + 1 == awaited_.load()) wake_sleeper(&arrivals_);
}

void CommitQueue::form_group(CommitRequest& first) {
  group_.push_back(&first);
  synced_ = first.sync ? 1 : 0;
  if (first.kind != CommitRequest::Kind::kWrite) return;
  std::size_t bytes = first.changes.byte_size();
  if (take_along(bytes) && first.sync && synced_ < expected_) gather(bytes);
}

/// Adds those that are there. False: the group can take no more.
bool CommitQueue::take_along(std::size_t& bytes) {
  for (CommitRequest* request = group_.back()->next.load(std::memory_order_acquire); request != nullptr;
       request = request->next.load(std::memory_order_acquire)) {
    if (request->kind != CommitRequest::Kind::kWrite) return false;
    bytes += request->changes.byte_size();
    if (bytes > kGroupBytes) return false;
    group_.push_back(request);
    synced_ += request->sync ? 1 : 0;
  }
  return true;
}

void CommitQueue::gather(std::size_t& bytes) {
  if (skips_ > 0) {
    --skips_;
    return;
  }
  gatherings_begun_.fetch_add(1, std::memory_order_relaxed);
  const std::uint32_t before = synced_;
  const auto share = std::chrono::duration<double, Clock::period>(sync_time_) * patience_.share_of_sync;
  const Clock::time_point end =
      Clock::now() + (share < patience_.most ? std::chrono::duration_cast<Clock::duration>(share) : patience_.most);
  awaited_.store(served_ + expected_);
  do {
    wait_for_arrivals(end);
    // One that is counted, or one before it, may be about to link itself.
  } while (take_along(bytes) && synced_ < expected_ && Clock::now() < end);
  if (synced_ > before) return;
  gatherings_vain_.fetch_add(1, std::memory_order_relaxed);
  skips_ = kSkipsAfterVain;
}

void CommitQueue::wait_for_arrivals(Clock::time_point end) {
  for (int i = 0; i < kLooks && arrivals_.load() - served_ < expected_; ++i) pause_briefly();
  for (std::uint32_t seen = arrivals_.load(); seen - served_ < expected_; seen = arrivals_.load()) {
    const Clock::duration left = end - Clock::now();
    if (left <= Clock::duration::zero()) return;
    sleep_while(arrivals_, seen, left);
  }
}

/// The group is done. Once the list is cut, another thread may lead and use group_. The rest follows the links, which
/// stay valid while the members of the group wait.
void CommitQueue::leave(CommitRequest& first) {
  CommitRequest& last = *group_.back();
  if (synced_ > 0) {  // The members of this group may come back while those behind it wait.
    expected_ = arrivals_.load(std::memory_order_relaxed) - served_;
    served_ += synced_;
  }
  group_.clear();
  CommitRequest* follower = &last == &first ? nullptr : first.next.load(std::memory_order_relaxed);
  CommitRequest* const next_leader = cut_after(last);
  if (next_leader != nullptr) give_turn(*next_leader, CommitRequest::Turn::kLeads);
  while (follower != nullptr) {
    CommitRequest* const after = follower == &last ? nullptr : follower->next.load(std::memory_order_relaxed);
    give_turn(*follower, CommitRequest::Turn::kDone);
    follower = after;
  }
}

/// The waiter may return, and its request be gone, as soon as its turn is set.
void CommitQueue::give_turn(CommitRequest& request, CommitRequest::Turn turn) {
  const std::atomic<CommitRequest::Turn>* const sleeps_on = &request.turn;
  if (request.turn.exchange(turn, std::memory_order_acq_rel) == CommitRequest::Turn::kSleeps) wake_sleeper(sleeps_on);
}

CommitQueue::Sleeps CommitQueue::sleeps() const {
  return {.begun = sleeps_begun_.load(std::memory_order_relaxed),
          .interrupted = sleeps_interrupted_.load(std::memory_order_relaxed)};
}

CommitQueue::Gatherings CommitQueue::gatherings() const {
  return {.begun = gatherings_begun_.load(std::memory_order_relaxed),
          .vain = gatherings_vain_.load(std::memory_order_relaxed)};
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
