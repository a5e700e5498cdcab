// What a compaction costs those who read afterwards: keys that were in memory before it still are.
#include <gtest/gtest.h>

#include "counted/counted_store.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 20'000;

Options manual() {
  Options options;
  options.compaction = "manual";
  return options;
}

/// Three runs, each with every third key.
void fill(CountedStore& store) {
  for (std::uint64_t run = 0; run < 3; ++run) {
    store.put_numbers(run, kKeys, 3);
    ASSERT_TRUE(store.db->flush().ok());
  }
}

void get_all(const CountedStore& store, std::uint64_t first, std::uint64_t end) {
  std::string value;
  for (std::uint64_t i = first; i < end; ++i) {
    const Result<bool> found = store.db->get(CountedStore::present_key(i), &value);
    ASSERT_TRUE(found.ok() && *found) << i;
    ASSERT_EQ(value, CountedStore::value_of_number(i));
  }
}

std::uint64_t blocks_read_by(const CountedStore& store, std::uint64_t first, std::uint64_t end) {
  const std::uint64_t before = store.counts().blocks_read;
  get_all(store, first, end);
  return store.counts().blocks_read - before;
}

TEST(WarmTables, KeysThatWereInMemoryAreThereAfterACompaction) {
  CountedStore store(manual());
  fill(store);
  store.reopen();
  get_all(store, 0, kKeys / 2);
  ASSERT_TRUE(store.db->compact().ok());
  ASSERT_EQ(store.runs(), 1U);
  EXPECT_LE(blocks_read_by(store, 0, kKeys / 2), 1U);  // Where the keys that were read end.
}

TEST(WarmTables, KeysThatWereNotInMemoryDoNotEnterIt) {
  CountedStore store(manual());
  fill(store);
  store.reopen();
  get_all(store, 0, kKeys / 10);
  ASSERT_TRUE(store.db->compact().ok());
  const std::uint64_t blocks = store.db->stats().cache.blocks;
  EXPECT_LT(blocks, 30U);
  const std::uint64_t read = blocks_read_by(store, 0, kKeys);
  EXPECT_GT(read, 90U);
  EXPECT_EQ(store.db->stats().cache.blocks, blocks + read);
}

TEST(WarmTables, NothingStaysInMemoryOfARewriteThatFailed) {
  CrashFileSystem files;
  CountedStore store(manual(), &files);
  fill(store);
  get_all(store, 0, kKeys);
  const std::uint64_t blocks = store.db->stats().cache.blocks;
  ASSERT_GT(blocks, 100U);
  files.set_capacity(0);
  ASSERT_EQ(store.db->compact().code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(store.db->stats().cache.blocks, blocks);
}

}  // namespace
}  // namespace tamis::test
