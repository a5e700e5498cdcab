#include "cache/ghost_queue.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace tamis {
namespace {

constexpr std::size_t kMinSlots = 64;

}  // namespace

void GhostQueue::set_limits(std::size_t most_ghosts, std::uint64_t limit_bytes) {
  most_ghosts_ = most_ghosts;
  limit_bytes_ = limit_bytes;
  while (end_ - oldest_ > most_ghosts_) forget_oldest();
  forget_beyond_limit();
  if (ring_.size() > most_ghosts_) rebuild(most_ghosts_);
}

void GhostQueue::push(std::uint32_t fingerprint, std::uint64_t charge_bytes) {
  if (most_ghosts_ == 0) return;
  take(fingerprint);
  if (end_ - oldest_ == most_ghosts_) forget_oldest();
  if (end_ - oldest_ == ring_.size()) rebuild(std::min(std::max(ring_.size() * 2, kMinSlots), most_ghosts_));
  constexpr std::uint64_t kMaxBytes = std::numeric_limits<std::uint32_t>::max();
  const auto charge = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(charge_bytes, 1, kMaxBytes));
  at(end_) = {fingerprint, charge, 0};
  link(end_++);
  bytes_ += charge;
  forget_beyond_limit();
}

bool GhostQueue::take(std::uint32_t fingerprint) {
  if (ring_.empty()) return false;
  std::uint32_t* next = &heads_[fingerprint & (heads_.size() - 1)];
  while (*next != 0) {
    Ghost& ghost = ring_[*next - 1];
    if (ghost.fingerprint == fingerprint) {
      *next = ghost.next;
      bytes_ -= std::exchange(ghost.charge_bytes, 0);
      return true;
    }
    next = &ghost.next;
  }
  return false;
}

void GhostQueue::link(std::uint64_t position) {
  Ghost& ghost = at(position);
  const auto slot = static_cast<std::uint32_t>(position & (ring_.size() - 1));
  ghost.next = std::exchange(heads_[ghost.fingerprint & (heads_.size() - 1)], slot + 1);
}

void GhostQueue::forget_oldest() {
  const Ghost& ghost = at(oldest_);
  if (ghost.charge_bytes != 0) take(ghost.fingerprint);
  ++oldest_;
}

void GhostQueue::forget_beyond_limit() {
  while (bytes_ > limit_bytes_) forget_oldest();
}

/// Every ghost keeps its position, so that taken ones still count as pushed.
void GhostQueue::rebuild(std::size_t slots) {
  std::vector<Ghost> old = std::exchange(ring_, std::vector<Ghost>(slots));
  heads_ = std::vector<std::uint32_t>(slots);
  for (std::uint64_t position = oldest_; position < end_; ++position) {
    at(position) = old[position & (old.size() - 1)];
    if (at(position).charge_bytes != 0) link(position);
  }
}

}  // namespace tamis
