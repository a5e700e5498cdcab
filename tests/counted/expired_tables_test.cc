// Rule 28: a store whose tables have expired whole becomes empty without a table being read.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBegin = 1'700'000'000'000;
constexpr std::uint64_t kMinute = 60'000;

/// Many tables, all of whose values expire within an hour.
class ExpiringTables {
 public:
  void open() {
    db.reset();
    const Options options{.memtable_bytes = 128 << 10, .table_bytes = 64 << 10, .fanout = 4};
    Result<DB> opened = DB::open("/store", options,
                                 {.files = &counting,
                                  .random_seed = 7,
                                  .runs_in_background = false,
                                  .unix_milliseconds = [this] { return kBegin + passed; },
                                  .uptime_milliseconds = [this] { return passed; }});
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db.emplace(*std::move(opened));
  }
  void fill(bool has_one_that_stays) {
    open();
    for (int i = 0; i < 20'000; ++i) {
      const std::string key = std::to_string(1'000'000 + i * 7919 % 20'000);
      ASSERT_TRUE(db->put(key, "a value that expires, " + key, {.expires_in = 30min + i % 7 * 1min}).ok());
    }
    if (has_one_that_stays) {
      ASSERT_TRUE(db->put("1000500", "stays").ok());
    }
    ASSERT_TRUE(db->compact().ok());
    open();
  }
  [[nodiscard]] std::uint64_t tables() const { return db->keyspaces()[0].tables; }

  std::uint64_t passed = 0;  // Milliseconds.
  MemoryFileSystem memory;
  CountingFileSystem counting{memory};
  std::optional<DB> db;
};

TEST(ExpiredTables, Rule28_AStoreOfThemBecomesEmptyWithoutReadingATable) {
  ExpiringTables store;
  store.fill(false);
  ASSERT_GT(store.tables(), 10U);
  const std::uint64_t tables = store.tables();
  const std::uint64_t reads = store.counting.reads();
  store.passed = 60 * kMinute;
  ASSERT_TRUE(store.db->put("2", "the write that finds it due").ok());
  ASSERT_TRUE(store.db->wait_idle().ok());
  EXPECT_EQ(store.tables(), 0U);
  EXPECT_EQ(store.counting.reads(), reads);
  EXPECT_EQ(store.db->stats().expiry.tables_dropped, tables);
}

/// One value that stays costs the reads of its table, and of no other.
TEST(ExpiredTables, Rule28_OneValueThatStaysKeepsItsTable) {
  ExpiringTables store;
  store.fill(true);
  const std::uint64_t tables = store.tables();
  store.passed = 60 * kMinute;
  ASSERT_TRUE(store.db->put("2", "the write that finds it due").ok());
  ASSERT_TRUE(store.db->wait_idle().ok());
  EXPECT_EQ(store.db->stats().expiry.tables_dropped, tables - 1);
  EXPECT_EQ(store.db->get("1000500")->value_or("absent"), "stays");
  EXPECT_EQ(store.db->keyspaces()[0].entries, 2U) << "it, and the new one";
}

}  // namespace
}  // namespace tamis::test
