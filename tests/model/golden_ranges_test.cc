// A store with range deletes, frozen: every later build must open tests/golden/store-2-ranges.
//
//     TAMIS_WRITE_GOLDEN=1 model_test --gtest_filter='GoldenRanges.*'    # Writes the store if it is missing.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "io/posix_file_system.h"
#include "support/golden.h"
#include "support/scratch_folder.h"
#include "table/table_sections.h"

namespace tamis::test {
namespace {

std::string key(int number) { return fmt::format("k{:02}", number); }

/// Range deletes in a compacted table, in a flushed one and in the journal, some of them without an end, in two
/// keyspaces. Each has a newer put inside.
void write_store(const std::string& path) {
  const Options options{.compaction = "manual", .journal = "write"};
  Result<DB> db = DB::open(path, options, {.random_seed = 1});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  {
    Keyspace logs = *db->keyspace("logs");
    Batch batch;
    for (int i = 0; i < 30; ++i) {
      batch.put(key(i), "old");
      batch.put(logs, key(i), "old");
    }
    ASSERT_TRUE(db->write(batch).ok() && db->flush().ok());
    const Snapshot keeps_versions = db->snapshot();
    const auto remove = [&](int from, std::optional<std::string> to) {
      Batch both;
      both.remove_range(key(from), to);
      both.put(key(from + 1), "new");
      both.remove_range(logs, key(from + 1), to);
      both.put(logs, key(from + 2), "new");
      ASSERT_TRUE(db->write(both, {.sync = true}).ok());
    };
    remove(2, key(6));
    remove(4, key(8));
    ASSERT_TRUE(db->flush().ok() && db->compact().ok() && logs.compact().ok());
    remove(12, key(16));
    remove(26, std::nullopt);
    ASSERT_TRUE(db->flush().ok());
    remove(18, key(20));
    remove(24, std::nullopt);
  }
  ASSERT_TRUE(db->close().ok());
  std::filesystem::resize_file(path + "/LOCK", 0);
}

/// The numbers of the keys, with a mark after those whose value is new.
template <typename Source>
std::string dump(const Source& source, bool reverse = false) {
  std::string text;
  Iterator all = source.scan({.reverse = reverse});
  for (; all.valid(); all.advance()) text += fmt::format("{}{} ", all.key(), all.value() == "new" ? "*" : "");
  EXPECT_TRUE(all.status().ok()) << all.status().to_text();
  return text;
}

int tables_with_range_deletes(const std::string& folder) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".tms")) continue;
    const Result<std::unique_ptr<ReadableFile>> file = posix_file_system().open_readable(path);
    const Result<TableProperties> properties = read_properties(**file, path);
    count += properties.ok() && properties->facts.range_deletes > 0 ? 1 : 0;
  }
  return count;
}

constexpr std::string_view kEntries = "k00 k01 k03* k05* k08 k09 k10 k11 k13* k16 k17 k19* k20 k21 k22 k23 k25* ";
constexpr std::string_view kLogs =
    "k00 k01 k02 k04* k06* k08 k09 k10 k11 k12 k14* k16 k17 k18 k20* k21 k22 k23 k24 k26* ";

TEST(GoldenRanges, IsOpenedVerifiedReadAndCompacted) {
  const std::string golden = source_file("tests/golden/store-2-ranges");
  if (makes_golden(golden)) write_store(golden);
  EXPECT_EQ(tables_with_range_deletes(golden), 4) << "a compacted and a flushed one of each keyspace";
  const ScratchFolder folder;
  std::filesystem::copy(golden, folder.path());
  for (const bool read_only : {true, false}) {
    Result<DB> db = DB::open(folder.path(), {.read_only = read_only}, {.random_seed = 1});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    Keyspace logs = *db->keyspace("logs");
    for (int depth = 0; depth < (read_only ? 1 : 2); ++depth) {
      EXPECT_TRUE(db->verify()->problems.empty());
      EXPECT_EQ(dump(*db), kEntries);
      EXPECT_EQ(dump(logs), kLogs);
      for (const bool is_reverse : {false, true}) EXPECT_EQ(dump(*db, is_reverse).size(), kEntries.size());
      for (int i = 0; i < 30; ++i) {
        EXPECT_EQ(*db->exists(key(i)), kEntries.find(key(i)) != std::string_view::npos) << i;
        EXPECT_EQ(*logs.exists(key(i)), kLogs.find(key(i)) != std::string_view::npos) << i;
      }
      if (!read_only) {
        ASSERT_TRUE(db->compact().ok() && logs.compact().ok());
      }
    }
  }
}

}  // namespace
}  // namespace tamis::test
