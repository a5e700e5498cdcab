// One part of the cache: a mutex and everything it guards.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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
  std::size_t bytes_used = 0;      ///< Charges of all blocks alive: kept, or pinned after they left.
  std::size_t bytes_pinned = 0;    ///< Charges of the pinned ones, kept or not.
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
///  4. Frames are freed after the mutex is released, before the call returns.
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
  [[nodiscard]] Frame* find(const BlockKey& key, std::uint64_t hash) EXCLUDES(mutex_);
  [[nodiscard]] Frame* insert(std::unique_ptr<Frame> fresh) EXCLUDES(mutex_);
  /// The same without keeping it.
  [[nodiscard]] Frame* hold(std::unique_ptr<Frame> fresh) EXCLUDES(mutex_);
  void unpin(Frame& frame) EXCLUDES(mutex_);

  void erase_table(std::uint64_t table) EXCLUDES(mutex_);
  void set_capacity(std::size_t bytes) EXCLUDES(mutex_);
  [[nodiscard]] CacheStats stats() const EXCLUDES(mutex_);

 private:
  void pin(Frame& frame) REQUIRES(mutex_);
  [[nodiscard]] bool could_fit(std::size_t charge_bytes) const REQUIRES(mutex_);
  void make_room(std::size_t charge_bytes, FrameChain& freed) REQUIRES(mutex_);
  void keep(Frame& frame) REQUIRES(mutex_);
  void drop(Frame& frame, FrameChain& freed) REQUIRES(mutex_);

  mutable Mutex mutex_;
  FrameIndex index_ GUARDED_BY(mutex_);
  const std::unique_ptr<EvictionPolicy> policy_ TAMIS_THREAD_ANNOTATION(pt_guarded_by(mutex_));
  std::size_t room_bytes_ GUARDED_BY(mutex_) = 0;  // The capacity without the policy's reserve.
  /// `blocks_kept` and `bytes_reserved` are filled in by `stats`.
  CacheStats counts_ GUARDED_BY(mutex_);
};

}  // namespace tamis
