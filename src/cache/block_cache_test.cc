// The contract of the cache.
#include "cache/block_cache.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <deque>
#include <fstream>
#include <limits>
#include <random>

#include "base/sanitizer.h"
#include "base/slot_memory.h"
#include "cache/cache_test_support.h"

namespace tamis {
namespace {

constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kCharge = kBlockBytes + kFrameOverheadBytes;
constexpr std::size_t kMebibyte = std::size_t{1} << 20;

TEST(CacheContract, FindsWhatWasInsertedAndNothingElse) {
  const auto cache = make_cache(kMebibyte, 4);
  EXPECT_FALSE(cache->find({1, 7}));
  EXPECT_TRUE(is_block_of({1, 7}, insert(*cache, {1, 7}, kBlockBytes).bytes()));
  const PinnedBlock found = cache->find({1, 7});
  ASSERT_TRUE(found);
  EXPECT_EQ(found.key(), (BlockKey{1, 7}));
  EXPECT_EQ(found.bytes().size(), kBlockBytes);
  EXPECT_TRUE(is_block_of({1, 7}, found.bytes()));
  EXPECT_FALSE(cache->find({1, 8}));
  EXPECT_FALSE(cache->find({7, 1}));
}

TEST(CacheContract, CountsHitsAndMissesByKind) {
  const auto cache = make_cache(kMebibyte, 4);
  (void)insert(*cache, {1, 7}, kBlockBytes);
  for (int i = 0; i < 3; ++i) (void)cache->find({1, 7});
  for (int i = 0; i < 5; ++i) (void)cache->find({1, 7}, nullptr, BlockKind::kIndex);
  for (int i = 0; i < 7; ++i) (void)cache->find({1, 8});
  for (int i = 0; i < 11; ++i) (void)cache->find({1, 9}, nullptr, BlockKind::kIndex);
  const CacheStats stats = cache->stats();
  EXPECT_EQ(stats.hits, 8U);
  EXPECT_EQ(stats.index_hits, 5U);
  EXPECT_EQ(stats.misses, 18U);
  EXPECT_EQ(stats.index_misses, 11U);
}

TEST(CacheContract, StaysWithinItsCapacityUnderRandomSizesAndPins) {
  for (const std::size_t shards : {1U, 4U}) {
    const auto cache = make_cache(kMebibyte, shards);
    std::mt19937_64 random(11 + shards);
    std::deque<PinnedBlock> pins;
    for (int i = 0; i < 40'000; ++i) {
      const BlockKey key{random() % 7, static_cast<std::uint32_t>(random() % 300)};
      const std::size_t size = random() % 64 == 0 ? random() % (2 * kMebibyte) : random() % (2 * kBlockBytes);
      PinnedBlock block = cache->find(key);
      if (!block) block = cache->insert(key, make_block(key, std::min<std::size_t>(size, 64)), size);
      if (random() % 8 == 0) pins.push_back(std::move(block));
      while (pins.size() > random() % 200) pins.pop_front();
      block.reset();
      if (random() % 1000 == 0) cache->erase_table(random() % 7, 300);
      if (random() % 1000 == 0) cache->set_capacity(random() % (2 * kMebibyte));
      ASSERT_TRUE(adds_up(cache->stats())) << i;
    }
    for (const PinnedBlock& pin : pins) EXPECT_TRUE(is_block_of(pin.key(), pin.bytes()));
    pins.clear();
    EXPECT_EQ(cache->stats().bytes_pinned, 0U);
    EXPECT_LE(cache->stats().bytes_used, cache->stats().capacity_bytes);
    EXPECT_GT(cache->stats().evictions, 0U);
    EXPECT_GT(cache->stats().erased, 0U);
  }
}

TEST(CacheContract, FillsItsCapacity) {
  const auto cache = make_cache(kMebibyte);
  for (std::uint32_t i = 0; i < 2000; ++i) request(*cache, {1, i}, kBlockBytes);
  const CacheStats stats = cache->stats();
  EXPECT_GT(stats.bytes_used + stats.bytes_reserved + kCharge, stats.capacity_bytes);
  EXPECT_EQ(stats.blocks_kept * kCharge, stats.bytes_used);
}

/// Resident anonymous pages.
std::size_t private_bytes() {
  std::size_t total = 0;
  std::size_t resident = 0;
  std::size_t shared = 0;
  std::ifstream("/proc/self/statm") >> total >> resident >> shared;
  return (resident - shared) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

TEST(CacheContract, ChargesAtLeastTheMemoryItTakes) {
  if (kWatchesMemory) GTEST_SKIP() << "a sanitizer's malloc takes more";
  for (const std::size_t size : {std::size_t{192}, kBlockBytes}) {
    const std::size_t before = private_bytes();
    const auto cache = make_cache(32 * kMebibyte, 2);
    for (std::uint32_t i = 0; i < 200'000; ++i) (void)insert(*cache, {1, i}, size);
    ASSERT_GT(cache->stats().evictions, 0U);
    EXPECT_LE(private_bytes(), before + cache->stats().capacity_bytes + 2 * kMebibyte) << size;
  }
}

TEST(CacheContract, Rule11_EvictedPinnedBlocksRemainReadableAndCharged) {
  const auto cache = make_cache(16 * kCharge);
  PinnedBlock pinned = insert(*cache, {1, 0}, kBlockBytes);
  for (std::uint32_t i = 1; i < 100; ++i) request(*cache, {2, i}, kBlockBytes);
  EXPECT_FALSE(cache->find({1, 0}));
  EXPECT_TRUE(is_block_of({1, 0}, pinned.bytes()));
  const CacheStats stats = cache->stats();
  EXPECT_EQ(stats.bytes_pinned, kCharge);
  EXPECT_EQ(stats.bytes_used, (stats.blocks_kept + 1) * kCharge);
  EXPECT_LE(stats.bytes_used, stats.capacity_bytes) << "a pin eats into the capacity";

  const PinnedBlock again = insert(*cache, {1, 0}, kBlockBytes);
  EXPECT_NE(again.bytes().data(), pinned.bytes().data());
  pinned.reset();
  EXPECT_EQ(cache->stats().bytes_pinned, kCharge);
}

TEST(CacheContract, WhatIsPinnedIsNotEvictedForABlockThatCannotFitBesideIt) {
  const auto cache = make_cache(8 * kCharge);
  std::deque<PinnedBlock> pins;
  for (std::uint32_t i = 0; i < 20; ++i) pins.push_back(insert(*cache, {1, i}, kBlockBytes));
  const CacheStats stats = cache->stats();
  EXPECT_EQ(stats.evictions, 0U);
  EXPECT_EQ(stats.bypasses, 20 - stats.blocks_kept);
  EXPECT_GE(stats.blocks_kept, 7U);
  EXPECT_EQ(stats.bytes_used, 20 * kCharge);
  EXPECT_TRUE(cache->find({1, 0}));
  pins.clear();
  EXPECT_LE(cache->stats().bytes_used, cache->stats().capacity_bytes);
}

TEST(CacheContract, ASecondInsertReturnsTheFirstBlock) {
  const auto cache = make_cache(kMebibyte);
  const PinnedBlock first = insert(*cache, {1, 0}, kBlockBytes);
  const PinnedBlock second = cache->insert({1, 0}, BlockBuffer::unset(17), 17);
  EXPECT_EQ(first.bytes().data(), second.bytes().data());
  const CacheStats stats = cache->stats();
  EXPECT_EQ(stats.inserts, 1U);
  EXPECT_EQ(stats.duplicates, 1U);
  EXPECT_EQ(stats.bytes_used, kCharge);
}

/// Erasing a table once visited everything in the cache, under the mutex.
TEST(CacheContract, ErasesATableAndNoOtherAndLooksAtNoOther) {
  for (const std::size_t shards : {1U, 4U}) {
    const auto cache = make_cache(64 * kMebibyte, shards);
    for (std::uint32_t i = 0; i < 20'000; ++i) (void)insert(*cache, {1, i}, 100);
    for (std::uint32_t i = 0; i < 50; ++i) (void)insert(*cache, {2, i}, 100);
    const PinnedBlock pinned = cache->find({2, 5});
    EXPECT_LE(cache->erase_table(2, 60), 60 * 4U) << "the frames of a bucket are few";
    EXPECT_LE(cache->erase_table(3, 60), 60 * 4U) << "a table that has none";
    EXPECT_TRUE(is_block_of({2, 5}, pinned.bytes()));
    for (std::uint32_t i = 0; i < 50; ++i) EXPECT_TRUE(cache->find({1, i}) && !cache->find({2, i})) << i;
    EXPECT_EQ(cache->stats().erased, 50U);
    EXPECT_EQ(cache->stats().blocks_kept, 20'000U);
    EXPECT_TRUE(adds_up(cache->stats()));
  }
}

TEST(CacheContract, TinyCapacitiesKeepNothingAndStillServe) {
  for (const std::size_t capacity : {std::size_t{0}, std::size_t{1}, kCharge - 1}) {
    const auto cache = make_cache(capacity);
    for (std::uint32_t i = 0; i < 10; ++i) {
      const PinnedBlock block = insert(*cache, {1, i}, kBlockBytes);
      EXPECT_TRUE(is_block_of({1, i}, block.bytes()));
      EXPECT_TRUE(adds_up(cache->stats()));
      EXPECT_FALSE(cache->find({1, i}));
    }
    EXPECT_EQ(cache->stats().bypasses, 10U);
    EXPECT_EQ(cache->stats().bytes_used, 0U);
  }
}

TEST(CacheContract, AHugeCapacityCostsNothingByItself) {
  const auto cache = make_cache(std::numeric_limits<std::size_t>::max(), 2);
  for (std::uint32_t i = 0; i < 1000; ++i) request(*cache, {1, i}, 100);
  EXPECT_EQ(cache->stats().blocks_kept, 1000U);
  EXPECT_EQ(cache->stats().capacity_bytes, std::numeric_limits<std::size_t>::max());
  cache->set_capacity(20 * (100 + kFrameOverheadBytes));
  EXPECT_LE(cache->stats().blocks_kept, 20U);
  cache->set_capacity(std::numeric_limits<std::size_t>::max());
  for (std::uint32_t i = 0; i < 1000; ++i) request(*cache, {1, i}, 100);
  EXPECT_EQ(cache->stats().blocks_kept, 1000U);
}

TEST(CacheContract, ABlockLargerThanTheCapacityEvictsNobody) {
  const auto cache = make_cache(8 * kCharge);
  for (std::uint32_t i = 0; i < 4; ++i) request(*cache, {1, i}, kBlockBytes);
  const PinnedBlock large = insert(*cache, {2, 0}, 9 * kCharge);
  EXPECT_TRUE(is_block_of({2, 0}, large.bytes()));
  EXPECT_EQ(cache->stats().evictions, 0U);
  EXPECT_EQ(cache->stats().blocks_kept, 4U);
  EXPECT_FALSE(cache->find({2, 0}));
}

TEST(CacheContract, ASharedPinKeepsTheBlockUntilBothAreGone) {
  const auto cache = make_cache(4 * kCharge);
  std::deque<PinnedBlock> pins;
  pins.push_back(insert(*cache, {1, 0}, kBlockBytes));
  for (int i = 0; i < 9; ++i) pins.push_back(i % 2 == 0 ? pins.front().share() : cache->find({1, 0}));
  EXPECT_EQ(cache->stats().bytes_pinned, kCharge) << "one block, however many handles";
  cache->set_capacity(0);
  while (pins.size() > 1) pins.pop_front();
  EXPECT_EQ(cache->stats().bytes_used, kCharge);
  EXPECT_TRUE(is_block_of({1, 0}, pins.front().bytes()));
  pins.front() = PinnedBlock();
  EXPECT_EQ(cache->stats().bytes_pinned + cache->stats().bytes_used, 0U);
}

TEST(CacheContract, ShrinksAtOnce) {
  const auto cache = make_cache(4 * kMebibyte, 4);
  for (std::uint32_t i = 0; i < 1000; ++i) request(*cache, {1, i}, kBlockBytes);
  const std::size_t before = cache->stats().blocks_kept;
  const PinnedBlock pinned = cache->find({1, 999});
  ASSERT_TRUE(pinned);
  for (const std::size_t capacity : {2 * kMebibyte, kMebibyte / 2, std::size_t{0}}) {
    cache->set_capacity(capacity);
    const CacheStats stats = cache->stats();
    EXPECT_EQ(stats.capacity_bytes, capacity);
    EXPECT_TRUE(adds_up(stats));
    EXPECT_LE(stats.blocks_kept, capacity / kCharge);
  }
  EXPECT_EQ(cache->stats().bytes_used, kCharge);
  EXPECT_TRUE(is_block_of({1, 999}, pinned.bytes()));

  cache->set_capacity(4 * kMebibyte);
  for (std::uint32_t i = 0; i < 1000; ++i) request(*cache, {1, i}, kBlockBytes);
  EXPECT_GE(cache->stats().blocks_kept + 1, before);
}

TEST(BlockCache, RefusesOddNumbersOfShardsAndChoosesFewForLittleMemory) {
  EXPECT_FALSE(BlockCache::make({.capacity_bytes = 1, .shards = 3}).ok());
  EXPECT_FALSE(BlockCache::make({.capacity_bytes = 1, .shards = 512}).ok());
  EXPECT_EQ(make_cache(0, 0)->shards(), 1U);
  EXPECT_EQ(make_cache(7 * kMebibyte, 0)->shards(), 1U);
  EXPECT_GE(make_cache(1024 * kMebibyte, 0)->shards(), 2U);
}

/// Memory of tables replaced by a compaction serves the new ones; otherwise the kernel would clear it in between.
TEST(BlockCache, KeepsTheMemoryOfErasedBlocksForOthersUntilItEnds) {
  if (kWatchesMemory) GTEST_SKIP() << "blocks come from malloc";
  const std::size_t before = SlotMemory::chunk_bytes();
  auto cache = BlockCache::make({.capacity_bytes = before + 64 * kMebibyte}).value();
  const auto fill = [&](std::uint64_t table) {
    for (std::uint32_t i = 0; i < 8192; ++i) {
      BlockBuffer block = BlockBuffer::unset(4096);
      EXPECT_TRUE(cache->insert({table, i}, std::move(block), 4096));
    }
  };
  fill(1);
  const std::size_t full = SlotMemory::chunk_bytes();
  cache->erase_table(1, 8192);
  EXPECT_GE(SlotMemory::free_bytes(), 28 * kMebibyte);
  fill(2);
  EXPECT_LE(SlotMemory::chunk_bytes(), full + 2 * kMebibyte);
  cache->erase_table(2, 8192);
  cache->set_capacity(8 * kMebibyte);
  EXPECT_LE(SlotMemory::chunk_bytes(), before + 10 * kMebibyte);
  cache.reset();
  EXPECT_LE(SlotMemory::chunk_bytes(), before + 4 * kMebibyte);
}

TEST(BlockCacheDeathTest, APinThatOutlivesTheCacheStopsTheProgram) {
  EXPECT_DEATH(
      {
        auto cache = make_cache(kMebibyte);
        const PinnedBlock pinned = insert(*cache, {1, 0}, 10);
        cache.reset();
      },
      "broken promise");
}

}  // namespace
}  // namespace tamis
