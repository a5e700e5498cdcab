#include "memtable/hash_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "memtable/version_chain.h"

namespace tamis {
namespace {

/// An index over keys that consist of a place only.
class Indexed {
 public:
  void put(const std::string& key, std::uint64_t hash) {
    if (!index.has_room_for(1)) index.adopt(index.make_larger(1));
    ASSERT_TRUE(arena.reserve(kMaxVersionBytes + key.size() + Arena::kUnitBytes));
    const HashIndex::Spot spot = index.locate(key, hash);
    index.publish(spot, hash, add_version(arena, {key, {}, Sequence{1}, EntryKind::kPut}, spot.newest, {}));
  }
  [[nodiscard]] bool has(const std::string& key, std::uint64_t hash) const {
    return index.locate(key, hash).newest != Arena::Place::kNone;
  }

  MemoryCount memory;
  Arena arena{memory};
  HashIndex index{arena, memory};
};

TEST(HashIndex, FindsEveryKeyAfterEveryGrowth) {
  Indexed indexed;
  std::mt19937_64 random(1);
  std::map<std::string, std::uint64_t> hashes;
  EXPECT_FALSE(indexed.has("", 0)) << "nothing is there before the first key";
  for (int i = 0; i < 20'000; ++i) {
    const auto [at, is_new] = hashes.emplace(std::to_string(i), random());
    indexed.put(at->first, at->second);
    if (i % 3000 == 0) {
      for (const auto& [key, hash] : hashes) ASSERT_TRUE(indexed.has(key, hash));
    }
  }
  for (const auto& [key, hash] : hashes) {
    ASSERT_TRUE(indexed.has(key, hash));
    ASSERT_FALSE(indexed.has(key + "x", hash)) << "an equal hash is no proof";
  }
}

TEST(HashIndex, TellsKeysOfEqualHashApart) {
  for (const std::uint64_t hash : {std::uint64_t{0}, ~std::uint64_t{0}, std::uint64_t{0xffff'ffff}}) {
    Indexed indexed;
    for (int i = 0; i < 1000; ++i) indexed.put(std::to_string(i), hash);
    for (int i = 0; i < 1000; ++i) ASSERT_TRUE(indexed.has(std::to_string(i), hash));
    EXPECT_FALSE(indexed.has("1000", hash));
  }
}

/// A reader may still use any of them; a freed one is no longer counted.
TEST(HashIndex, Rule12_ArraysThatWereOutgrownStayAndAreCountedUntilItsEnd) {
  MemoryCount memory;
  Arena arena(memory);
  {
    HashIndex index(arena, memory);
    EXPECT_EQ(memory, 0U);
    std::size_t expected = 0;
    for (const std::size_t keys : {100, 1000, 2000, 100'000}) {
      auto larger = index.make_larger(keys);
      expected += larger->count * sizeof(std::uint64_t) + sizeof(HashIndex::Slots);
      EXPECT_GE(larger->count * 2 / 3, keys);
      EXPECT_LT(larger->count * 2 / 3, std::max<std::size_t>(1024, keys * 2));
      index.adopt(std::move(larger));
      EXPECT_TRUE(index.has_room_for(keys));
      EXPECT_EQ(memory, expected);
    }
  }
  EXPECT_EQ(memory, 0U);
}

TEST(HashIndex, HasRoomForTheKeysThatAreExpectedUpToWhatPlacesCanFill) {
  Indexed indexed;
  EXPECT_EQ(indexed.index.make_larger(std::size_t{1} << 32), nullptr);
  EXPECT_EQ(indexed.index.make_larger(~std::size_t{0}), nullptr);
  EXPECT_EQ(indexed.memory, 0U);
  indexed.index.adopt(indexed.index.make_larger(10, 100'000));
  EXPECT_TRUE(indexed.index.has_room_for(100'000));
}

}  // namespace
}  // namespace tamis
