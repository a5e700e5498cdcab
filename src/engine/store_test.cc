// What an open store promises beyond its answers: its counters, what it keeps, what it locks.
#include "engine/store.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

using test::live_tables;
using test::open_db;
using test::tables_on_disk;

/// Tables are replaced often.
const Options kSmall{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .table_bytes = 64 << 10, .fanout = 2};

/// Puts and flushes a few keys, this many times.
void write_runs(DB& db, int runs) {
  for (int i = 0; i < runs; ++i) {
    ASSERT_TRUE(db.put("key" + std::to_string(i % 7), std::string(2000, 'v')).ok() && db.flush().ok());
  }
}

/// The cache used to be made with a capacity of 0, and so kept one shard and one mutex.
TEST(CacheShards, FollowTheBudget) {
  const auto shards = [](std::uint64_t memory_bytes) {
    MemoryFileSystem files;
    const Options options{.memory_bytes = memory_bytes};
    const auto store = Store::open("/store", options, {.files = &files, .runs_in_background = false});
    EXPECT_TRUE(store.ok());
    const std::size_t expected =
        (*BlockCache::make({.capacity_bytes = (*store)->cache().stats().capacity_bytes}))->shards();
    EXPECT_EQ((*store)->cache().shards(), expected);
    return (*store)->cache().shards();
  };
  EXPECT_EQ(shards(std::uint64_t{4} << 20), 1U) << "none below 4 MiB";
  EXPECT_GE(shards(std::uint64_t{1} << 30), 2U) << "on any machine";
}

TEST(Counters, HaveTheTablesOfAFlushWhenItReturnsAndTheFlushWhenNothingIsLeftToDo) {
  MemoryFileSystem files;
  DB db = open_db({.files = &files}, {.compaction = "manual"});
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(db.put(fmt::format("{:05}", i), std::string(1000, 'v')).ok());
    ASSERT_TRUE(db.flush().ok());
    const Stats flushed = db.stats();
    // The entry is in the journal, and again in the tables.
    EXPECT_GE(flushed.bytes_written, flushed.bytes_written_by_users + flushed.bytes_on_disk) << "flush " << i;
    ASSERT_TRUE(db.wait_idle().ok());
    EXPECT_EQ(db.stats().flushes, static_cast<std::uint64_t>(i) + 1);
  }
}

/// Compared with the size after a full compaction.
TEST(Counters, SpaceAmplificationIsWhatCompactingWouldSave) {
  constexpr std::uint64_t kCount = 12'000;
  for (const std::uint64_t times_each_key_is_written : {1U, 3U, 10U}) {
    SCOPED_TRACE(times_each_key_is_written);
    MemoryFileSystem files;
    const Options options{.memory_bytes = 4 << 20, .memtable_bytes = 128 << 10, .table_bytes = 64 << 10, .fanout = 4};
    DB db = open_db(files, options);
    EXPECT_EQ(db.stats().space_amplification, 0);
    const std::uint64_t keys = kCount / times_each_key_is_written;
    SplitMix64 random(3);
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const std::uint64_t number = times_each_key_is_written == 1 ? i * 7919 % keys : random.below(keys);
      const std::string key = fmt::format("key{:06}", number);
      ASSERT_TRUE(db.put(key, std::string(100, 'v')).ok());
    }
    ASSERT_TRUE(db.flush().ok());
    const double told = db.stats().space_amplification;
    const double before = static_cast<double>(db.stats().bytes_on_disk);
    ASSERT_TRUE(db.compact().ok());
    const double measured = before / static_cast<double>(db.stats().bytes_on_disk);
    EXPECT_NEAR(told, measured, 0.2 * measured);  // An estimate.
    if (times_each_key_is_written == 1) {
      EXPECT_NEAR(told, 1, 0.01);
    }
    EXPECT_EQ(db.stats().space_amplification, 1);
    ASSERT_TRUE(db.close().ok());
  }
}

/// Policies look at every table, so no lock is held while they run: stats() does not wait for one. A policy reads the
/// clock whenever it is called.
TEST(PolicyCalls, HappenWhileTheStateIsNotLocked) {
  MemoryFileSystem files;
  std::optional<DB> db;
  int calls = 0;
  int in_vain = 0;
  std::vector<std::future<Stats>> stats;       // Kept, because the destructor waits.
  static thread_local bool is_asking = false;  // stats() asks the policy what is left to do.
  const auto clock = [&]() -> std::uint64_t {
    if (!db || in_vain > 0 || is_asking) return 1;
    ++calls;
    stats.push_back(std::async(std::launch::async, [&] {
      is_asking = true;
      return db->stats();
    }));
    if (stats.back().wait_for(std::chrono::seconds(20)) != std::future_status::ready) ++in_vain;
    return 1;
  };
  db.emplace(open_db({.files = &files, .runs_in_background = false, .unix_milliseconds = clock}, kSmall));
  write_runs(*db, 20);
  EXPECT_GT(db->stats().compactions, 0U);
  EXPECT_GT(calls, 10);
  EXPECT_EQ(in_vain, 0) << "somebody waited for a policy";
}

/// A pinned value used to keep its view, and with it every later memtable and table.
TEST(PinnedValue, KeepsNothingThatComesAfterIt) {
  MemoryFileSystem files;
  DB db = open_db(files, kSmall);
  ASSERT_TRUE(db.put("pinned", "value").ok());
  const Result<std::optional<PinnedValue>> pinned = db.get_pinned("pinned");
  ASSERT_TRUE(pinned.ok() && pinned->has_value());
  write_runs(db, 40);
  EXPECT_EQ(tables_on_disk(files), live_tables(db)) << "replaced tables are still held";
  EXPECT_EQ((*pinned)->view(), "value");
}

TEST(PinnedValue, OutlivesItsStoreWhereverTheValueLies) {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1000}, std::size_t{16'384}, std::size_t{16'385}, std::size_t{100'000}}) {
    for (const std::uint64_t apart : {std::uint64_t{0}, std::uint64_t{4096}}) {
      SCOPED_TRACE(fmt::format("{} bytes, apart from {}", bytes, apart));
      MemoryFileSystem files;
      std::optional<DB> db = open_db(files, {.value_bytes_apart = apart});
      const std::string in_table(bytes, 't');
      const std::string in_memory(bytes, 'm');
      ASSERT_TRUE(db->put("table", in_table).ok() && db->flush().ok());
      ASSERT_TRUE(db->put("memtable", in_memory).ok());
      PinnedValue of_table = **db->get_pinned("table");
      PinnedValue uncached = **db->get_pinned("table", {.fills_cache = false});
      PinnedValue of_memtable = **db->get_pinned("memtable");
      EXPECT_EQ(db->stats().gets, 3U) << "each counts once";
      ASSERT_TRUE(db->close().ok()) << "a value does not keep it open";
      db.reset();
      EXPECT_EQ(of_table.view(), in_table);
      EXPECT_EQ(uncached.view(), in_table);
      EXPECT_EQ(of_memtable.view(), in_memory);
    }
  }
}

TEST(PinnedValue, IsReadFromDiskOnceHoweverLarge) {
  for (const bool fills_cache : {true, false}) {
    MemoryFileSystem disk;
    test::CountingFileSystem files(disk);
    const std::string value(50'000, 'v');
    {
      DB db = open_db({.files = &files});
      ASSERT_TRUE(db.put("a", "small").ok() && db.put("b", value).ok() && db.flush().ok());
    }
    DB db = open_db({.files = &files});
    ASSERT_EQ(*db.get("a"), "small") << "reads what the store knows of its table";
    const std::uint64_t reads = files.reads();
    const std::optional<PinnedValue> pinned = *db.get_pinned("b", {.fills_cache = fills_cache});
    EXPECT_EQ(pinned->view(), value);
    EXPECT_EQ(files.reads() - reads, 1U) << fills_cache;
  }
}

/// Verification may take hours: it keeps the tables that it reads, and no later ones.
TEST(Verify, KeepsNothingThatComesAfterIt) {
  MemoryFileSystem files;
  DB db = open_db(files, kSmall);
  write_runs(db, 5);
  const std::uint64_t tables = live_tables(db);
  bool has_written = false;
  const Result<VerifyReport> report = db.verify([&](std::uint64_t, std::uint64_t) {
    if (std::exchange(has_written, true)) return true;
    write_runs(db, 40);
    EXPECT_LE(tables_on_disk(files), live_tables(db) + tables) << "replaced tables are still held";
    EXPECT_GT(tables_on_disk(files), live_tables(db)) << "those being read are not";
    return true;
  });
  ASSERT_TRUE(report.ok()) << report.status().to_text();
  EXPECT_TRUE(report->ok());
  EXPECT_EQ(report->files, tables);
  ASSERT_TRUE(db.flush().ok());
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(tables_on_disk(files), live_tables(db)) << "what it read stays behind";
}

TEST(Verify, TellsWhatIsInTheJournalAndInNoTable) {
  MemoryFileSystem files;
  DB db = open_db(files);
  ASSERT_TRUE(db.put("a", "1").ok() && db.put("b", "2").ok());
  Result<VerifyReport> report = db.verify();
  ASSERT_TRUE(report.ok() && report->ok());
  EXPECT_EQ(report->files, 0U);
  EXPECT_EQ(report->journal_entries, 2U);
  EXPECT_GT(report->journal_bytes, 0U);
  ASSERT_TRUE(db.flush().ok() && db.put("c", "3").ok());
  report = db.verify();
  ASSERT_TRUE(report.ok() && report->ok());
  EXPECT_EQ(report->entries, 2U);
  EXPECT_EQ(report->journal_entries, 1U);
}

TEST(Verify, EndsWhenItIsToldTo) {
  MemoryFileSystem files;
  DB db = open_db(files);
  ASSERT_TRUE(db.put("a", "b").ok() && db.flush().ok());
  EXPECT_FALSE(db.verify([](std::uint64_t, std::uint64_t) { return false; }).ok());
}

}  // namespace
}  // namespace tamis
