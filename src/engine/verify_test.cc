#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

std::uint64_t live_tables(const DB& db) {
  std::uint64_t live = 0;
  for (const Stats::Level& level : db.stats().levels) live += level.tables;
  return live;
}

std::uint64_t tables_on_disk(MemoryFileSystem& files) {
  const std::vector<DirectoryEntry> entries = *files.list("/store");
  return static_cast<std::uint64_t>(
      std::ranges::count_if(entries, [](const DirectoryEntry& e) { return e.name.ends_with(".tms"); }));
}

/// Verification may take hours: it keeps the tables that it reads, and no later ones.
TEST(Verify, KeepsNothingThatComesAfterIt) {
  MemoryFileSystem files;
  const Options options{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .table_bytes = 64 << 10, .fanout = 2};
  Result<DB> db = DB::open("/store", options, {.files = &files, .random_seed = 1, .runs_in_background = false});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(db->put("key" + std::to_string(i), std::string(2000, 'v')).ok());
    ASSERT_TRUE(db->flush().ok());
  }
  const std::uint64_t tables = live_tables(*db);
  bool has_written = false;
  const Result<VerifyReport> report = db->verify([&](std::uint64_t, std::uint64_t) {
    if (std::exchange(has_written, true)) return true;
    for (int round = 0; round < 40; ++round) {
      EXPECT_TRUE(db->put("key" + std::to_string(round % 7), std::string(2000, 'v')).ok());
      EXPECT_TRUE(db->flush().ok());
    }
    EXPECT_LE(tables_on_disk(files), live_tables(*db) + tables) << "replaced tables are still held";
    EXPECT_GT(tables_on_disk(files), live_tables(*db)) << "those being read are not";
    return true;
  });
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->files, tables);
  ASSERT_TRUE(db->flush().ok());
  ASSERT_TRUE(db->compact().ok());
  EXPECT_EQ(tables_on_disk(files), live_tables(*db)) << "what it read stays behind";
}

TEST(Verify, TellsWhatIsInTheJournalAndInNoTable) {
  MemoryFileSystem files;
  Result<DB> db = DB::open("/store", {}, {.files = &files, .random_seed = 1, .runs_in_background = false});
  ASSERT_TRUE(db.ok() && db->put("a", "1").ok() && db->put("b", "2").ok());
  Result<VerifyReport> report = db->verify();
  ASSERT_TRUE(report.ok() && report->ok());
  EXPECT_EQ(report->files, 0U);
  EXPECT_EQ(report->journal_entries, 2U);
  EXPECT_GT(report->journal_bytes, 0U);
  ASSERT_TRUE(db->flush().ok() && db->put("c", "3").ok());
  report = db->verify();
  ASSERT_TRUE(report.ok() && report->ok());
  EXPECT_EQ(report->entries, 2U);
  EXPECT_EQ(report->journal_entries, 1U);
}

TEST(Verify, EndsWhenItIsToldTo) {
  MemoryFileSystem files;
  Result<DB> db = DB::open("/store", {}, {.files = &files, .random_seed = 1, .runs_in_background = false});
  ASSERT_TRUE(db.ok() && db->put("a", "b").ok() && db->flush().ok());
  EXPECT_FALSE(db->verify([](std::uint64_t, std::uint64_t) { return false; }).ok());
}

}  // namespace
}  // namespace tamis
