// memory_bytes and filter_memory change while the store is open: at once, and without writing a table.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kKeys = 100'000;

/// Memtables so small that memory_bytes may become small.
Options roomy() {
  return {.memory_bytes = 64 * kKiB * kKiB, .memtable_bytes = 64 * kKiB, .block_bytes = 1024, .table_bytes = 64 * kKiB};
}

/// Filled with large memtables, then opened with these options.
void fill(CountedStore& store, const Options& options) {
  Options filling = options;
  filling.memtable_bytes = 16 * kKiB * kKiB;
  store.reopen(filling);
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->compact().ok());
  store.reopen(options);
}

/// Every 7th key, so every table. Memory stays within its budget meanwhile.
void read_tables(CountedStore& store) {
  std::string value;
  for (std::uint64_t i = 0; i < kKeys; i += 7) {
    ASSERT_TRUE(*store.db->get(CountedStore::present_key(i), &value)) << i;
    ASSERT_EQ(value, CountedStore::value_of_number(i));
    ASSERT_FALSE(*store.db->get(CountedStore::absent_key(i), &value)) << i;
    if (i % 700 != 0) continue;
    const Stats::Memory memory = store.db->stats().memory;
    ASSERT_LE(memory.used, memory.budget) << i;
  }
}

/// Bytes of tables, and of journals if anything is put.
std::uint64_t written(const CountedStore& store) { return store.db->stats().bytes_written; }

TEST(MemoryOptions, P8_LessMemoryHoldsOnReturnAndNoTableIsWritten) {
  CountedStore store(roomy());
  fill(store, roomy());
  read_tables(store);
  const std::uint64_t before = written(store);
  const Stats::Memory roomy_memory = store.db->stats().memory;
  ASSERT_GT(roomy_memory.used, 4 * 256 * kKiB);
  ASSERT_EQ(roomy_memory.indexes_not_resident, 0U);

  ASSERT_TRUE(store.db->set_option("memory_bytes", "256KiB").ok());
  const Stats::Memory memory = store.db->stats().memory;
  EXPECT_EQ(memory.budget, 256 * kKiB);
  EXPECT_LE(memory.used, memory.budget);
  EXPECT_LT(memory.indexes, roomy_memory.indexes);
  EXPECT_LT(memory.filters, roomy_memory.filters);
  EXPECT_LT(memory.blocks, roomy_memory.blocks);
  EXPECT_GT(memory.indexes_not_resident, 0U);
  read_tables(store);

  ASSERT_TRUE(store.db->set_option("memory_bytes", "64MiB").ok());
  read_tables(store);
  const Stats::Memory again = store.db->stats().memory;
  EXPECT_GT(again.used, 4 * 256 * kKiB) << "lookups load what fits now";
  EXPECT_EQ(again.indexes_not_resident, 0U);
  EXPECT_GT(again.filters, memory.filters);
  EXPECT_EQ(written(store), before);
}

TEST(MemoryOptions, P8_FilterMemoryHoldsOnReturnAndMoreOfItIsLoaded) {
  Options options = roomy();
  options.filter_memory = kKeys * 10 / 8;
  CountedStore store(options);
  fill(store, options);
  read_tables(store);
  const std::uint64_t before = written(store);
  const std::uint64_t at_ten_bits = store.db->stats().memory.filters;
  ASSERT_GT(at_ten_bits, kKeys);

  ASSERT_TRUE(store.db->set_option("filter_memory", std::to_string(kKeys * 4 / 8)).ok());
  EXPECT_LE(store.db->stats().memory.filters, kKeys * 4 / 8);
  EXPECT_GT(store.db->stats().memory.filters, kKeys * 3 / 8) << "columns are dropped, not filters";
  EXPECT_LT(store.db->plan().filter_memory, kKeys * 5 / 8) << "for tables that are written from now on";
  read_tables(store);
  EXPECT_LE(store.db->stats().memory.filters, kKeys * 4 / 8);
  ASSERT_TRUE(store.db->set_option("filter_memory", "0").ok());
  EXPECT_EQ(store.db->stats().memory.filters, 0U);
  read_tables(store);

  const std::uint64_t loaded = store.db->stats().memory.filter_bytes_loaded;
  ASSERT_TRUE(store.db->set_option("filter_memory", std::to_string(kKeys * 10 / 8)).ok());
  read_tables(store);
  EXPECT_GT(store.db->stats().memory.filters, kKeys);
  EXPECT_GT(store.db->stats().memory.filter_bytes_loaded, loaded);
  EXPECT_EQ(written(store), before);
}

TEST(MemoryOptions, P8_TheRunIndexIsFreedToo) {
  constexpr std::uint64_t kRuns = 20;
  Options options;
  options.compaction = "manual";
  options.filter_memory = 64 * kKiB;
  CountedStore store(options);
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    store.put_numbers(run, kRuns * 500, kRuns);
    ASSERT_TRUE(store.db->flush().ok());
  }
  std::string value;
  for (std::uint64_t i = 0; i < kRuns * 500; ++i) ASSERT_TRUE(*store.db->get(CountedStore::present_key(i), &value));
  ASSERT_TRUE(store.db->wait_idle().ok());
  const auto asks_run_index = [&] {
    const Result<Explanation> explanation = store.db->explain(CountedStore::absent_key(kRuns));
    return std::ranges::any_of(explanation->steps, [](const Explanation::Step& step) {
      return step.filter_verdict == "not asked: the run index says no";
    });
  };
  ASSERT_TRUE(asks_run_index());
  ASSERT_TRUE(store.db->set_option("filter_memory", "0").ok());
  EXPECT_FALSE(asks_run_index());
  EXPECT_EQ(store.db->stats().memory.filters, 0U);
}

TEST(MemoryOptions, P8_WhatAWriterMayKeepInMemoryFollows) {
  CountedStore store(roomy());
  Batch batch;
  for (std::uint64_t i = 0; i < 300; ++i) batch.put(CountedStore::present_key(i), std::string(kKiB, 'v'));
  ASSERT_TRUE(store.db->write(batch).ok());
  ASSERT_EQ(store.db->stats().flushes, 0U) << "less than a quarter of 64 MiB";
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(store.db->put(CountedStore::present_key(i), "value").ok());
  ASSERT_GT(store.db->stats().memory.journal, 0U);
  ASSERT_TRUE(store.db->set_option("memory_bytes", "1MiB").ok());
  EXPECT_EQ(store.db->stats().memory.journal, 0U) << "a 64th of it is too small for a window";
  const std::uint64_t records = store.db->stats().journal.records;
  ASSERT_TRUE(store.db->write(batch).ok());
  EXPECT_EQ(store.db->stats().journal.records, records) << "more than a quarter of it is written to tables at once";
}

TEST(MemoryOptions, Rule39_RecentCommitsThatNoLongerFitAreForgottenAndTransactionsConflict) {
  Options options = roomy();
  options.memtable_bytes = 1024 * kKiB;
  CountedStore store(options);
  ASSERT_TRUE(store.db->put("key", "1").ok());
  Transaction transaction = store.db->begin();
  ASSERT_TRUE(transaction.get("key").ok());
  ASSERT_TRUE(transaction.put("key", "2").ok());
  for (std::uint64_t i = 0; i < 2000; ++i) ASSERT_TRUE(store.db->put(CountedStore::present_key(i), "value").ok());
  ASSERT_GT(store.db->stats().memory.transactions, 4096 * kKiB / 64);
  ASSERT_TRUE(store.db->set_option("memory_bytes", "4MiB").ok());
  EXPECT_LE(store.db->stats().memory.transactions, 4096 * kKiB / 64);
  EXPECT_EQ(transaction.commit().code(), StatusCode::kConflict);
}

TEST(MemoryOptions, WhatCannotChangeIsRefusedAndNothingChanges) {
  Options options = roomy();
  options.filter_memory = 1024 * kKiB;
  CountedStore store(options);
  const auto refused = [&](std::string_view name, std::string_view value) {
    const Status status = store.db->set_option(name, value);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(store.db->stats().memory.budget, options.memory_bytes);
    return std::string(status.message());
  };
  EXPECT_EQ(refused("codec", "lz4"),
            "option codec is fixed while the store is open; those that can change are memory_bytes, filter_memory");
  EXPECT_EQ(refused("memory_byte", "1GiB"), "unknown option 'memory_byte'; did you mean 'memory_bytes'?");
  EXPECT_EQ(refused("memory_bytes", "much"), "option memory_bytes: 'much' is invalid; expected 256KiB to 1TiB");
  EXPECT_EQ(refused("filter_memory", "65MiB"),
            "option filter_memory: '65MiB' is invalid; expected auto, or 0 to memory_bytes");
  EXPECT_EQ(refused("memory_bytes", "512KiB"),
            "option filter_memory: '1MiB' is invalid; expected auto, or 0 to memory_bytes");
  store.reopen(Options{.memory_bytes = options.memory_bytes});
  EXPECT_EQ(refused("memory_bytes", "32MiB"),
            "option memory_bytes: '32MiB' is less than four times the 16MiB that each memtable has had since the store "
            "was opened");
}

TEST(MemoryOptions, ChangeInAReadOnlyStoreTooAndNotForTheNextOpening) {
  CountedStore store(roomy());
  fill(store, roomy());
  Options reading = roomy();
  reading.read_only = true;
  store.reopen(reading);
  read_tables(store);
  ASSERT_TRUE(store.db->set_option("memory_bytes", "256KiB").ok());
  EXPECT_LE(store.db->stats().memory.used, 256 * kKiB);
  read_tables(store);
  store.reopen(reading);
  EXPECT_EQ(store.db->stats().memory.budget, roomy().memory_bytes);
}

}  // namespace
}  // namespace tamis::test
