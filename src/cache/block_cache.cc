#include "cache/block_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <thread>

#include "base/slot_memory.h"

namespace tamis {
namespace {

constexpr std::size_t kMaxShards = 256;                       // shard_of has 8 bits.
constexpr std::size_t kMinShardBytes = std::size_t{4} << 20;  // A thousand blocks: enough to tell hot from cold.

std::size_t choose_shards(std::size_t capacity_bytes) {
  const std::size_t by_threads = 8 * std::max<std::size_t>(std::thread::hardware_concurrency(), 1);
  const std::size_t by_bytes = std::max<std::size_t>(capacity_bytes / kMinShardBytes, 1);
  return std::bit_floor(std::min({by_threads, by_bytes, kMaxShards}));
}

/// The shares of all shards add up to the capacity.
std::size_t share_of(std::size_t capacity_bytes, std::size_t shard, std::size_t shards) {
  return capacity_bytes / shards + (shard < capacity_bytes % shards ? 1 : 0);
}

}  // namespace

PinnedBlock BlockCache::find(const BlockKey& key, BlockSlot* slot, BlockKind kind) {
  const std::uint64_t hash = hash_of(key);
  return PinnedBlock(shard_for(hash).find(key, hash, slot, kind));
}

PinnedBlock BlockCache::insert(const BlockKey& key, BlockBuffer block, std::size_t charge_bytes, BlockSlot* slot,
                               BlockOrigin origin) {
  const std::uint64_t hash = hash_of(key);
  CacheShard& shard = shard_for(hash);
  OwnedFrame frame(Frame::make(shard, key, hash, std::move(block), charge_bytes + kFrameOverheadBytes));
  return PinnedBlock(shard.insert(std::move(frame), slot, origin));
}

PinnedBlock BlockCache::hold(const BlockKey& key, BlockBuffer block, std::size_t charge_bytes) {
  const std::uint64_t hash = hash_of(key);
  CacheShard& shard = shard_for(hash);
  OwnedFrame frame(Frame::make(shard, key, hash, std::move(block), charge_bytes + kFrameOverheadBytes));
  return PinnedBlock(shard.hold(std::move(frame)));
}

void BlockCache::empty_slot(const BlockKey& key, BlockSlot& slot) {
  // The acquire sees a concurrent emptying complete, so the slot may be destroyed.
  if (slot.load(std::memory_order_acquire) != nullptr) shard_for(hash_of(key)).empty_slot(slot);
}

std::size_t BlockCache::erase_table(std::uint64_t table, std::uint64_t blocks) {
  constexpr std::uint64_t kErasedAtOnce = 1024;  // Spread over the shards; some microseconds under the mutex of each.
  std::size_t looked_at = 0;
  std::vector<std::vector<HashedKey>> by_shard(shards_.size());
  for (std::uint32_t block = 0; block < blocks;) {
    const std::uint64_t end = block + std::min(kErasedAtOnce, blocks - block);
    for (; block < end; ++block) {
      const BlockKey key{table, block};
      by_shard[shard_of(hash_of(key), shards_.size())].push_back({key, hash_of(key)});
    }
    for (std::size_t i = 0; i < shards_.size(); ++i) {
      if (!by_shard[i].empty()) looked_at += shards_[i]->erase(by_shard[i]);
      by_shard[i].clear();
    }
  }
  return looked_at;
}

void BlockCache::set_capacity(std::size_t bytes) {
  const MutexLock lock(capacity_mutex_);
  for (std::size_t i = 0; i < shards_.size(); ++i) shards_[i]->set_capacity(share_of(bytes, i, shards_.size()));
  SlotMemory::change_allowance(capacity_bytes_, bytes);
  capacity_bytes_ = bytes;
}

CacheStats BlockCache::stats() const {
  CacheStats sum;
  for (const auto& shard : shards_) sum += shard->stats();
  return sum;
}

Result<std::unique_ptr<BlockCache>> BlockCache::make(const BlockCacheOptions& options) {
  const std::size_t shards = options.shards == 0 ? choose_shards(options.capacity_bytes) : options.shards;
  if (!std::has_single_bit(shards) || shards > kMaxShards) {
    return Status::invalid_argument(
        fmt::format("cache shards: {} is not a power of two from 1 to {}", options.shards, kMaxShards));
  }
  return std::unique_ptr<BlockCache>(new BlockCache(shards, options.capacity_bytes));
}

BlockCache::BlockCache(std::size_t shards, std::size_t capacity_bytes) : capacity_bytes_(capacity_bytes) {
  shards_.reserve(shards);
  for (std::size_t i = 0; i < shards; ++i) {
    shards_.push_back(std::make_unique<CacheShard>(share_of(capacity_bytes, i, shards)));
  }
  SlotMemory::change_allowance(0, capacity_bytes);
}

BlockCache::~BlockCache() {
  shards_.clear();
  const MutexLock lock(capacity_mutex_);
  SlotMemory::change_allowance(capacity_bytes_, 0);
}

}  // namespace tamis
