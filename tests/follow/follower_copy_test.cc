// Copies of a store that is being written.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <string>

#include "follow/followed_store.h"
#include "io/memory_file_system.h"
#include "support/passing_file_system.h"

namespace tamis {
namespace {

using test::content_of;
using test::FollowedStore;
using test::ObservedFileSystem;
using test::open_follower;

void expect_copy(FollowedStore& store, FileSystem& files, const std::string& path, const std::string& where) {
  Result<DB> copy = DB::open(path, test::kFollowed, test::without_threads(files));
  ASSERT_TRUE(copy.ok()) << where << ": " << copy.status().to_text();
  store.expect_prefix(*copy, copy->stats().sequence, where);
  EXPECT_TRUE(copy->verify()->problems.empty()) << where;
  EXPECT_TRUE(copy->put("own", "life").ok()) << where;
}

/// The writer goes on between any two calls of the copying, and removes the tables that are copied.
TEST(FollowerCopy, IsAPrefixWhateverTheWriterDoesMeanwhile) {
  for (const bool has_links : {true, false}) {
    MemoryFileSystem disk;
    test::FileSystemWithoutLinks without_links(disk);
    FollowedStore store(disk);
    store.open();
    store.add_keyspace("one");
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(store.commit(2000).ok());
    ObservedFileSystem files(has_links ? static_cast<FileSystem&>(disk) : without_links);
    std::uint64_t calls = 0;
    std::uint64_t at = 0;
    const auto interrupt = [&] {
      if (++calls != at) return;
      for (int i = 0; i < 60; ++i) ASSERT_TRUE(store.commit(2000).ok());
      ASSERT_TRUE(store.db().compact().ok());
      ASSERT_TRUE(store.commit().ok());
    };
    files.before_read = files.after_change = interrupt;
    Result<DB> follower = open_follower(files);
    ASSERT_TRUE(follower.ok());
    bool was_interrupted = true;
    for (std::uint64_t call = 1; was_interrupted; call += 3) {
      const std::string path = fmt::format("/copy{}", call);
      const std::uint64_t shown = *follower->catch_up();
      calls = 0;
      at = call;
      const Status copied = follower->checkpoint(path);
      was_interrupted = calls >= at;
      at = 0;
      ASSERT_TRUE(copied.ok()) << "call " << call << ": " << copied.to_text();
      expect_copy(store, disk, path, fmt::format("interrupted at call {}", call));
      EXPECT_GE(*follower->catch_up(), shown);
      EXPECT_EQ(follower->checkpoint(path).code(), StatusCode::kInvalidArgument) << "it exists";
    }
  }
}

}  // namespace
}  // namespace tamis
