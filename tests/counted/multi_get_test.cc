// What many keys at once cost: each block once, all passed down together; nothing when they are hot.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "counted/counted_store.h"
#include "support/passing_file_system.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 20'000;
constexpr std::uint64_t kStride = 400;  // Keys this far apart never share a block of 4 KiB.
constexpr std::size_t kAtOnce = 32;

/// Records how many reads were passed down together, each time.
class GatheringFileSystem final : public PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  void read_many(std::span<FileRead> reads) override {
    together.push_back(reads.size());
    PassingFileSystem::read_many(reads);
  }

  std::vector<std::size_t> together;
};

std::vector<std::string> far_keys() {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < kAtOnce; ++i) keys.push_back(CountedStore::present_key((i * 7 % kAtOnce) * kStride));
  return keys;
}

std::size_t found_of(const DB& db, const std::vector<std::string>& keys) {
  std::size_t found = 0;
  for (const auto& answer : db.multi_get(std::vector<std::string_view>(keys.begin(), keys.end()))) {
    if (answer.ok() && answer->has_value()) ++found;
  }
  return found;
}

Options manual() {
  Options options;
  options.compaction = "manual";
  return options;
}

void fill(DB& db, std::uint64_t runs) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    Batch batch;
    for (std::uint64_t i = run; i < kKeys; i += runs) {
      batch.put(CountedStore::present_key(i), CountedStore::value_of_number(i));
    }
    ASSERT_TRUE(db.write(batch).ok() && db.flush().ok());
  }
}

/// Loads the index and filter of each run; the blocks are not those of far_keys.
void load_metadata(const DB& db, std::uint64_t runs) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    ASSERT_TRUE(db.get(CountedStore::present_key(kKeys - runs + run)).ok());
  }
}

TEST(MultiGetReads, OfColdKeysAreAllHandedDownTogether) {
  for (const std::uint64_t runs : {1, 5}) {
    MemoryFileSystem memory;
    GatheringFileSystem files(memory);
    const Environment environment{.files = &files, .random_seed = 7, .runs_in_background = false};
    {
      Result<DB> db = DB::open("/store", manual(), environment);
      ASSERT_TRUE(db.ok());
      fill(*db, runs);
    }
    Result<DB> db = DB::open("/store", manual(), environment);
    ASSERT_TRUE(db.ok());
    load_metadata(*db, runs);
    EXPECT_EQ(found_of(*db, far_keys()), kAtOnce);
    ASSERT_FALSE(files.together.empty());
    EXPECT_GE(files.together.front(), 16U);
    if (runs == 1) {
      EXPECT_EQ(files.together, std::vector<std::size_t>{kAtOnce});
    }
    files.together.clear();
    EXPECT_EQ(found_of(*db, far_keys()), kAtOnce);
    EXPECT_TRUE(files.together.empty());
  }
}

TEST(MultiGetReads, OfOneBlockAreOne) {
  CountedStore store(manual());
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->flush().ok());
  store.reopen();
  load_metadata(*store.db, 1);
  std::vector<std::string> keys = far_keys();
  for (std::size_t i = 0; i < 16; ++i) keys[i] = keys[i + 16];
  const std::uint64_t reads = store.counting.reads();
  const std::uint64_t counted = store.counts().blocks_read;
  EXPECT_EQ(found_of(*store.db, keys), kAtOnce);
  EXPECT_EQ(store.counting.reads() - reads, 16U);
  EXPECT_EQ(store.counts().blocks_read - counted, 16U);
  EXPECT_EQ(found_of(*store.db, keys), kAtOnce);
  EXPECT_EQ(store.counting.reads() - reads, 16U);
}

TEST(MultiGetReads, CountPositivesAsSingleGetsDo) {
  CountedStore store(manual());
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->flush().ok());
  for (int round = 0; round < 3; ++round) {  // Cold, then hot.
    const LookupCounts before = store.counts();
    EXPECT_EQ(found_of(*store.db, far_keys()), kAtOnce);
    EXPECT_EQ(store.counts().positives - before.positives, kAtOnce) << round;
    EXPECT_EQ(store.counts().false_positives, before.false_positives) << round;
  }
}

/// Eight present keys, hot, then eight absent ones, and so on: after the former the latter are expected.
std::vector<std::string> expected_in_vain() {
  std::vector<std::string> keys;
  for (std::uint64_t i = 0; i < 4000; ++i) {
    keys.push_back(i / 8 % 2 == 0 ? CountedStore::present_key(i % 8) : CountedStore::absent_key(i * 5));
  }
  return keys;
}

TEST(MultiGetReads, CountKeysExpectedInVainAsSingleGetsDo) {
  CountedStore store(manual());
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->flush().ok());
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(store.db->get(CountedStore::present_key(i)).ok());
  const std::vector<std::string> keys = expected_in_vain();
  const LookupCounts before = store.counts();
  for (const std::string& key : keys) ASSERT_TRUE(store.db->get(key).ok());
  const LookupCounts singly = store.counts();
  EXPECT_EQ(found_of(*store.db, keys), keys.size() / 2);
  const LookupCounts together = store.counts();
  EXPECT_GT(singly.false_positives, before.false_positives) << "the filter never erred: nothing was tested";
  EXPECT_EQ(together.positives - singly.positives, singly.positives - before.positives);
  EXPECT_EQ(together.false_positives - singly.false_positives, singly.false_positives - before.false_positives);
}

/// Their filters rule them out before any block is read for them.
TEST(MultiGetReads, ReadNothingForKeysExpectedInVain) {
  CountedStore store(manual());
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->flush().ok());
  store.reopen();
  for (std::uint64_t i = 0; i < 8; ++i) ASSERT_TRUE(store.db->get(CountedStore::present_key(i)).ok());
  const std::vector<std::string> keys = expected_in_vain();
  const std::uint64_t reads = store.counting.reads();
  const LookupCounts before = store.counts();
  EXPECT_EQ(found_of(*store.db, keys), keys.size() / 2);
  EXPECT_LE(store.counting.reads() - reads, store.counts().false_positives - before.false_positives);
  EXPECT_LT(store.counting.reads() - reads, 100U);
}

}  // namespace
}  // namespace tamis::test
