// One part of the cache: a mutex and everything it guards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/sync.h"
#include "cache/cache_policy.h"
#include "cache/frame.h"
#include "cache/frame_index.h"

namespace tamis {

/// Counts since the start, and what is there now. `blocks_kept` is always `inserts` - `evictions` - `erased`.
struct CacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t inserts = 0;     ///< Blocks taken in.
  std::uint64_t duplicates = 0;  ///< Inserts that found the block there already, and returned that one.
  std::uint64_t bypasses = 0;    ///< Inserts that did not fit: the block was returned without being kept.
  std::uint64_t evictions = 0;   ///< Blocks that left for room.
  std::uint64_t erased = 0;      ///< Blocks that left with their table.
  std::uint64_t blocks_kept = 0;
  std::size_t bytes_used = 0;      ///< Charges of all blocks alive: kept, or pinned or retired after they left.
  std::size_t bytes_pinned = 0;    ///< Charges of the pinned ones, kept or not, and of the retired ones.
  std::size_t bytes_reserved = 0;  ///< Set aside for the policy's own memory.
  std::size_t capacity_bytes = 0;

  CacheStats& operator+=(const CacheStats& other);
  friend bool operator==(const CacheStats&, const CacheStats&) = default;
};

/// Finds, keeps and evicts the blocks whose hash leads here.
///
/// Invariants:
///  1. The charges of the blocks kept, plus what the policy reserves, are at most the capacity.
///  2. A block is kept only where it fits together with all that is pinned and no longer kept: pins eat into the
///     capacity. Only blocks that were returned without being kept, and pins held across a shrinking, go beyond it.
///     Together: bytes_used + bytes_reserved ≤ capacity_bytes + bytes_pinned.
///  3. A pinned frame is never freed, whatever happens to its block's place in the cache.
///  4. A frame that leaves is taken out of its slot first. It is freed, after the mutex is released, by the call that
///     unlinked it, or, if somebody may have found it in its slot, by a later one (rule 11).
///
/// Threads: any; one mutex, held for one lookup or one insert and its evictions, never while memory is read from disk.
class alignas(kCacheLineBytes) CacheShard {
 public:
  CacheShard(const CachePolicy& policy, std::size_t capacity_bytes);
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;
  /// Nothing may be pinned any more.
  ~CacheShard();

  /// Both return a frame with one more pin, for the caller to give back with `unpin`; `find` null where there is none.
  /// A frame that is kept is put into the slot, if there is one.
  [[nodiscard]] Frame* find(const BlockKey& key, std::uint64_t hash, BlockSlot* slot) EXCLUDES(mutex_);
  [[nodiscard]] Frame* insert(OwnedFrame fresh, BlockSlot* slot) EXCLUDES(mutex_);
  /// The same without keeping it.
  [[nodiscard]] Frame* hold(OwnedFrame fresh) EXCLUDES(mutex_);
  /// One more pin for a frame that has one.
  void pin_again(Frame& frame) EXCLUDES(mutex_);
  void unpin(Frame& frame) EXCLUDES(mutex_);
  /// The slot is about to end.
  void empty_slot(BlockSlot& slot) EXCLUDES(mutex_);

  /// Lets go of those of the blocks that are kept. Returns how many frames it looked at.
  std::size_t erase(std::span<const HashedKey> blocks) EXCLUDES(mutex_);
  void set_capacity(std::size_t bytes) EXCLUDES(mutex_);
  [[nodiscard]] CacheStats stats() const EXCLUDES(mutex_);

 private:
  void pin(Frame& frame) REQUIRES(mutex_);
  [[nodiscard]] bool could_fit(std::size_t charge_bytes) const REQUIRES(mutex_);
  void make_room(std::size_t charge_bytes) REQUIRES(mutex_);
  void keep(Frame& frame) REQUIRES(mutex_);
  void drop(Frame& frame) REQUIRES(mutex_);
  void fill_slot(Frame& frame, BlockSlot* slot) REQUIRES(mutex_);
  void retire(Frame& frame) REQUIRES(mutex_);
  /// Call it last: what this and earlier calls retired, as far as nobody can be looking at it.
  void free_retired(FrameChain& freed) REQUIRES(mutex_);

  mutable Mutex mutex_;
  FrameIndex index_ GUARDED_BY(mutex_);
  const std::unique_ptr<EvictionPolicy> policy_ TAMIS_THREAD_ANNOTATION(pt_guarded_by(mutex_));
  std::size_t room_bytes_ GUARDED_BY(mutex_) = 0;  // The capacity without the policy's reserve.
  /// `blocks_kept` and `bytes_reserved` are filled in by `stats`.
  CacheStats counts_ GUARDED_BY(mutex_);

  FrameChain retired_ GUARDED_BY(mutex_);
  std::size_t retired_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t retired_at_ GUARDED_BY(mutex_) = 0;  // The epoch of the latest; 0: not known yet.
};

}  // namespace tamis
