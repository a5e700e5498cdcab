// Keeps recently used blocks within a byte budget.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sync.h"
#include "cache/cache_shard.h"
#include "cache/frame.h"
#include "tamis/status.h"

namespace tamis {

/// A handle to a block, which stays valid for the handle's lifetime, evicted or not. Empty after a miss or a move. Must
/// not outlive the cache.
///
/// Threads: one handle belongs to one thread at a time; the bytes may be read by any.
class PinnedBlock {
 public:
  PinnedBlock() = default;
  /// Takes over a pin.
  explicit PinnedBlock(Frame* frame) : frame_(frame) {}
  PinnedBlock(PinnedBlock&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  PinnedBlock& operator=(PinnedBlock&& other) noexcept {
    std::swap(frame_, other.frame_);
    other.reset();
    return *this;
  }
  ~PinnedBlock() { reset(); }

  [[nodiscard]] explicit operator bool() const { return frame_ != nullptr; }
  [[nodiscard]] const BlockKey& key() const { return frame_->key; }
  [[nodiscard]] Bytes bytes() const { return frame_->bytes(); }
  /// Another handle to the same block. Not of an empty one.
  [[nodiscard]] PinnedBlock share() const {
    frame_->shard.pin_again(*frame_);
    return PinnedBlock(frame_);
  }

  void reset() {
    if (Frame* frame = std::exchange(frame_, nullptr)) frame->shard.unpin(*frame);
  }

 private:
  Frame* frame_ = nullptr;
};

struct BlockCacheOptions {
  std::size_t capacity_bytes = 0;
  /// A power of two up to 256, or 0 for automatic: eight per hardware thread, but no shard below 4 MiB.
  std::size_t shards = 0;
};

/// Blocks by (table, block number), as many as fit the capacity, which includes bookkeeping.
///
///     PinnedBlock block = cache.find(key);
///     if (!block) block = cache.insert(key, read_block(key), bytes);   // May return another thread's block.
///     use(block.bytes());
///
/// Blocks are spread over shards by hash. Each shard has an equal share of the capacity and its own mutex; CacheShard's
/// invariants hold for the sum.
///
/// Invariants:
///  1. The capacity is exceeded at most by what is pinned: bytes_used + bytes_reserved ≤ capacity_bytes + bytes_pinned.
///  2. A block never changes, and all concurrent callers see the same bytes.
///  3. A block larger than its shard's share is returned, but not kept. A capacity of 0 keeps nothing.
///
/// Threads: any.
class BlockCache {
 public:
  /// kInvalidArgument for a number of shards out of range.
  static Result<std::unique_ptr<BlockCache>> make(const BlockCacheOptions& options);
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;
  ~BlockCache();

  /// Empty on a miss. A table that has one BlockSlot per block, and passes it with every call for the block, finds the
  /// block in the slot next time, without a call, while it is kept. Only inside an EpochGuard (rule 11).
  [[nodiscard]] PinnedBlock find(const BlockKey& key, BlockSlot* slot = nullptr, BlockKind kind = BlockKind::kData);
  /// Keeps the block if it fits, and returns it either way; if the key was already present, returns that block.
  /// `charge_bytes` is the memory the block holds; the cache's overhead is added here.
  [[nodiscard]] PinnedBlock insert(const BlockKey& key, BlockBuffer block, std::size_t charge_bytes,
                                   BlockSlot* slot = nullptr, BlockOrigin origin = BlockOrigin::kRequested);
  /// A handle to a block that is not kept: it counts as used and pinned during the handle's lifetime, and find does not
  /// return it.
  [[nodiscard]] PinnedBlock hold(const BlockKey& key, BlockBuffer block, std::size_t charge_bytes);

  /// Call before a slot of this block is destroyed.
  void empty_slot(const BlockKey& key, BlockSlot& slot);

  /// Drops all blocks of a table that will not be read again; one that a late reader inserts afterwards ages out. Looks
  /// up the table's blocks, some at a time, so other tables' blocks cost nothing and nobody waits long. Returns how
  /// many frames it examined.
  std::size_t erase_table(std::uint64_t table, std::uint64_t blocks);
  /// Blocks that no longer fit are gone on return.
  void set_capacity(std::size_t bytes) EXCLUDES(capacity_mutex_);

  /// Each shard's counts are of one moment; different shards may differ.
  [[nodiscard]] CacheStats stats() const;
  [[nodiscard]] static std::string_view policy() { return "s3fifo"; }
  [[nodiscard]] std::size_t shards() const { return shards_.size(); }

 private:
  BlockCache(std::size_t shards, std::size_t capacity_bytes);
  [[nodiscard]] CacheShard& shard_for(std::uint64_t hash) { return *shards_[shard_of(hash, shards_.size())]; }

  std::vector<std::unique_ptr<CacheShard>> shards_;  // Constant after construction.
  Mutex capacity_mutex_;                             // Serialises changes; taken before the shards' mutexes.
  std::size_t capacity_bytes_ GUARDED_BY(capacity_mutex_);
};

}  // namespace tamis
