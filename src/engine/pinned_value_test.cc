#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

/// A pinned value used to keep its view, and with it every later memtable and table.
TEST(PinnedValue, KeepsNothingThatComesAfterIt) {
  MemoryFileSystem files;
  const Options options{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .table_bytes = 64 << 10, .fanout = 2};
  Result<DB> db = DB::open("/store", options, {.files = &files, .random_seed = 1, .runs_in_background = false});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  ASSERT_TRUE(db->put("pinned", "value").ok());
  const Result<std::optional<PinnedValue>> pinned = db->get_pinned("pinned");
  ASSERT_TRUE(pinned.ok() && pinned->has_value());
  for (int round = 0; round < 40; ++round) {
    ASSERT_TRUE(db->put("other" + std::to_string(round % 7), std::string(2000, 'v')).ok());
    ASSERT_TRUE(db->flush().ok());
  }
  std::uint64_t live = 0;
  for (const Stats::Level& level : db->stats().levels) live += level.tables;
  const std::vector<DirectoryEntry> entries = *files.list("/store");
  const auto on_disk = std::ranges::count_if(entries, [](const DirectoryEntry& e) { return e.name.ends_with(".tms"); });
  EXPECT_EQ(static_cast<std::uint64_t>(on_disk), live) << "replaced tables are still held";
  EXPECT_EQ((*pinned)->view(), "value");
}

TEST(PinnedValue, OutlivesItsStoreWhereverTheValueLies) {
  MemoryFileSystem files;
  std::optional<DB> db = *DB::open("/store", {}, {.files = &files, .random_seed = 1, .runs_in_background = false});
  const std::string in_table(1000, 't');
  const std::string in_memory(1000, 'm');
  ASSERT_TRUE(db->put("table", in_table).ok() && db->flush().ok());
  ASSERT_TRUE(db->put("memtable", in_memory).ok());
  PinnedValue of_table = **db->get_pinned("table");
  PinnedValue uncached = **db->get_pinned("table", {.fills_cache = false});
  PinnedValue of_memtable = **db->get_pinned("memtable");
  ASSERT_TRUE(db->close().ok()) << "a value does not keep it open";
  db.reset();
  EXPECT_EQ(of_table.view(), in_table);
  EXPECT_EQ(uncached.view(), in_table);
  EXPECT_EQ(of_memtable.view(), in_memory);
}

}  // namespace
}  // namespace tamis
