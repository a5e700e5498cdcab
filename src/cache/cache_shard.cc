#include "cache/cache_shard.h"

#include <utility>

#include "base/check.h"
#include "base/epoch.h"

namespace tamis {

Frame* CacheShard::find(const BlockKey& key, std::uint64_t hash, BlockSlot* slot, BlockKind kind) {
  const MutexLock lock(mutex_);
  Frame* frame = slot == nullptr ? nullptr : slot->load(std::memory_order_relaxed);  // Changes only under the mutex.
  if (frame == nullptr) frame = index_.find(key, hash);
  if (frame == nullptr) {
    ++counts_.misses;
    if (kind == BlockKind::kIndex) ++counts_.index_misses;
    return nullptr;
  }
  ++counts_.hits;
  if (kind == BlockKind::kIndex) ++counts_.index_hits;
  frame->touch();
  pin(*frame);
  fill_slot(*frame, slot);
  return frame;
}

Frame* CacheShard::insert(OwnedFrame fresh, BlockSlot* slot, BlockOrigin origin) {
  FrameChain freed;
  const MutexLock lock(mutex_);
  if (Frame* first = index_.find(fresh->key, fresh->hash)) {
    ++counts_.duplicates;
    pin(*first);
    return first;
  }
  free_retired(freed);
  if (could_fit(fresh->charge_bytes)) {
    ++counts_.inserts;
    make_room(fresh->charge_bytes);
    keep(*fresh, origin);
    fill_slot(*fresh, slot);
  } else {
    ++counts_.bypasses;
  }
  counts_.bytes_used += fresh->charge_bytes;
  pin(*fresh);
  free_retired(freed);
  return fresh.release();
}

Frame* CacheShard::hold(OwnedFrame fresh) {
  const MutexLock lock(mutex_);
  counts_.bytes_used += fresh->charge_bytes;
  pin(*fresh);
  return fresh.release();
}

void CacheShard::pin_again(Frame& frame) {
  const MutexLock lock(mutex_);
  TAMIS_INVARIANT(frame.pins > 0);
  pin(frame);
}

void CacheShard::unpin(Frame& frame) {
  FrameChain freed;
  const MutexLock lock(mutex_);
  TAMIS_INVARIANT(frame.pins > 0);
  if (--frame.pins > 0) return;
  counts_.bytes_pinned -= frame.charge_bytes;
  if (frame.is_kept) return;
  retire(frame);
  free_retired(freed);
}

void CacheShard::empty_slot(BlockSlot& slot) {
  const MutexLock lock(mutex_);
  if (Frame* frame = slot.exchange(nullptr)) frame->slot = nullptr;
}

std::size_t CacheShard::erase(std::span<const HashedKey> blocks) {
  FrameChain freed;
  const MutexLock lock(mutex_);
  std::size_t looked_at = 0;
  for (const HashedKey& block : blocks) {
    Frame* const frame = index_.take(block.key, block.hash, looked_at);
    if (frame == nullptr) continue;
    policy_.remove(*frame);
    ++counts_.erased;
    drop(*frame);
  }
  free_retired(freed);
  return looked_at;
}

void CacheShard::set_capacity(std::size_t bytes) {
  FrameChain freed;
  const MutexLock lock(mutex_);
  policy_.set_capacity(bytes);
  TAMIS_CHECK(policy_.reserved_bytes() <= bytes);
  counts_.capacity_bytes = bytes;
  room_bytes_ = bytes - policy_.reserved_bytes();
  make_room(0);
  free_retired(freed);
}

CacheStats CacheShard::stats() const {
  const MutexLock lock(mutex_);
  CacheStats stats = counts_;
  stats.blocks_kept = index_.size();
  stats.bytes_reserved = policy_.reserved_bytes();
  return stats;
}

CacheShard::CacheShard(std::size_t capacity_bytes) { set_capacity(capacity_bytes); }

CacheShard::~CacheShard() {
  set_capacity(0);
  FrameChain freed;
  const MutexLock lock(mutex_);
  if (!retired_.empty()) epoch::wait(retired_at_);  // Somebody is reading another cache's block.
  free_retired(freed);
  TAMIS_CHECK(counts_.bytes_used == 0);
}

void CacheShard::pin(Frame& frame) {
  if (frame.pins++ == 0) counts_.bytes_pinned += frame.charge_bytes;
}

/// Evicting a pinned block frees nothing, so only pins can prevent a fit. Checked first, so that no block is evicted
/// for one that cannot stay.
bool CacheShard::could_fit(std::size_t charge_bytes) const {
  return charge_bytes <= room_bytes_ && counts_.bytes_pinned <= room_bytes_ - charge_bytes;
}

/// Evicts until there is space or nothing is left to evict: the latter only if the pinned blocks alone leave no space.
/// Retired frames will be freed anyway, so they cause no further eviction.
void CacheShard::make_room(std::size_t charge_bytes) {
  while (counts_.bytes_used - retired_bytes_ > room_bytes_ - charge_bytes) {
    Frame* victim = policy_.evict();
    if (victim == nullptr) return;
    index_.remove(*victim);
    ++counts_.evictions;
    drop(*victim);
  }
}

void CacheShard::keep(Frame& frame, BlockOrigin origin) {
  frame.is_kept = true;
  index_.insert(frame);
  if (origin == BlockOrigin::kRequested) {
    policy_.add(frame);
  } else {
    policy_.add_proven(frame);
  }
}

/// For a frame that has left the index and the policy.
void CacheShard::drop(Frame& frame) {
  frame.is_kept = false;
  if (BlockSlot* slot = std::exchange(frame.slot, nullptr)) slot->store(nullptr);
  if (frame.pins == 0) retire(frame);
}

/// A slot has one frame, and a frame one slot.
void CacheShard::fill_slot(Frame& frame, BlockSlot* slot) {
  if (slot == nullptr || frame.slot != nullptr) return;
  TAMIS_INVARIANT(slot->load() == nullptr);
  frame.slot = slot;
  slot->store(&frame);
}

void CacheShard::retire(Frame& frame) {
  retired_.push(&frame);
  retired_bytes_ += frame.charge_bytes;
  counts_.bytes_pinned += frame.charge_bytes;
  retired_at_ = 0;
}

void CacheShard::free_retired(FrameChain& freed) {
  if (retired_.empty()) return;
  if (retired_at_ == 0) retired_at_ = epoch::retire();
  if (!epoch::has_passed(retired_at_)) return;
  while (Frame* frame = retired_.pop()) freed.push(frame);
  counts_.bytes_used -= retired_bytes_;
  counts_.bytes_pinned -= retired_bytes_;
  retired_bytes_ = 0;
}

CacheStats& CacheStats::operator+=(const CacheStats& other) {
  hits += other.hits;
  misses += other.misses;
  index_hits += other.index_hits;
  index_misses += other.index_misses;
  inserts += other.inserts;
  duplicates += other.duplicates;
  bypasses += other.bypasses;
  evictions += other.evictions;
  erased += other.erased;
  blocks_kept += other.blocks_kept;
  bytes_used += other.bytes_used;
  bytes_pinned += other.bytes_pinned;
  bytes_reserved += other.bytes_reserved;
  capacity_bytes += other.capacity_bytes;
  return *this;
}

}  // namespace tamis
