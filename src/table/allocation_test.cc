// What must not allocate. The only file of this program that counts allocations.
#include <gtest/gtest.h>

#include <string>

#include "base/hash.h"
#include "base/sanitizer.h"
#include "support/allocation_count.h"
#include "support/allocator_bytes.h"
#include "support/block_frame.h"
#include "support/table_world.h"
#include "table/data_block_format.h"

namespace tamis {
namespace {

TEST(DataBlock, AllocatesNothingWhenAsked) {
  const KeyHasher hasher;
  DataBlockBuilder builder(4096);
  const auto key_of = [](int i) { return "a key of some length " + std::to_string(10 + i); };
  for (int i = 0; i < 20; ++i) {
    const std::string key = key_of(i);
    builder.add({key, "value", Sequence{9}, EntryKind::kPut}, hasher(key));
  }
  const test::BlockFrame frame(builder.finish());
  const std::string wanted = key_of(7);
  std::string key_buffer;
  Entry entry;
  EXPECT_EQ(test::allocations_when_repeated([&] {
              const DataBlock block = frame.block();
              ASSERT_TRUE(block.find({wanted, hasher(wanted), kMaxSequence}, true).has_value());
              ASSERT_TRUE(block.find({wanted, 0, kMaxSequence}, false).has_value());
              ASSERT_EQ(block.lower_bound(EntryPosition{wanted}), 7U);
              block.load(7, key_buffer, entry);
            }),
            0U);
  EXPECT_EQ(entry.key, wanted);
}

TEST(Table, AHotFindAllocatesNothing) {
  test::TableEntries entries;
  for (int i = 0; i < 2000; ++i) entries.add("a key of some length " + std::to_string(10'000 + i), 9, "value");
  test::TableWorld world;
  const auto table = world.open(world.build(entries));
  const KeyHasher& hasher = test::example_hasher();
  std::uint64_t found = 0;
  EXPECT_EQ(test::allocations_when_repeated([&] {
              for (const Entry& entry : entries.entries) {
                PinnedBlock pin;
                TableSearch search;
                const Lookup lookup{entry.key, hasher(entry.key), kMaxSequence};
                const auto answer = test::find_in(*table, lookup, true, pin, search);
                found += answer.ok() && answer->has_value() && (*answer)->value == "value" ? 1 : 0;
              }
              const std::string_view absent = "no such key";
              PinnedBlock pin;
              TableSearch search;
              const Lookup lookup{absent, hasher(absent), kMaxSequence};
              ASSERT_FALSE((*test::find_in(*table, lookup, true, pin, search)).has_value());
            }),
            0U);
  EXPECT_EQ(found, 4000U);
}

TEST(Table, DoesNotKeepTheListOfTablesItReplaced) {
  if (kWatchesMemory) GTEST_SKIP() << "a sanitizer has its own allocator";
  constexpr std::size_t kReplaced = 100'000;
  test::TableEntries entries;
  entries.add("key", 9, "value");
  test::TableWorld world;
  const TableFacts facts = world.build(entries, {"line", 10}, {.replaces = std::vector<std::uint64_t>(kReplaced, 7)});
  const std::size_t before = test::allocator_bytes_in_use();
  const auto table = world.open(facts);
  ASSERT_TRUE(table->load().ok());
  EXPECT_LT(test::allocator_bytes_in_use() - before, kReplaced);
}

}  // namespace
}  // namespace tamis
