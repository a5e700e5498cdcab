// What deletes in key order leave for the first scan over them.
#include "engine/delete_walks.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "engine/store.h"
#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "tamis/iterator.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKeys = 20'000;

std::string key(std::uint64_t i) { return fmt::format("{:06}", i); }

/// A store whose keys are in tables, 30 to a block, and not in its cache; nothing is merged.
class DeletesInOrder : public ::testing::Test {
 protected:
  DeletesInOrder() {
    open();
    Batch batch;
    for (std::uint64_t i = 0; i < kKeys; ++i) batch.put(key(i), std::string(100, 'v'));
    EXPECT_TRUE(store_->write_batch(batch, {}, true).ok());
    EXPECT_TRUE(store_->flush().ok());
  }

  void open() {
    auto store = Store::open("/store", {.memory_bytes = 16 << 20, .compaction = "manual"},
                             {.files = &files_, .random_seed = 1, .runs_in_background = false});
    EXPECT_TRUE(store.ok()) << store.status().to_text();
    store_ = *std::move(store);
  }
  void remove(const std::string& gone) {
    ASSERT_TRUE(store_->write({kDefaultKeyspace, EntryKind::kDelete, gone, {}}, {}, true).ok());
  }
  void remove(std::uint64_t begin, std::uint64_t end, std::uint64_t step = 1) {
    for (std::uint64_t i = begin; i < end; i += step) remove(key(i));
  }
  [[nodiscard]] Iterator scan(const std::string& from = "") {
    return store_->scan(store_->default_keyspace(), {.from = from}, Caller());
  }
  /// How many of these keys a scan would have to step over.
  [[nodiscard]] std::uint64_t not_known_to_be_empty(std::uint64_t begin, std::uint64_t end) {
    const Sequence now = store_->published().newest();
    std::uint64_t left = end - begin;
    for (const auto& range : store_->empty_ranges().known(kDefaultKeyspace, {key(begin), key(end)}, {now, ~0ULL})) {
      for (std::uint64_t i = begin; i < end; ++i) left -= range->range().contains(key(i)) ? 1 : 0;
    }
    return left;
  }

  MemoryFileSystem memory_;
  test::CountingFileSystem files_{memory_};
  std::shared_ptr<Store> store_;
};

TEST_F(DeletesInOrder, TheFirstScanOverDeletesInOrderReadsAFewBlocks) {
  remove(1000, kKeys - 1000);
  EXPECT_LT(not_known_to_be_empty(1000, kKeys - 1000), DeleteWalks::kMinDeletes);
  const std::uint64_t before = files_.reads();
  EXPECT_EQ(scan(key(1000)).key(), key(kKeys - 1000));
  EXPECT_LE(files_.reads() - before, 6U) << "of 600 blocks";
}

TEST_F(DeletesInOrder, AlsoWhenABatchHasManyOfThem) {
  for (std::uint64_t begin = 0; begin < 12'000; begin += 3000) {
    Batch batch;
    for (std::uint64_t i = begin; i < begin + 3000; ++i) batch.remove(key(i));
    ASSERT_TRUE(store_->write_batch(batch, {}, true).ok());
  }
  EXPECT_EQ(not_known_to_be_empty(0, 12'000), 0U);
  EXPECT_EQ(scan().key(), key(12'000));
}

TEST_F(DeletesInOrder, AlsoBesidePutsOfOtherKeys) {
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    remove(key(i));
    ASSERT_TRUE(store_->put(kDefaultKeyspace, key(kKeys + i), "pushed", {}).ok());
  }
  EXPECT_LT(not_known_to_be_empty(0, 10'000), DeleteWalks::kMinDeletes);
}

TEST_F(DeletesInOrder, AlsoInAKeyspace) {
  const auto other = store_->keyspace("other", {});
  ASSERT_TRUE(other.ok());
  const KeyspaceId id = (*other)->id();
  for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(store_->put(id, key(i), "v", {}).ok());
  for (std::uint64_t i = 0; i < 2900; ++i) {
    ASSERT_TRUE(store_->write({id, EntryKind::kDelete, key(i), {}}, {}, true).ok());
  }
  const auto known = store_->empty_ranges().known(id, {}, {store_->published().newest(), ~0ULL});
  ASSERT_EQ(known.size(), 1U);
  EXPECT_TRUE(known[0]->range().contains(key(2900 - DeleteWalks::kMinDeletes)));
  EXPECT_EQ(not_known_to_be_empty(0, 2900), 2900U) << "the other keyspace";
  EXPECT_EQ(store_->scan(**other, {}, Caller()).key(), key(2900));
}

TEST_F(DeletesInOrder, AreToldApartByKeyspace) {
  const auto other = store_->keyspace("other", {});
  ASSERT_TRUE(other.ok());
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ASSERT_TRUE(store_->write({(*other)->id(), EntryKind::kDelete, key(i), {}}, {}, true).ok());
  }
  remove(1000, 3000);
  EXPECT_LT(not_known_to_be_empty(1000, 3000), DeleteWalks::kMinDeletes);
  EXPECT_EQ(scan().key(), key(0));
}

/// Other scans find so many ranges that this one is forgotten.
TEST_F(DeletesInOrder, WhatWasForgottenIsNotWalkedOverAgain) {
  constexpr std::uint64_t kGaps = EmptyRanges::kMaxRanges + 1;
  for (std::uint64_t gap = 0; gap < kGaps; ++gap) {
    for (std::uint64_t i = 0; i < 5; ++i) remove(key(kKeys - 1 - 10 * gap - i));
  }
  remove(0, 10'000);
  ASSERT_LT(not_known_to_be_empty(0, 10'000), DeleteWalks::kMinDeletes);
  for (Iterator at = scan(key(kKeys - 10 * kGaps - 1)); at.valid(); at.next()) continue;
  ASSERT_EQ(not_known_to_be_empty(0, 10'000), 10'000U);
  remove(10'000, 12'000);
  EXPECT_GT(not_known_to_be_empty(0, 9000), 8000U);
  EXPECT_LT(not_known_to_be_empty(11'000, 12'000), DeleteWalks::kMinDeletes);
}

TEST_F(DeletesInOrder, Rule25_AValueThatIsWrittenBetweenDeletesIsShown) {
  remove(0, 5000);
  ASSERT_TRUE(store_->put(kDefaultKeyspace, key(2500), "again", {}).ok());
  remove(5000, 10'000);
  EXPECT_LT(not_known_to_be_empty(6000, 10'000), DeleteWalks::kMinDeletes) << "walks go on behind it";
  EXPECT_EQ(scan().key(), key(2500));
  EXPECT_EQ(scan(key(2501)).key(), key(10'000));
}

/// Each walk ends at the first key, and the next one begins behind it.
TEST_F(DeletesInOrder, DeletesOfEverySecondKeyReadAlmostNothing) {
  const std::uint64_t before = files_.reads();
  remove(0, kKeys, 2);
  EXPECT_LE(files_.reads() - before, 20U);
}

/// A range with long keys is not kept, so the next walk must not begin where it began.
TEST_F(DeletesInOrder, NothingIsReadTwiceWhereNoRangeIsKept) {
  const auto long_key = [](std::uint64_t i) { return key(i) + std::string(EmptyRanges::kMaxKeyBytes, 'k'); };
  for (std::uint64_t i = 0; i < 3000; ++i) ASSERT_TRUE(store_->put(kDefaultKeyspace, long_key(i), "v", {}).ok());
  ASSERT_TRUE(store_->flush().ok());
  const std::uint64_t before = files_.reads();
  for (std::uint64_t i = 0; i < 3000; ++i) remove(long_key(i));
  EXPECT_LE(files_.reads() - before, 200U);
}

TEST_F(DeletesInOrder, DeletesInAnyOtherOrderAreNotWalkedOver) {
  const std::uint64_t before = files_.reads();
  for (std::uint64_t i = 0; i < kKeys; ++i) remove(key(i * 7919 % kKeys));
  for (std::uint64_t i = kKeys; i > 0; --i) remove(key(i));
  EXPECT_EQ(files_.reads(), before);
  EXPECT_TRUE(store_->empty_ranges().empty());
}

TEST_F(DeletesInOrder, ThreadsThatDeleteAtOnceLoseNothing) {
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> next = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (std::uint64_t i = next++; i < kKeys - 5; i = next++) remove(key(i));
    });
  }
  std::uint64_t at_least = 0;
  while (next < kKeys - 5) {
    const std::uint64_t before = next;
    const Iterator at = scan();
    ASSERT_TRUE(at.valid());
    EXPECT_GE(std::string(at.key()), key(at_least)) << "what was gone has come back";
    at_least = std::stoull(std::string(at.key()));
    EXPECT_LE(at_least, next) << before;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(scan().key(), key(kKeys - 5));
}

}  // namespace
}  // namespace tamis
