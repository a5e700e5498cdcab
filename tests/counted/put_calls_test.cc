// Counts the file system calls of puts.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/hash.h"
#include "counted/counted_store.h"
#include "io/append_file.h"

namespace tamis::test {
namespace {

constexpr int kPuts = 10'000;

void put_many(DB& db, const WriteOptions& options) {
  const std::string value(100, 'v');
  for (int i = 0; i < kPuts; ++i) {
    ASSERT_TRUE(
        db.put(fmt::format("key{:013}", remix(static_cast<std::uint64_t>(i)) % 1'000'000), value, options).ok());
  }
}

TEST(PutCalls, Rule7_TenThousandUnsyncedPutsMakeFewerThanAHundred) {
  CountedStore store({});
  const std::uint64_t before = store.counting.calls();
  put_many(*store.db, {});
  const std::uint64_t first = store.counting.calls() - before;
  put_many(*store.db, {});
  const std::uint64_t second = store.counting.calls() - before - first;
  fmt::print("{} calls, then {}; {} windows\n", first, second, store.counting.windows());
  EXPECT_LT(first, 100U);
  EXPECT_LT(second, 100U);
  EXPECT_GT(store.counting.windows(), 0U);
}

TEST(PutCalls, Rule7_SyncedPutsAreWrittenAsWithoutWindows) {
  CountedStore store({});
  const std::uint64_t before = store.counting.calls();
  put_many(*store.db, {.sync = true});
  EXPECT_LE(store.counting.calls() - before, 2U * kPuts + 30);  // A write and a sync each; preallocated space for many.
  EXPECT_EQ(store.counting.windows(), 0U);
}

TEST(PutCalls, Rule7_TheOptionDecidesWhetherThereAreWindows) {
  for (const std::string journal : {"auto", "mapped", "write"}) {
    Options options;
    options.journal = journal;
    CountedStore store(options);
    put_many(*store.db, {});
    EXPECT_EQ(store.counting.windows() > 0, journal != "write") << journal;
  }
}

TEST(PutCalls, Rule7_TheWindowIsCountedAsMemoryAndComesOutOfTheBudget) {
  CountedStore store({});
  EXPECT_EQ(store.db->stats().memory.journal, 0U);
  put_many(*store.db, {});
  const Stats::Memory memory = store.db->stats().memory;
  EXPECT_EQ(memory.journal, AppendFile::kMaxWindowBytes);
  EXPECT_EQ(store.counting.open_windows(), 1U);
  EXPECT_EQ(memory.used, memory.memtables + memory.blocks + memory.indexes + memory.filters + memory.journal);
  ASSERT_TRUE(store.db->flush().ok());
  EXPECT_EQ(store.db->stats().memory.journal, 0U);
  EXPECT_EQ(store.counting.open_windows(), 0U) << "of a journal that gets no more records";

  Options small;
  small.memory_bytes = 2 << 20;  // A 64th is less than the minimum window.
  small.memtable_bytes = 512 << 10;
  CountedStore tight(small);
  put_many(*tight.db, {});
  EXPECT_EQ(tight.counting.windows(), 0U);
}

/// A writer that never syncs must not keep flushed journals: neither their descriptors nor their space, since a removed
/// file takes space while it is open.
TEST(PutCalls, FlushedJournalsAreNotHeldOpenByAWriterThatNeverSyncs) {
  CountedStore store({});
  std::uint64_t most = 0;
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(store.db->put("key", fmt::format("{}", i)).ok());
    ASSERT_TRUE(store.db->flush().ok());
    most = std::max(most, store.counting.open_for_writing());
  }
  EXPECT_LE(most, 5U);
  EXPECT_EQ(**store.db->get("key"), "39");
}

}  // namespace
}  // namespace tamis::test
