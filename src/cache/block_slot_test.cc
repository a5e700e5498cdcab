// Blocks found in slots, without a call to the cache: they stay valid while somebody reads them (rule 11).
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "base/epoch.h"
#include "cache/cache_test_support.h"

namespace tamis {
namespace {

constexpr BlockKey kKey{1, 7};
constexpr std::size_t kSize = 4096;
constexpr std::size_t kCharge = kSize + kFrameOverheadBytes;

TEST(BlockSlot, Rule11_HoldsABlockThatWasInsertedOrFoundWhileItIsKept) {
  for (const bool is_found : {false, true}) {
    const auto cache = make_cache(16 * kCharge);
    BlockSlot slot = nullptr;
    (void)cache->insert(kKey, make_block(kKey, kSize), kSize, is_found ? nullptr : &slot);
    if (is_found) (void)cache->find(kKey, &slot);
    ASSERT_NE(slot.load(), nullptr);
    EXPECT_TRUE(is_block_of(kKey, slot.load()->bytes()));
    cache->set_capacity(0);
    EXPECT_EQ(slot.load(), nullptr);
    const PinnedBlock not_kept = cache->insert(kKey, make_block(kKey, kSize), kSize, &slot);
    EXPECT_EQ(slot.load(), nullptr);
  }
}

TEST(BlockSlot, Rule11_ABlockThatSomebodyLooksAtIsFreedLaterAndChargedUntilThen) {
  const auto cache = make_cache(16 * kCharge);
  BlockSlot slot = nullptr;
  (void)cache->insert(kKey, make_block(kKey, kSize), kSize, &slot);
  auto guard = std::make_unique<EpochGuard>();
  const Frame* const found = slot.load();
  cache->erase_table(kKey.table, kKey.block + 1);
  EXPECT_EQ(slot.load(), nullptr) << "nobody else finds it";
  EXPECT_TRUE(is_block_of(kKey, found->bytes()));
  EXPECT_EQ(cache->stats().bytes_used, kCharge);
  EXPECT_TRUE(adds_up(cache->stats()));
  guard.reset();
  cache->erase_table(kKey.table, kKey.block + 1);  // Any call that could free something.
  EXPECT_EQ(cache->stats().bytes_used, 0U);
  EXPECT_TRUE(adds_up(cache->stats()));
}

/// If retired frames counted, one long read would empty the cache.
TEST(BlockSlot, LookingDoesNotMakeTheCacheEvictMore) {
  std::array<BlockSlot, 17> slots = {};  // Outlives the cache.
  const auto cache = make_cache(16 * kCharge);
  const EpochGuard guard;
  for (std::uint32_t i = 0; i < slots.size(); ++i)
    (void)cache->insert({1, i}, make_block({1, i}, kSize), kSize, &slots[i]);
  EXPECT_GE(cache->stats().blocks_kept, 14U);
  EXPECT_TRUE(adds_up(cache->stats()));
}

TEST(BlockSlot, ATouchInTheSlotCountsAsAHit) {
  const auto cache = make_cache(16 * kCharge);
  BlockSlot slot = nullptr;
  (void)cache->insert(kKey, make_block(kKey, kSize), kSize, &slot);
  for (int i = 0; i < 2; ++i) slot.load()->touch();
  for (std::uint32_t i = 0; i < 100; ++i) (void)cache->insert({2, i}, make_block({2, i}, kSize), kSize);
  EXPECT_NE(slot.load(), nullptr) << "a scan passes it by";
  cache->empty_slot(kKey, slot);
}

}  // namespace
}  // namespace tamis
