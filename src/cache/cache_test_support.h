// Blocks whose bytes follow from their key, and what must hold for any idle cache.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/check.h"
#include "cache/block_cache.h"

namespace tamis {

inline std::unique_ptr<BlockCache> make_cache(std::size_t capacity_bytes, std::size_t shards = 1) {
  auto cache = BlockCache::make({.capacity_bytes = capacity_bytes, .shards = shards});
  TAMIS_CHECK(cache.ok());
  return *std::move(cache);
}

/// Every byte depends on the key and its offset.
inline BlockBuffer make_block(const BlockKey& key, std::size_t size) {
  BlockBuffer block = BlockBuffer::unset(size);
  for (std::size_t i = 0; i < size; i += sizeof(std::uint64_t)) {
    const std::uint64_t word = remix(hash_of(key) + i);
    std::memcpy(block.data() + i, &word, std::min(sizeof word, size - i));
  }
  return block;
}

inline bool is_block_of(const BlockKey& key, Bytes bytes) {
  const BlockBuffer expected = make_block(key, bytes.size());
  return bytes.empty() || std::memcmp(bytes.data(), expected.data(), bytes.size()) == 0;
}

inline PinnedBlock insert(BlockCache& cache, const BlockKey& key, std::size_t size) {
  return cache.insert(key, make_block(key, size), size);
}

/// Whether it was a hit; afterwards the block is cached if it can be kept.
inline bool request(BlockCache& cache, const BlockKey& key, std::size_t size) {
  if (cache.find(key)) return true;
  (void)insert(cache, key, size);
  return false;
}

/// The documented invariants, for a cache that no other thread uses.
inline bool adds_up(const CacheStats& stats) {
  return stats.bytes_used + stats.bytes_reserved <= stats.capacity_bytes + stats.bytes_pinned &&
         stats.bytes_pinned <= stats.bytes_used && stats.blocks_kept == stats.inserts - stats.evictions - stats.erased;
}

}  // namespace tamis
