#include "engine/commit_window.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/live_handles.h"
#include "engine/store_context.h"
#include "io/memory_file_system.h"
#include "tamis/batch.h"

namespace tamis {
namespace {

constexpr EntryKind kRangeDelete{4};

/// A window, and the sequence of the last commit.
class CommitWindowTest : public ::testing::Test {
 protected:
  void commit(const Changes& changes, std::uint64_t committing = 0) {
    window_.record({&changes, 1}, last_, last_ + changes.size(), committing);
    last_ = last_ + changes.size();
  }
  void commit(std::string_view key, KeyspaceId keyspace = kDefaultKeyspace) {
    commit(Changes(keyspace, EntryKind::kPut, key, "value"));
  }
  bool has_conflict(Sequence snapshot, const ReadSet& reads) {
    const Changes changes(kDefaultKeyspace, EntryKind::kPut, "written", "");
    return !window_.check({.snapshot = snapshot, .reads = &reads}, changes).ok();
  }
  static ReadSet key(std::string_view key, KeyspaceId keyspace = kDefaultKeyspace) {
    ReadSet reads(1 << 20);
    reads.add_key(keyspace, key);
    return reads;
  }
  static ReadSet range(std::string_view from, std::string_view to, KeyspaceId keyspace = kDefaultKeyspace) {
    ReadSet reads(1 << 20);
    ReadSet::Slot slot;
    reads.add_range(slot, keyspace, from, to);
    return reads;
  }

  LiveHandles handles_;
  CommitWindow window_{handles_, 10'000};
  Sequence last_ = {};
};

TEST_F(CommitWindowTest, Rule39_RecordsNothingWhileNoTransactionLives) {
  commit("a");
  EXPECT_EQ(window_.stats().window_bytes, 0U);
  EXPECT_TRUE(has_conflict(Sequence{0}, key("other"))) << "it may have read what was not recorded";
  EXPECT_FALSE(has_conflict(last_, key("a")));
}

TEST_F(CommitWindowTest, FindsKeysThatWereWrittenAfterTheSnapshot) {
  window_.begin();
  commit("a");
  commit("b");
  commit("a");
  EXPECT_TRUE(has_conflict(Sequence{2}, key("a")));
  EXPECT_FALSE(has_conflict(Sequence{3}, key("a")));
  EXPECT_TRUE(has_conflict(Sequence{1}, key("b")));
  EXPECT_FALSE(has_conflict(Sequence{2}, key("b")));
  EXPECT_FALSE(has_conflict(Sequence{0}, key("a", KeyspaceId{1})));
  EXPECT_EQ(window_.stats().conflicts, 2U);
  window_.end();
}

TEST_F(CommitWindowTest, FindsKeysInsideOfIntervals) {
  window_.begin();
  commit("b");
  commit("d", KeyspaceId{1});
  EXPECT_TRUE(has_conflict(Sequence{0}, range("a", "c")));
  EXPECT_TRUE(has_conflict(Sequence{0}, range("b", "c")));
  EXPECT_FALSE(has_conflict(Sequence{0}, range("a", "b")));
  EXPECT_FALSE(has_conflict(Sequence{0}, range("c", "e")));
  EXPECT_TRUE(has_conflict(Sequence{0}, range("c", "e", KeyspaceId{1})));
  EXPECT_FALSE(has_conflict(Sequence{2}, range("a", "e", KeyspaceId{1})));
  window_.end();
}

TEST_F(CommitWindowTest, ADeletedRangeConflictsWithReadsInsideIt) {
  window_.begin();
  commit(Changes(kDefaultKeyspace, kRangeDelete, "d", "f"));
  EXPECT_TRUE(has_conflict(Sequence{0}, key("d")));
  EXPECT_TRUE(has_conflict(Sequence{0}, key("e")));
  EXPECT_FALSE(has_conflict(Sequence{0}, key("f")));
  EXPECT_FALSE(has_conflict(Sequence{0}, key("e", KeyspaceId{1})));
  EXPECT_TRUE(has_conflict(Sequence{0}, range("a", "dz")));
  EXPECT_TRUE(has_conflict(Sequence{0}, range("e", "e1")));
  EXPECT_FALSE(has_conflict(Sequence{0}, range("a", "d")));
  EXPECT_FALSE(has_conflict(Sequence{0}, range("f", "z")));
  EXPECT_FALSE(has_conflict(Sequence{1}, key("e")));
  // A transaction that deletes a range, checked by what it writes.
  commit("m");
  const CommitCheck by_writes{.snapshot = Sequence{1}};
  EXPECT_FALSE(window_.check(by_writes, Changes(kDefaultKeyspace, kRangeDelete, "k", "n")).ok());
  EXPECT_TRUE(window_.check(by_writes, Changes(kDefaultKeyspace, kRangeDelete, "k", "m")).ok());
  window_.end();
}

TEST_F(CommitWindowTest, Rule39_ForgetsTheOldestBeyondItsMemory) {
  window_.begin();
  for (int i = 0; i < 1000; ++i) commit("key " + std::to_string(i));
  EXPECT_LE(window_.stats().window_bytes, 10'000U);
  EXPECT_GT(window_.stats().window_bytes, 9'000U);
  EXPECT_TRUE(has_conflict(Sequence{900}, key("other"))) << "older than what is kept";
  EXPECT_TRUE(has_conflict(Sequence{990}, key("key 995")));
  EXPECT_FALSE(has_conflict(Sequence{990}, key("key 985")));
  for (int i = 0; i < 1000; ++i) commit("the same key");
  EXPECT_TRUE(has_conflict(Sequence{1999}, key("the same key")));
  EXPECT_FALSE(has_conflict(Sequence{2000}, key("the same key")));
  commit("other");
  EXPECT_FALSE(has_conflict(Sequence{2000}, key("the same key")));
  for (int i = 0; i < 1000; ++i) commit(Changes(kDefaultKeyspace, kRangeDelete, "m", "n"));
  EXPECT_LE(window_.stats().window_bytes, 10'000U);
  EXPECT_TRUE(has_conflict(Sequence{2800}, key("other"))) << "older than what is kept";
  EXPECT_TRUE(has_conflict(Sequence{3000}, key("m")));
  EXPECT_FALSE(has_conflict(Sequence{3000}, key("n")));
  window_.end();
  commit("last");
  EXPECT_EQ(window_.stats().window_bytes, 0U);
}

TEST_F(CommitWindowTest, ACommitLargerThanItsMemoryMakesEveryTransactionOld) {
  window_.begin();
  Batch batch;
  for (int i = 0; i < 1000; ++i) batch.put("key " + std::to_string(i), "value");
  commit(batch);
  EXPECT_EQ(window_.stats().window_bytes, 0U);
  EXPECT_TRUE(has_conflict(Sequence{0}, key("other")));
  EXPECT_FALSE(has_conflict(last_, key("key 1")));
  window_.end();
}

TEST_F(CommitWindowTest, Rule39_RangesLargerThanItsMemoryMakeEveryTransactionOld) {
  window_.begin();
  commit(Changes(kDefaultKeyspace, kRangeDelete, "a", std::string(20'000, 'b')));
  EXPECT_EQ(window_.stats().window_bytes, 0U);
  EXPECT_TRUE(has_conflict(Sequence{0}, key("other")));
  EXPECT_FALSE(has_conflict(last_, key("a")));
  window_.end();
}

TEST_F(CommitWindowTest, Rule40_AtSnapshotIsolationARangeIsAWriteOfEveryKeyInIt) {
  window_.begin();
  const CommitCheck by_writes{.snapshot = last_};
  const auto is_accepted = [&](EntryKind kind, std::string_view key, std::string_view value) {
    return window_.check(by_writes, Changes(kDefaultKeyspace, kind, key, value)).ok();
  };
  commit(Changes(kDefaultKeyspace, EntryKind::kMerge, "b", "1"));
  commit(Changes(kDefaultKeyspace, kRangeDelete, "d", "f"));
  EXPECT_FALSE(is_accepted(kRangeDelete, "a", "c")) << "a merge";
  EXPECT_FALSE(is_accepted(kRangeDelete, "e", "g")) << "another range";
  EXPECT_FALSE(is_accepted(kRangeDelete, "", "")) << "an open end";
  EXPECT_TRUE(is_accepted(kRangeDelete, "c", "d"));
  EXPECT_TRUE(is_accepted(kRangeDelete, "f", ""));
  EXPECT_FALSE(is_accepted(EntryKind::kPut, "d", "1"));
  EXPECT_FALSE(is_accepted(EntryKind::kMerge, "e", "1"));
  EXPECT_TRUE(is_accepted(EntryKind::kMerge, "b", "1"));
  EXPECT_TRUE(is_accepted(EntryKind::kDelete, "f", ""));
  window_.end();
}

TEST_F(CommitWindowTest, ForgetsWhatNoLiveTransactionNeeds) {
  MemoryFileSystem files;
  const StoreContext context("/store", {}, {.files = &files});
  PublishedSequence published;
  window_.begin();
  LiveHandle handle;
  for (int i = 0; i < 300; ++i) {
    if (i == 100) {
      published.publish(last_);
      handles_.add_snapshot(handle, published, context.expiry);
    }
    commit("k");
  }
  EXPECT_LE(window_.stats().window_bytes, 10'000U);
  EXPECT_TRUE(has_conflict(Sequence{50}, key("other"))) << "its snapshot is not registered, so the record is gone";
  EXPECT_FALSE(has_conflict(handle.sequence, key("other")));
  EXPECT_TRUE(has_conflict(handle.sequence, key("k")));
  handles_.remove(handle);
  window_.end();
}

TEST_F(CommitWindowTest, TheTransactionsThatCommitNeedNoRecord) {
  window_.begin();
  commit(Changes(kDefaultKeyspace, EntryKind::kPut, "a", ""), 1);
  EXPECT_EQ(window_.stats().window_bytes, 0U);
  window_.begin();
  commit(Changes(kDefaultKeyspace, EntryKind::kPut, "a", ""), 1);
  EXPECT_GT(window_.stats().window_bytes, 0U) << "another one lives";
  window_.end();
  window_.end();
}

TEST_F(CommitWindowTest, Rule39_EarlierMembersOfTheGroupCount) {
  window_.begin();
  ASSERT_TRUE(window_.add_to_group(Changes(kDefaultKeyspace, EntryKind::kDelete, "a", "")).ok());
  ASSERT_TRUE(window_.add_to_group(Changes(kDefaultKeyspace, kRangeDelete, "m", "n")).ok());
  EXPECT_TRUE(has_conflict(last_, key("a")));
  EXPECT_TRUE(has_conflict(last_, key("m1")));
  EXPECT_TRUE(has_conflict(last_, range("", "z")));
  EXPECT_FALSE(has_conflict(last_, key("b")));
  const CommitCheck by_writes{.snapshot = last_};
  EXPECT_FALSE(window_.check(by_writes, Changes(kDefaultKeyspace, EntryKind::kPut, "a", "")).ok());
  window_.forget_group();
  EXPECT_FALSE(has_conflict(last_, key("a")));
  window_.end();
}

}  // namespace
}  // namespace tamis
