// One part of the cache: a mutex and everything it guards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/sync.h"
#include "cache/frame.h"
#include "cache/frame_index.h"
#include "cache/s3fifo.h"

namespace tamis {

/// Counters since the start, and the current state. Always `blocks_kept` = `inserts` - `evictions` - `erased`.
struct CacheStats {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t index_hits = 0;  ///< Of the hits, those of BlockKind::kIndex.
  std::uint64_t index_misses = 0;
  std::uint64_t inserts = 0;     ///< Blocks inserted.
  std::uint64_t duplicates = 0;  ///< Inserts that found the block already present and returned it.
  std::uint64_t bypasses = 0;    ///< Inserts that did not fit: the block was returned but not kept.
  std::uint64_t evictions = 0;   ///< Blocks evicted to make space.
  std::uint64_t erased = 0;      ///< Blocks removed with their table.
  std::uint64_t blocks_kept = 0;
  std::size_t bytes_used = 0;      ///< Charges of all live blocks: kept, or pinned or retired after leaving.
  std::size_t bytes_pinned = 0;    ///< Charges of pinned blocks, kept or not, and of retired ones.
  std::size_t bytes_reserved = 0;  ///< Reserved for the policy's own memory.
  std::size_t capacity_bytes = 0;

  CacheStats& operator+=(const CacheStats& other);
  friend bool operator==(const CacheStats&, const CacheStats&) = default;
};

/// Finds, keeps and evicts the blocks whose hash maps to this shard.
///
/// Invariants:
///  1. The charges of kept blocks plus the policy's reserve are at most the capacity.
///  2. A block is kept only if it fits together with all pinned blocks that are no longer kept: pins use up capacity.
///     Only blocks returned without being kept, and pins held while the capacity shrinks, exceed it.
///     Together: bytes_used + bytes_reserved ≤ capacity_bytes + bytes_pinned.
///  3. A pinned frame is never freed, even if its block leaves the cache.
///  4. A frame that leaves is removed from its slot first. It is freed, after the mutex is released, by the call that
///     unlinked it or, if somebody may have found it in its slot, by a later call (rule 11).
///
/// Threads: any; one mutex, held for one lookup or one insert with its evictions, never during disk reads.
class alignas(kCacheLineBytes) CacheShard {
 public:
  explicit CacheShard(std::size_t capacity_bytes);
  CacheShard(const CacheShard&) = delete;
  CacheShard& operator=(const CacheShard&) = delete;
  /// Nothing may be pinned any more.
  ~CacheShard();

  /// Both return a frame with one more pin, which the caller releases with `unpin`; `find` returns null on a miss. A
  /// kept frame is stored in the slot, if there is one.
  [[nodiscard]] Frame* find(const BlockKey& key, std::uint64_t hash, BlockSlot* slot, BlockKind kind) EXCLUDES(mutex_);
  [[nodiscard]] Frame* insert(OwnedFrame fresh, BlockSlot* slot, BlockOrigin origin) EXCLUDES(mutex_);
  /// The same without keeping it.
  [[nodiscard]] Frame* hold(OwnedFrame fresh) EXCLUDES(mutex_);
  /// One more pin for a frame that has one.
  void pin_again(Frame& frame) EXCLUDES(mutex_);
  void unpin(Frame& frame) EXCLUDES(mutex_);
  /// The slot is about to be destroyed.
  void empty_slot(BlockSlot& slot) EXCLUDES(mutex_);

  /// Drops those of the blocks that are kept. Returns how many frames it examined.
  std::size_t erase(std::span<const HashedKey> blocks) EXCLUDES(mutex_);
  void set_capacity(std::size_t bytes) EXCLUDES(mutex_);
  [[nodiscard]] CacheStats stats() const EXCLUDES(mutex_);

 private:
  void pin(Frame& frame) REQUIRES(mutex_);
  [[nodiscard]] bool could_fit(std::size_t charge_bytes) const REQUIRES(mutex_);
  void make_room(std::size_t charge_bytes) REQUIRES(mutex_);
  void keep(Frame& frame, BlockOrigin origin) REQUIRES(mutex_);
  void drop(Frame& frame) REQUIRES(mutex_);
  void fill_slot(Frame& frame, BlockSlot* slot) REQUIRES(mutex_);
  void retire(Frame& frame) REQUIRES(mutex_);
  /// Call it last: frees what this and earlier calls retired, unless somebody may still read it.
  void free_retired(FrameChain& freed) REQUIRES(mutex_);

  mutable Mutex mutex_;
  FrameIndex index_ GUARDED_BY(mutex_);
  S3Fifo policy_ GUARDED_BY(mutex_);
  std::size_t room_bytes_ GUARDED_BY(mutex_) = 0;  // The capacity without the policy's reserve.
  /// `stats` fills in `blocks_kept` and `bytes_reserved`.
  CacheStats counts_ GUARDED_BY(mutex_);

  FrameChain retired_ GUARDED_BY(mutex_);
  std::size_t retired_bytes_ GUARDED_BY(mutex_) = 0;
  std::uint64_t retired_at_ GUARDED_BY(mutex_) = 0;  // The epoch of the latest; 0: not known yet.
};

}  // namespace tamis
