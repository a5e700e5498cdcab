// What a follower asks of the file system: it writes nothing, costs little, and survives failing calls.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <string>
#include <vector>

#include "follow/followed_store.h"
#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"

namespace tamis {
namespace {

using test::CountingFileSystem;
using test::FollowedStore;
using test::ObservedFileSystem;
using test::open_follower;

TEST(FollowerCalls, WritesNothing) {
  MemoryFileSystem disk;
  FollowedStore store(disk);
  store.open();
  store.add_keyspace("one");
  ObservedFileSystem files(disk);
  int changes = 0;
  files.after_change = [&] { ++changes; };
  Result<DB> follower = open_follower(files);
  ASSERT_TRUE(follower.ok());
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(store.commit(2000).ok());
    const std::vector<std::string> before = test::names_in(disk, "/store");
    ASSERT_EQ(*follower->catch_up(), store.newest());
    store.expect_prefix(*follower, store.newest(), "a round");
    EXPECT_TRUE(follower->verify().ok());
    EXPECT_EQ(test::names_in(disk, "/store"), before);
  }
  EXPECT_EQ(follower->put("key", "value").code(), StatusCode::kNotSupported);
  EXPECT_EQ(follower->flush().code(), StatusCode::kNotSupported);
  EXPECT_FALSE(follower->keyspace("two").ok());
  ASSERT_TRUE(follower->close().ok());
  EXPECT_EQ(changes, 0);
  EXPECT_EQ(store.db().catch_up().status().code(), StatusCode::kNotSupported) << "not a follower";
  EXPECT_EQ(DB::open("/store", {.follows = true}, test::without_threads(disk)).status().code(),
            StatusCode::kInvalidArgument)
      << "a follower that writes";
}

/// CURRENT (open, size, read), the journal (size, read, header, last record), the folder.
TEST(FollowerCalls, CatchingUpWithNothingNewTakesFewCalls) {
  MemoryFileSystem disk;
  FollowedStore store(disk);
  store.open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(store.commit(2000).ok());
  ASSERT_TRUE(store.db().flush().ok());
  ASSERT_TRUE(store.commit().ok());
  CountingFileSystem files(disk);
  Result<DB> follower = open_follower(files);
  ASSERT_TRUE(follower.ok());
  ASSERT_TRUE(follower->catch_up().ok());
  const std::uint64_t before = files.calls();
  ASSERT_EQ(*follower->catch_up(), store.newest());
  EXPECT_LE(files.calls() - before, 10U);
  ASSERT_TRUE(store.commit().ok());
  const std::uint64_t with_one = files.calls();
  ASSERT_EQ(*follower->catch_up(), store.newest());
  EXPECT_LE(files.calls() - with_one, 18U) << "one commit: CURRENT is read again";
}

/// The memtables of a follower are those of its writer.
TEST(FollowerCalls, ForgetsWhatTheWriterHasFlushed) {
  MemoryFileSystem disk;
  FollowedStore store(disk);
  store.open();
  Result<DB> follower = open_follower(disk);
  ASSERT_TRUE(follower.ok());
  for (int i = 0; i < 400; ++i) {
    ASSERT_TRUE(store.commit(2000).ok());
    ASSERT_EQ(*follower->catch_up(), store.newest());
  }
  EXPECT_LE(follower->stats().memory.memtables, 6 * test::kFollowed.memtable_bytes);
  EXPECT_LE(follower->stats().journal.files, 6U);
  ASSERT_TRUE(store.db().flush().ok());
  ASSERT_TRUE(follower->catch_up().ok());
  EXPECT_EQ(follower->keyspaces().front().memtable_bytes, 0U);
}

TEST(FollowerCalls, AnyFailedCallIsAnErrorAndTheNextOneCatchesUp) {
  for (const FaultKind kind : {FaultKind::kIoError, FaultKind::kTooManyFiles}) {
    bool has_failed = true;
    for (std::uint64_t call = 1; has_failed; ++call) {
      MemoryFileSystem disk;
      FollowedStore store(disk);
      store.open();
      store.add_keyspace("one");
      for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
      FaultyFileSystem faulty(disk, {.kind = kind, .at_call = call});
      Result<DB> follower = open_follower(faulty);
      const std::string where = fmt::format("kind {}, call {}", static_cast<int>(kind), call);
      if (!follower.ok()) {
        EXPECT_NE(follower.status().code(), StatusCode::kCorruption) << where << follower.status().to_text();
        faulty.heal();
        follower = open_follower(faulty);
        ASSERT_TRUE(follower.ok()) << where;
        continue;
      }
      const std::uint64_t before = follower->stats().sequence;
      for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
      ASSERT_TRUE(store.db().compact().ok());
      const Result<std::uint64_t> reached = follower->catch_up();
      const std::uint64_t expected = reached.ok() ? store.newest() : before;
      EXPECT_NE(reached.status().code(), StatusCode::kCorruption) << where;
      has_failed = faulty.fired() > 0;
      faulty.heal();
      store.expect_prefix(*follower, expected, where);
      ASSERT_EQ(*follower->catch_up(), store.newest()) << where;
      store.expect_prefix(*follower, store.newest(), where + ", healed");
    }
  }
}

}  // namespace
}  // namespace tamis
