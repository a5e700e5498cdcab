// Readers beside a writer: rules 42 and 43.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <optional>
#include <string>
#include <vector>

#include "follow/followed_store.h"
#include "io/file_names.h"
#include "io/memory_file_system.h"
#include "journal/journal_reader.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "tree/manifest_reader.h"

namespace tamis {
namespace {

using test::content_of;
using test::FollowedStore;
using test::ObservedFileSystem;
using test::open_follower;

/// Opens a follower and checks what it shows.
void expect_opens(FollowedStore& store, FileSystem& files, const std::string& where) {
  Result<DB> follower = open_follower(files);
  ASSERT_TRUE(follower.ok()) << where << ": " << follower.status().to_text();
  store.expect_prefix(*follower, follower->stats().sequence, where);
}

/// Every kind of change: commits, flushes, compactions, recycled journals, manifests, keyspaces, a large commit.
void write_everything(FollowedStore& store) {
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(store.commit().ok());
  store.add_keyspace("one");
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000, {.sync = i % 8 == 0}).ok());
  ASSERT_TRUE(store.db().flush().ok());
  store.add_keyspace("two");
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
  ASSERT_TRUE(store.commit(150 << 10).ok());
  store.drop_keyspace("one");
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
  ASSERT_TRUE(store.db().compact().ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store.commit(100).ok());
}

TEST(Follower, Rule42_ShowsAPrefixAfterEveryFileCallOfTheWriter) {
  MemoryFileSystem disk;
  ObservedFileSystem files(disk);
  FollowedStore store(files);
  store.open();
  ASSERT_TRUE(store.commit().ok());
  Result<DB> always = open_follower(disk);  // Catches up after each call,
  Result<DB> late = open_follower(disk);    // and this one after many.
  ASSERT_TRUE(always.ok() && late.ok());
  std::uint64_t calls = 0;
  std::uint64_t shown = 0;
  files.after_change = [&] {
    const std::string where = fmt::format("after call {}", ++calls);
    const Result<std::uint64_t> sequence = always->catch_up();
    ASSERT_TRUE(sequence.ok()) << where << ": " << sequence.status().to_text();
    ASSERT_GE(*sequence, shown) << where;
    if (*sequence != shown || calls % 5 == 0) store.expect_prefix(*always, *sequence, where);
    shown = *sequence;
    if (calls % 41 == 0) {
      const Result<std::uint64_t> reached = late->catch_up();
      ASSERT_TRUE(reached.ok()) << where << ": " << reached.status().to_text();
      EXPECT_EQ(*reached, *sequence) << where;
      store.expect_prefix(*late, *reached, where + ", late");
    }
    if (calls % 7 == 0) expect_opens(store, disk, where + ", anew");
  };
  write_everything(store);
  files.after_change = {};
  EXPECT_GT(calls, 500U);
  EXPECT_EQ(*always->catch_up(), store.newest());
  store.close();
  EXPECT_EQ(*always->catch_up(), store.newest()) << "after a clean close";
  store.expect_prefix(*always, store.newest(), "after a clean close");
  store.open();
  ASSERT_TRUE(store.commit().ok());
  EXPECT_EQ(*always->catch_up(), store.newest()) << "a journal that was continued";
  store.expect_prefix(*always, store.newest(), "a journal that was continued");
}

/// The writer works between any two calls of the follower.
TEST(Follower, Rule42_ShowsAPrefixWhateverTheWriterDoesWhileItReads) {
  MemoryFileSystem disk;
  FollowedStore store(disk);
  store.open();
  store.add_keyspace("one");
  ASSERT_TRUE(store.commit().ok());
  ObservedFileSystem files(disk);
  Result<DB> follower = open_follower(files);
  ASSERT_TRUE(follower.ok());
  std::uint64_t calls = 0;
  std::uint64_t at = 0;
  int burst = 0;
  files.before_read = [&] {
    if (++calls != at) return;
    for (int i = 0; i < 5 + 40 * (burst % 3); ++i) ASSERT_TRUE(store.commit(2000).ok());
    if (burst % 4 == 1) {
      ASSERT_TRUE(store.db().flush().ok());
    }
    if (burst % 4 == 2) {
      ASSERT_TRUE(store.db().compact().ok());
    }
    if (burst % 4 == 3) {
      store.drop_keyspace("one");
      store.add_keyspace("one");
    }
    ++burst;
  };
  std::uint64_t shown = 0;
  bool was_interrupted = true;
  for (std::uint64_t call = 1; was_interrupted; ++call) {
    for (const bool opens : {false, true}) {
      for (int i = 0; i < 30; ++i) ASSERT_TRUE(store.commit(1500).ok());
      if (call % 3 == 0) {
      ASSERT_TRUE(store.db().flush().ok());
    }
      const std::string where = fmt::format("interrupted at call {}{}", call, opens ? " of an opening" : "");
      calls = 0;
      at = call;
      if (opens) {
        expect_opens(store, files, where);
        continue;
      }
      const Result<std::uint64_t> sequence = follower->catch_up();
      was_interrupted = calls >= at;
      at = 0;
      ASSERT_TRUE(sequence.ok()) << where << ": " << sequence.status().to_text();
      EXPECT_GE(*sequence, shown) << where;
      shown = *sequence;
      store.expect_prefix(*follower, *sequence, where);
    }
  }
  EXPECT_GT(burst, 30);
}

}  // namespace
}  // namespace tamis
