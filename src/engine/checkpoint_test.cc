#include <gtest/gtest.h>

#include "support/faulty_file_system.h"
#include "support/open_db.h"
#include "support/passing_file_system.h"
#include "support/repair_world.h"

namespace tamis {
namespace {

using test::Contents;
using test::RepairWorld;
using test::small_options;

Contents copy_of(RepairWorld& world, const std::string& path) {
  Result<DB> copy = DB::open(path, small_options(), world.environment());
  EXPECT_TRUE(copy.ok()) << copy.status().to_text();
  if (!copy.ok()) return {};
  EXPECT_TRUE(copy->verify()->ok());
  Contents contents = RepairWorld::contents(*copy);
  EXPECT_TRUE(copy->close().ok());
  return contents;
}

TEST(Checkpoint, IsTheStoreAsOfThen) {
  RepairWorld world;
  DB db = world.open();
  ASSERT_TRUE(db.checkpoint("/empty").ok());
  EXPECT_TRUE(copy_of(world, "/empty").empty());
  world.write_some(db, 1500);
  ASSERT_TRUE(db.checkpoint("/copy").ok());
  const Contents then = world.model;
  for (const std::string& name : world.names("/copy")) EXPECT_FALSE(name.ends_with(".journal")) << name;
  world.write_some(db, 1500);
  ASSERT_TRUE(db.compact().ok());  // The original's tables are removed, the copy's stay.
  EXPECT_TRUE(copy_of(world, "/copy") == then);
  {
    Result<DB> copy = DB::open("/copy", small_options(), world.environment());
    ASSERT_TRUE(copy.ok() && copy->put("only", "here").ok() && copy->compact().ok() && copy->close().ok());
  }
  EXPECT_TRUE(RepairWorld::contents(db) == world.model);
  EXPECT_TRUE(db.verify()->ok());
}

TEST(Checkpoint, Rule21_IsDurableWhenItReturns) {
  RepairWorld world;
  DB db = world.open();
  world.write_some(db, 300);
  ASSERT_TRUE(db.checkpoint("/copy").ok());
  RepairWorld after(world.files.disk().after_crash(Loss::kEverything, 1));
  ASSERT_TRUE(after.files.file_size("/copy/CURRENT")->has_value());
  EXPECT_TRUE(copy_of(after, "/copy") == world.model);
}

TEST(Checkpoint, NeedsAFolderThatDoesNotExist) {
  RepairWorld world;
  DB db = world.open();
  ASSERT_TRUE(world.files.make_directory("/there").ok());
  EXPECT_EQ(db.checkpoint("/there").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(db.checkpoint("/store").code(), StatusCode::kInvalidArgument);
  world.put_file("/file", "not a folder");
  EXPECT_EQ(db.checkpoint("/file").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(*read_whole_file(world.files, "/file"), "not a folder");
}

TEST(Checkpoint, Rule21_CopiesWhereLinksDoNotWorkAndTablesStayMeanwhile) {
  RepairWorld world;
  test::FileSystemWithoutLinks files(world.files);
  DB db = test::open_db(files, small_options());
  world.write_some(db, 1500);
  const Contents then = world.model;
  files.on_link = [&] { EXPECT_TRUE(db.compact().ok()); };  // Every table is replaced while it is being copied.
  ASSERT_TRUE(db.checkpoint("/copy").ok());
  EXPECT_TRUE(copy_of(world, "/copy") == then);
  EXPECT_TRUE(RepairWorld::contents(db) == then);
  EXPECT_EQ(test::tables_on_disk(files), test::live_tables(db)) << "files kept for the copy have been removed";
}

TEST(Checkpoint, Rule21_HalfMadeIsNoStoreAndHarmsNothing) {
  RepairWorld world;
  DB db = world.open();
  world.write_some(db, 800);
  std::vector<MemoryDisk> crashes;
  world.files.after_each_call([&](const MemoryDisk& disk, std::string_view) { crashes.push_back(disk); });
  ASSERT_TRUE(db.checkpoint("/copy").ok());
  world.files.after_each_call({});
  std::size_t whole = 0;
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    for (const Loss loss : kAllLosses) {
      RepairWorld after(crashes[i].after_crash(loss, i));
      const bool is_store = after.files.file_size("/copy/CURRENT")->has_value();
      if (is_store) {
        ++whole;
        EXPECT_TRUE(copy_of(after, "/copy") == world.model) << "crash " << i << ", " << to_string(loss);
      }
      if (i % 4 != 0) continue;
      DB original = after.open();
      EXPECT_TRUE(original.verify()->ok());
      if (loss == Loss::kNothing) {
        EXPECT_TRUE(RepairWorld::contents(original) == world.model);
      }
    }
  }
  EXPECT_GT(whole, 0U);
}

TEST(Checkpoint, ThatFailsLeavesTheStoreAsItWas) {
  int failed = 0;
  for (std::uint64_t call = 1; call < 120; call += 3) {
    RepairWorld world;
    {
      DB db = world.open();
      world.write_some(db, 400);
      ASSERT_TRUE(db.close().ok());
    }
    FaultyFileSystem faulty(world.files, {.kind = FaultKind::kIoError, .at_call = call, .sticky = false});
    Result<DB> db =
        DB::open("/store", small_options(), {.files = &faulty, .random_seed = 7, .runs_in_background = false});
    if (!db.ok()) continue;
    failed += db->checkpoint("/copy").ok() ? 0 : 1;
    (void)db->close().ok();
    EXPECT_TRUE(world.contents() == world.model) << call;
  }
  EXPECT_GT(failed, 10);
}

TEST(Destroy, RemovesOnlyWhatIsOurs) {
  RepairWorld world;
  world.fill("leveled", 800);
  world.repair();  // Makes lost/.
  world.put_file("/store/notes.txt", "mine");
  world.put_file("/store/12.tms", "not our way to write a number");
  const std::vector<std::string> lost = world.names("/store/lost");
  ASSERT_FALSE(lost.empty());
  ASSERT_TRUE(DB::destroy("/store", world.environment()).ok());
  EXPECT_EQ(world.names(), (std::vector<std::string>{"12.tms", "LOCK", "lost", "notes.txt"}));
  EXPECT_EQ(world.names("/store/lost"), lost);
  ASSERT_TRUE(DB::destroy("/store", world.environment()).ok());
  DB anew = world.open();
  EXPECT_TRUE(RepairWorld::contents(anew).empty());
}

TEST(Destroy, IsRefusedWhileTheStoreIsOpen) {
  RepairWorld world;
  DB db = world.open();
  world.write_some(db, 10);
  EXPECT_EQ(DB::destroy("/store", world.environment()).code(), StatusCode::kBusy);
  EXPECT_TRUE(RepairWorld::contents(db) == world.model);
  EXPECT_EQ(DB::destroy("/none", world.environment()).code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace tamis
