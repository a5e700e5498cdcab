// Repair of stores whose journals hold batches over several keyspaces.
#include <gtest/gtest.h>

#include <string>

#include "support/repair_world.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using test::RepairWorld;

/// Leaves a store whose journal has a batch over "users", "logs" and the default keyspace, and entries of a keyspace
/// that was dropped. "users" has a table with older entries; "logs" has none.
void fill(RepairWorld& world) {
  Result<DB> db = DB::open("/store", {}, world.environment());
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  Keyspace users = *db->keyspace("users");
  ASSERT_TRUE(users.put("in a table", "1").ok() && db->flush().ok());
  const Keyspace logs = *db->keyspace("logs");
  const Keyspace dropped = *db->keyspace("dropped");
  Batch batch;
  batch.put("key", "default");
  batch.put(users, "key", "users");
  batch.put(logs, "key", "logs");
  batch.put(dropped, "key", "dropped");
  batch.remove(users, "in a table");
  ASSERT_TRUE(db->write(batch, {.sync = true}).ok());
  ASSERT_TRUE(db->drop_keyspace("dropped").ok());
  ASSERT_TRUE(db->close().ok());
}

std::string value_in(DB& db, std::string_view keyspace, std::string_view key = "key") {
  return db.keyspace(keyspace)->get(key)->value_or("none");
}

TEST(RepairOfKeyspaces, Rule35_JournalEntriesComeBackToTheirKeyspaces) {
  RepairWorld world;
  fill(world);
  const RepairReport report = world.repair();
  EXPECT_TRUE(report.lost.empty());
  EXPECT_EQ(report.journal_entries, 4U) << "one is of the keyspace that was dropped";
  DB db = *DB::open("/store", {}, world.environment());
  EXPECT_EQ(value_in(db, "default"), "default");
  EXPECT_EQ(value_in(db, "users"), "users");
  EXPECT_EQ(value_in(db, "users", "in a table"), "none");
  EXPECT_EQ(value_in(db, "logs"), "logs");
  EXPECT_EQ(db.keyspaces().size(), 3U) << "a dropped keyspace stays dropped";
  EXPECT_TRUE(db.verify()->ok());
}

/// Journals have ids without names: a keyspace without a table gets a name of its own.
TEST(RepairOfKeyspaces, Rule35_WithoutAManifestNoEntryOfAJournalIsLost) {
  RepairWorld world;
  fill(world);
  world.remove_manifest();
  const RepairReport report = world.repair();
  EXPECT_TRUE(report.lost.empty());
  EXPECT_EQ(report.journal_entries, 5U);
  DB db = *DB::open("/store", {}, world.environment());
  EXPECT_EQ(value_in(db, "default"), "default");
  EXPECT_EQ(value_in(db, "users"), "users");
  EXPECT_EQ(value_in(db, "users", "in a table"), "none");
  EXPECT_EQ(value_in(db, "~2"), "logs");
  EXPECT_EQ(value_in(db, "~3"), "dropped");
  EXPECT_NE(report.to_text().find("the name of keyspace 2 is lost"), std::string::npos) << report.to_text();
  EXPECT_TRUE(db.keyspace("logs").ok());
  EXPECT_EQ(db.keyspaces().back().id, 4U) << "no id is given twice";
}

/// Rule 34: what is in a table of its keyspace is not taken from the journals again.
TEST(RepairOfKeyspaces, Rule34_EntriesThatTheirKeyspaceHasFlushedAreTakenOnce) {
  RepairWorld world;
  {
    Options options;
    options.memory_bytes = 4 << 20;
    options.memtable_bytes = 256 << 10;
    options.compaction = "manual";
    DB db = *DB::open("/store", options, world.environment());
    Keyspace seldom = *db.keyspace("seldom");
    Keyspace often = *db.keyspace("often");
    ASSERT_TRUE(seldom.put("kept in the journal", "1").ok());
    const std::string value(1000, 'v');
    for (int i = 0; i < 400; ++i) ASSERT_TRUE(often.put(std::to_string(i), value).ok());
    ASSERT_TRUE(db.wait_idle().ok());
    ASSERT_GT(db.keyspaces()[2].tables, 0U) << "the other keyspace has been flushed";
    ASSERT_EQ(db.keyspaces()[1].tables, 0U) << "this one is in the journal alone";
    ASSERT_TRUE(db.close().ok());
  }
  const RepairReport report = world.repair();
  EXPECT_EQ(report.entries + report.journal_entries, 401U) << report.to_text();
  DB db = *DB::open("/store", {}, world.environment());
  EXPECT_EQ(value_in(db, "seldom", "kept in the journal"), "1");
  EXPECT_EQ(value_in(db, "often", "399").size(), 1000U);
}

}  // namespace
}  // namespace tamis
