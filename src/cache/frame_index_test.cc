#include "cache/frame_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "cache/cache_shard.h"

namespace tamis {
namespace {

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
