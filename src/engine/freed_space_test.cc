// Range deletes that cover tables are flushed at once, so that the tables can go (rule 27).
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "io/memory_file_system.h"
#include "support/open_db.h"
#include "tamis/db.h"

namespace tamis {
namespace {

std::string key(int i) { return fmt::format("{:06}", i); }

class FreedSpace : public testing::Test {
 protected:
  static constexpr int kKeys = 4000;

  template <typename Tree>
  void load(Tree& tree) {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(tree.put(key(i), std::string(600, 'v')).ok());
    ASSERT_TRUE(db.flush().ok());
    ASSERT_TRUE(db.wait_idle().ok());
    ASSERT_GE(test::tables_on_disk(files), 8U);
  }
  [[nodiscard]] std::uint64_t flushes() const { return db.stats().flushes; }

  MemoryFileSystem files;
  DB db = test::open_db(files, {.memory_bytes = 16 << 20, .memtable_bytes = 1 << 20, .table_bytes = 256 << 10});
};

TEST_F(FreedSpace, Rule27_IsBackWhenNothingIsLeftToDo) {
  load(db);
  ASSERT_TRUE(db.remove_range(key(1), key(kKeys - 1)).ok());
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_LE(test::tables_on_disk(files), 3U) << "the first, the last, and the one with the range delete";
  EXPECT_EQ(*db.get(key(0)), std::string(600, 'v'));
  EXPECT_EQ(*db.get(key(1)), std::nullopt);
}

TEST_F(FreedSpace, Rule27_IsBackInEveryKeyspace) {
  Keyspace users = *db.keyspace("users");
  load(users);
  ASSERT_TRUE(db.put("here", "1").ok());
  ASSERT_TRUE(users.remove_range("", std::nullopt).ok());
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_LE(test::tables_on_disk(files), 1U);
  EXPECT_EQ(*db.get("here"), "1");
}

TEST_F(FreedSpace, NothingIsFlushedForLittleOrTwice) {
  load(db);
  const Snapshot sees = db.snapshot();  // Keeps the tables.
  const std::uint64_t before = flushes();
  ASSERT_TRUE(db.remove_range(key(1), key(10)).ok());
  EXPECT_EQ(flushes(), before);
  ASSERT_TRUE(db.remove_range(key(1), key(3000)).ok());
  EXPECT_EQ(flushes(), before + 1);
  ASSERT_TRUE(db.remove_range(key(1), key(3001)).ok());
  EXPECT_EQ(flushes(), before + 1) << "these tables were covered before";
}

}  // namespace
}  // namespace tamis
