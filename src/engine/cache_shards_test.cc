#include <gtest/gtest.h>

#include "engine/store.h"
#include "io/memory_file_system.h"

namespace tamis {
namespace {

/// The cache used to be made with a capacity of 0, and so kept one shard and one mutex.
TEST(CacheShards, FollowTheBudget) {
  const auto shards = [](std::uint64_t memory_bytes) {
    MemoryFileSystem files;
    const Options options{.memory_bytes = memory_bytes};
    const auto store = Store::open("/store", options, {.files = &files, .runs_in_background = false});
    EXPECT_TRUE(store.ok());
    const std::size_t expected =
        (*BlockCache::make({.capacity_bytes = (*store)->cache().stats().capacity_bytes}))->shards();
    EXPECT_EQ((*store)->cache().shards(), expected);
    return (*store)->cache().shards();
  };
  EXPECT_EQ(shards(std::uint64_t{4} << 20), 1U) << "none below 4 MiB";
  EXPECT_GE(shards(std::uint64_t{1} << 30), 2U) << "on any machine";
}

}  // namespace
}  // namespace tamis
