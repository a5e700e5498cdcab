// Rule 24: a store is not closed while handles are in use, and they outlive it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "crash/store_workload.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

std::string place(int line) { return std::string(__FILE__) + ":" + std::to_string(line); }

class Handles : public testing::Test {
 protected:
  Handles() {
    Result<DB> opened = DB::open("/store", {}, environment_on(files_, 1));
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    db_.emplace(*std::move(opened));
    EXPECT_TRUE(db_->put("a", "1").ok());
    EXPECT_TRUE(db_->flush().ok());
    EXPECT_TRUE(db_->put("b", "2").ok());
  }

  CrashFileSystem files_;
  std::optional<DB> db_;
};

TEST_F(Handles, Rule24_CloseNamesWhoIsStillThere) {
  auto walk = std::make_unique<Iterator>(db_->scan());
  const int walk_line = __LINE__ - 1;
  auto snapshot = std::make_unique<Snapshot>(db_->snapshot());
  const int snapshot_line = __LINE__ - 1;
  const Status both = db_->close();
  EXPECT_EQ(both.code(), StatusCode::kBusy);
  EXPECT_NE(both.message().find("iterator made at " + place(walk_line)), std::string_view::npos) << both.to_text();
  EXPECT_NE(both.message().find("snapshot made at " + place(snapshot_line)), std::string_view::npos) << both.to_text();
  walk.reset();
  const Status one = db_->close();
  EXPECT_EQ(one.code(), StatusCode::kBusy);
  EXPECT_EQ(one.message().find("iterator"), std::string_view::npos) << one.to_text();
  EXPECT_TRUE(db_->put("c", "3").ok()) << "a refused close leaves the store open";
  snapshot.reset();
  EXPECT_TRUE(db_->close().ok());
  EXPECT_EQ(db_->put("d", "4").code(), StatusCode::kClosed);
  EXPECT_EQ(db_->close().code(), StatusCode::kClosed);
}

TEST_F(Handles, Rule24_OutliveTheStoreAndAnswerClosed) {
  Iterator walk = db_->scan();
  auto snapshot = std::make_unique<Snapshot>(db_->snapshot());
  db_.reset();
  walk.next();
  EXPECT_FALSE(walk.valid());
  EXPECT_EQ(walk.status().code(), StatusCode::kClosed);
  walk.seek_to_first();
  EXPECT_FALSE(walk.valid());
  EXPECT_EQ(walk.status().code(), StatusCode::kClosed);
  // The store can be reopened while they live; to them it is another one.
  Result<DB> again = DB::open("/store", {}, environment_on(files_, 2));
  ASSERT_TRUE(again.ok()) << again.status().to_text();
  EXPECT_EQ(**again->get("b"), "2");
  EXPECT_EQ(again->get("a", {.snapshot = &*snapshot}).status().code(), StatusCode::kInvalidArgument);
  snapshot.reset();
  EXPECT_TRUE(again->close().ok());
}

TEST_F(Handles, AnIteratorOverTablesThatAreGoneGoesOn) {
  Iterator walk = db_->scan();
  ASSERT_TRUE(db_->remove("a").ok());
  ASSERT_TRUE(db_->compact().ok());
  ASSERT_TRUE(db_->compact().ok());
  std::string seen;
  for (walk.seek_to_first(); walk.valid(); walk.next()) seen += std::string(walk.key()) + std::string(walk.value());
  EXPECT_TRUE(walk.status().ok());
  EXPECT_EQ(seen, "a1b2");
}

TEST_F(Handles, TablesThatWereKeptForAnIteratorAreGoneAfterClosing) {
  const auto tables = [&] {
    const std::vector<DirectoryEntry> entries = *files_.list("/store");
    return std::ranges::count_if(entries, [](const DirectoryEntry& entry) { return entry.name.ends_with(".tms"); });
  };
  auto walk = std::make_unique<Iterator>(db_->scan());
  ASSERT_TRUE(db_->compact().ok());
  EXPECT_EQ(tables(), 2) << "the iterator's and the new one";
  walk.reset();
  ASSERT_TRUE(db_->close().ok());
  EXPECT_EQ(tables(), 1);
}

}  // namespace
}  // namespace tamis::test
