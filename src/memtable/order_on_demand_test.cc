#include "memtable/order_on_demand.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/random.h"
#include "memtable/version_chain.h"

namespace tamis {
namespace {

/// Entries in an arena, each linked to the previous one, in insertion order.
class Entries {
 public:
  void add(const std::string& key) {
    ASSERT_TRUE(arena.reserve(kMaxVersionBytes + key.size() + Arena::kUnitBytes));
    const Entry entry{key, {}, Sequence{inserted.entries + 1}, EntryKind::kPut};
    inserted = {inserted.entries + 1, add_version(arena, entry, {}, inserted.newest)};
  }
  /// The number of entries that an iterator shows, if they ascend.
  std::size_t walk() {
    const auto iterator = order.iterate(inserted);
    std::size_t count = 0;
    std::string last;
    for (iterator->seek_to_first(); iterator->valid(); iterator->next()) {
      EXPECT_LE(last, iterator->entry().key);
      last = iterator->entry().key;
      ++count;
    }
    return count;
  }

  MemoryCount memory;
  Arena arena{memory};
  InsertedEntries inserted;
  OrderOnDemand order{arena, memory};
};

TEST(OrderOnDemand, HasFewChunksHoweverOftenSomebodyAsks) {
  for (const std::uint64_t most_between : {1, 2, 100, 3000}) {
    Entries entries;
    SplitMix64 random(most_between);
    std::set<std::size_t> numbers_of_chunks;
    for (int ask = 0; ask < 300; ++ask) {
      // Occasionally one large tail, so that chunk sizes differ widely.
      const std::uint64_t more = ask % 100 == 0 ? 20'000 : 1 + random.below(most_between);
      for (std::uint64_t i = 0; i < more; ++i) entries.add(std::to_string(random.next()));
      (void)entries.order.iterate(entries.inserted);
      numbers_of_chunks.insert(entries.order.chunks());
    }
    EXPECT_EQ(entries.walk(), entries.inserted.entries);
    EXPECT_LE(*numbers_of_chunks.rbegin(), 12U);
    EXPECT_GT(*numbers_of_chunks.rbegin(), 2U);
  }
}

/// Tails that halve each time would each make a chunk.
TEST(OrderOnDemand, Rule12_HasAtMostTwelveChunks) {
  Entries entries;
  SplitMix64 random(1);
  std::size_t most_chunks = 0;
  for (std::uint32_t tail = 1 << 15; tail > 0; tail /= 2) {
    for (std::uint32_t i = 0; i < tail; ++i) entries.add(std::to_string(random.next()));
    EXPECT_EQ(entries.walk(), entries.inserted.entries);
    most_chunks = std::max(most_chunks, entries.order.chunks());
  }
  EXPECT_EQ(most_chunks, 12U);
}

/// A reader passes the older part by one seek, so nothing newer may be among it.
TEST(OrderOnDemand, Rule12_KeepsWhatIsNewerThanTheSplitApart) {
  Entries entries;
  SplitMix64 random(1);
  for (int i = 0; i < 5000; ++i) entries.add(std::to_string(random.next()));
  for (int ask = 0; ask < 300; ++ask) {
    const Sequence split{entries.inserted.entries + 1};
    (void)entries.order.iterate_split(entries.inserted, split);
    const std::uint64_t more = 1 + random.below(200);
    for (std::uint64_t i = 0; i < more; ++i) entries.add(std::to_string(random.next()));
    const std::vector<SplitEntries> parts = entries.order.iterate_split(entries.inserted, split);
    ASSERT_EQ(parts.size(), 2U);
    EXPECT_LT(parts[0].newest, split);
    std::uint64_t newer = 0;
    for (parts[1].iterator->seek_to_first(); parts[1].iterator->valid(); parts[1].iterator->next()) ++newer;
    EXPECT_EQ(newer, more);
    EXPECT_LE(entries.order.chunks(), 12U);
    if (ask % 50 != 0) continue;
    EXPECT_EQ(entries.walk(), entries.inserted.entries);
  }
}

TEST(OrderOnDemand, IsMadeOnceForTheSameEntries) {
  Entries entries;
  for (int i = 0; i < 100; ++i) entries.add(std::to_string(i));
  EXPECT_EQ(entries.order.chunks(), 0U);
  (void)entries.order.iterate(entries.inserted);
  const std::size_t memory = entries.memory;
  const auto iterator = entries.order.iterate(entries.inserted);
  EXPECT_EQ(entries.memory, memory);
  EXPECT_EQ(entries.order.chunks(), 1U);
}

}  // namespace
}  // namespace tamis
