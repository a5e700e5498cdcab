#include "cache/frame_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>
#include <vector>

#include "cache/cache_shard.h"
#include "support/allocation_count.h"

namespace tamis {
namespace {

TEST(FrameIndex, KeepsItsBucketsWhenThereIsNoMemoryForOthers) {
  constexpr std::uint32_t kFrames = 100;
  CacheShard shard(0);
  FrameIndex index;
  std::vector<OwnedFrame> frames;
  for (std::uint32_t i = 0; i < kFrames; ++i) {
    const BlockKey key{1, i};
    frames.emplace_back(Frame::make(shard, key, hash_of(key), BlockBuffer::unset(0), 1));
  }
  test::do_allocations_fail = true;
  for (const OwnedFrame& frame : frames) index.insert(*frame);
  const std::size_t buckets = index.buckets();
  test::do_allocations_fail = false;
  EXPECT_EQ(buckets, 16U);
  EXPECT_EQ(index.size(), kFrames);
  for (const OwnedFrame& frame : frames) EXPECT_EQ(index.find(frame->key, frame->hash), frame.get());
  index.remove(*frames.back());
  EXPECT_GE(index.buckets(), kFrames) << "the next change makes up for it";
  const std::size_t grown = index.buckets();
  test::do_allocations_fail = true;
  for (std::uint32_t i = 0; i + 1 < kFrames; ++i) index.remove(*frames[i]);
  test::do_allocations_fail = false;
  EXPECT_EQ(index.buckets(), grown);
  EXPECT_EQ(index.size(), 0U);
}

TEST(FrameIndex, AgreesWithAMapAndShrinksWithItsFrames) {
  CacheShard shard(0);
  FrameIndex index;
  std::map<std::pair<std::uint64_t, std::uint32_t>, OwnedFrame> expected;
  std::mt19937_64 random(3);
  std::size_t looked_at = 0;
  for (int i = 0; i < 60'000; ++i) {
    const bool growing = (i / 10'000) % 2 == 0;
    const BlockKey key{random() % 4, static_cast<std::uint32_t>(random() % 3000)};
    auto& frame = expected[{key.table, key.block}];
    ASSERT_EQ(index.find(key, hash_of(key)), frame.get());
    if (frame == nullptr && growing) {
      frame.reset(Frame::make(shard, key, hash_of(key), BlockBuffer::unset(0), 1));
      index.insert(*frame);
    } else if (!growing && random() % 2 == 0) {
      const std::size_t before = looked_at;
      ASSERT_EQ(index.take(key, hash_of(key), looked_at), frame.get());
      ASSERT_GE(looked_at, before + (frame == nullptr ? 0 : 1));
      frame.reset();
    } else if (frame != nullptr && !growing) {
      index.remove(*frame);
      frame.reset();
    }
    if (frame == nullptr) expected.erase({key.table, key.block});
    ASSERT_EQ(index.size(), expected.size());
    ASSERT_LE(index.size(), index.buckets());
    ASSERT_TRUE(index.buckets() <= 4 * index.size() || index.buckets() == 16) << "what a frame's charge pays for";
  }
}

}  // namespace
}  // namespace tamis
