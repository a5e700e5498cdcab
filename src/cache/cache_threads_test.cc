// Everything at once from eight threads, for ThreadSanitizer, and whether the counts add up afterwards.
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "base/zipf.h"
#include "cache/cache_test_support.h"

namespace tamis {
namespace {

constexpr std::size_t kThreads = 8;
constexpr std::size_t kMebibyte = std::size_t{1} << 20;

/// What all threads did, to compare with the cache's own counts.
struct Tally {
  std::atomic<std::uint64_t> lookups = 0;
  std::atomic<std::uint64_t> hits = 0;
  std::atomic<std::uint64_t> inserts = 0;
  std::atomic<std::uint64_t> wrong = 0;
};

void ask_for_blocks(BlockCache& cache, std::uint64_t seed, int requests, Tally& tally) {
  ZipfDraws draws(600, 0.8, seed << 32);
  std::mt19937_64 random(seed);
  std::vector<PinnedBlock> pins(8);
  for (int i = 0; i < requests; ++i) {
    const std::uint32_t block = draws.next();
    const BlockKey key{block % 5, block};
    PinnedBlock pinned = cache.find(key);
    ++tally.lookups;
    tally.hits += pinned ? 1 : 0;
    if (!pinned) {
      pinned = insert(cache, key, 100 + block);
      ++tally.inserts;
    }
    if (pinned.key() != key || !is_block_of(key, pinned.bytes())) ++tally.wrong;
    if (random() % 4 == 0) pins[random() % pins.size()] = std::move(pinned);
    if (random() % 500 == 0) cache.erase_table(random() % 5, 600);
    if (random() % 500 == 0) cache.set_capacity(random() % (kMebibyte / 4));
    if (random() % 500 == 0 && cache.stats().bytes_pinned > kThreads * 9 * 1000) ++tally.wrong;
  }
  for (const PinnedBlock& pin : pins) {
    if (pin && !is_block_of(pin.key(), pin.bytes())) ++tally.wrong;
  }
}

TEST(CacheThreads, EveryThreadSeesTheRightBytesAndTheCountsAgree) {
  const auto cache = make_cache(kMebibyte / 8, 4);
  Tally sum;
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { ask_for_blocks(*cache, i + 1, 10'000, sum); });
    }
  }
  const CacheStats stats = cache->stats();
  EXPECT_EQ(sum.wrong, 0U);
  EXPECT_EQ(stats.hits, sum.hits);
  EXPECT_EQ(stats.hits + stats.misses, sum.lookups);
  EXPECT_EQ(stats.inserts + stats.duplicates + stats.bypasses, sum.inserts);
  EXPECT_EQ(stats.bytes_pinned, 0U);
  EXPECT_TRUE(adds_up(stats));
  cache->set_capacity(0);
  EXPECT_EQ(cache->stats().bytes_used, 0U) << "nothing is charged that is not there";
}

TEST(CacheThreads, ThreadsThatReadTheSameBlockShareOneCopy) {
  const auto cache = make_cache(kMebibyte, 1);
  for (std::uint32_t block = 0; block < 200; ++block) {
    std::vector<PinnedBlock> blocks(kThreads);
    std::atomic<std::size_t> arrived = 0;  // Each thread's add pairs with every other's load: all insert at once.
    {
      std::vector<std::jthread> threads;
      for (std::size_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
          ++arrived;
          while (arrived < kThreads) std::this_thread::yield();
          blocks[i] = insert(*cache, {1, block}, 100);
        });
      }
    }
    for (const PinnedBlock& pinned : blocks) ASSERT_EQ(pinned.bytes().data(), blocks[0].bytes().data());
  }
  EXPECT_EQ(cache->stats().inserts, 200U);
  EXPECT_EQ(cache->stats().duplicates, 200U * (kThreads - 1));
}

}  // namespace
}  // namespace tamis
