// Rule 14: the cost of a lookup does not grow with the number of runs, and the run index stays within its memory.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeysPerRun = 500;
constexpr double kBitsPerKey = 34;

Options options_for(std::uint64_t runs, double bits_per_key = kBitsPerKey) {
  Options options;
  options.compaction = "manual";
  options.filter_memory = static_cast<std::uint64_t>(bits_per_key * static_cast<double>(runs * kKeysPerRun) / 8);
  return options;
}

/// Run r holds the keys r, r + runs, …: every key but the outermost lies inside the bounds of all runs.
void fill(CountedStore& store, std::uint64_t runs) {
  for (std::uint64_t run = 0; run < runs; ++run) {
    store.put_numbers(run, runs * kKeysPerRun, runs);
    ASSERT_TRUE(store.db->flush().ok());
  }
  ASSERT_EQ(store.runs(), runs);
}

/// Asks for everything once, so that it is in memory and lookups have paid for the index.
void read_all(CountedStore& store, std::uint64_t keys) {
  std::string value;
  for (std::uint64_t i = 0; i < keys; ++i) {
    const Result<bool> found = store.db->get(CountedStore::present_key(i), &value);
    ASSERT_TRUE(found.ok() && *found) << i;
    ASSERT_EQ(value, CountedStore::value_of_number(i));
  }
  ASSERT_TRUE(store.db->wait_idle().ok());
}

/// Tables for which `explain` reports more than the run index.
std::uint64_t tables_asked(CountedStore& store, const std::string& key) {
  const Result<Explanation> explanation = store.db->explain(key);
  EXPECT_TRUE(explanation.ok());
  std::uint64_t asked = 0;
  for (const Explanation::Step& step : explanation->steps) {
    if (step.where == "table" && step.filter_verdict != "not asked: the run index says no") ++asked;
  }
  return asked;
}

TEST(RunIndexOfAStore, Rule14_AnAbsentKeyAsksHardlyAnyOfAHundredRuns) {
  constexpr std::uint64_t kRuns = 100;
  CountedStore store(options_for(kRuns));
  fill(store, kRuns);
  EXPECT_EQ(tables_asked(store, CountedStore::absent_key(kRuns)), kRuns);
  read_all(store, kRuns * kKeysPerRun);
  std::uint64_t asked = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) asked += tables_asked(store, CountedStore::absent_key(kRuns + 41 * i));
  const LookupCounts before = store.counts();
  std::string value;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const Result<bool> found = store.db->get(CountedStore::absent_key(kRuns + 2 * i), &value);
    ASSERT_TRUE(found.ok() && !*found);
  }
  const double wasted = static_cast<double>(store.counts().false_positives - before.false_positives) / 20'000;
  const Stats stats = store.db->stats();
  const double bits = 8 * static_cast<double>(stats.memory.filters) / (kRuns * kKeysPerRun);
  fmt::print("100 runs, {:.2f} bits per key in total: {:.3f} runs asked and {:.5f} searched per absent key\n", bits,
             static_cast<double>(asked) / 1000, wasted);
  EXPECT_LE(asked, 200U);  // 0.2 of a run.
  EXPECT_LE(wasted, 0.01);
  EXPECT_LE(bits, kBitsPerKey);
}

TEST(RunIndexOfAStore, Rule14_APresentKeyAsksItsRunAndHardlyAnyOther) {
  constexpr std::uint64_t kRuns = 100;
  CountedStore store(options_for(kRuns));
  fill(store, kRuns);
  read_all(store, kRuns * kKeysPerRun);
  std::uint64_t asked = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) asked += tables_asked(store, CountedStore::present_key(kRuns + 41 * i));
  EXPECT_GE(asked, 1000U);
  EXPECT_LE(asked, 1500U);
}

TEST(RunIndexOfAStore, Rule14_RunsThatComeLaterAreFoundBeforeAndAfterTheyAreInIt) {
  CountedStore store(options_for(40));
  fill(store, 20);
  read_all(store, 20 * kKeysPerRun);
  ASSERT_LE(tables_asked(store, CountedStore::absent_key(5000)), 4U);
  std::string value;
  for (std::uint64_t run = 0; run < 60; ++run) {  // Covers all widths.
    const std::string old_key = CountedStore::present_key(100 + run);
    const std::string new_key = fmt::format("key{:010}2", 100 + run);
    ASSERT_TRUE(store.db->remove(old_key).ok());
    ASSERT_TRUE(store.db->put(new_key, "new").ok());
    ASSERT_TRUE(store.db->put(CountedStore::present_key(0), fmt::format("from run {}", run)).ok());
    ASSERT_TRUE(store.db->flush().ok());
    for (int again = 0; again < 2; ++again) {
      ASSERT_FALSE(*store.db->get(old_key, &value)) << "run " << run;
      ASSERT_TRUE(*store.db->get(new_key, &value)) << "run " << run;
      ASSERT_TRUE(*store.db->get(CountedStore::present_key(0), &value));
      ASSERT_EQ(value, fmt::format("from run {}", run));
      for (int i = 0; i < 300; ++i) ASSERT_TRUE(*store.db->get(CountedStore::present_key(1000), &value));
      ASSERT_TRUE(store.db->wait_idle().ok());
    }
  }
  ASSERT_EQ(store.runs(), 80U);
  ASSERT_TRUE(store.db->compact().ok());
  for (std::uint64_t run = 0; run < 60; ++run) {
    ASSERT_FALSE(*store.db->get(CountedStore::present_key(100 + run), &value));
    ASSERT_TRUE(*store.db->get(fmt::format("key{:010}2", 100 + run), &value));
  }
}

TEST(RunIndexOfAStore, Rule14_ItsMemoryIsChargedAndGivenBack) {
  constexpr std::uint64_t kRuns = 30;
  CountedStore store(options_for(kRuns));
  fill(store, kRuns);
  ASSERT_TRUE(store.db->wait_idle().ok());
  EXPECT_LE(store.db->stats().memory.filters, store.filter_bytes());
  read_all(store, kRuns * kKeysPerRun);
  const std::uint64_t with_index = store.db->stats().memory.filters;
  EXPECT_GT(with_index, store.filter_bytes() + kRuns * kKeysPerRun);  // More than 8 bits a key.
  EXPECT_LE(with_index, *options_for(kRuns).filter_memory);
  {
    Iterator walk = store.db->scan();  // Keeps the version, and with it the index, until it ends.
    ASSERT_TRUE(walk.valid());
    ASSERT_TRUE(store.db->compact().ok());
  }
  read_all(store, kRuns * kKeysPerRun);
  EXPECT_EQ(store.runs(), 1U);
  EXPECT_LE(store.db->stats().memory.filters, store.filter_bytes());
  EXPECT_GT(store.db->stats().memory.filters + 256, store.filter_bytes()) << "all but headers";
}

TEST(RunIndexOfAStore, Rule14_WithoutRoomForItEveryRunIsAskedAsBefore) {
  constexpr std::uint64_t kRuns = 30;
  for (const double bits : {0.0, 1.0, 10.0, 12.0}) {
    CountedStore store(options_for(kRuns, bits));
    fill(store, kRuns);
    read_all(store, kRuns * kKeysPerRun);
    EXPECT_EQ(tables_asked(store, CountedStore::absent_key(5000)), kRuns) << bits;
    EXPECT_LE(store.db->stats().memory.filters, *options_for(kRuns, bits).filter_memory) << bits;
  }
  Options options = options_for(kRuns);
  options.filter = "none";
  CountedStore store(options);
  fill(store, kRuns);
  read_all(store, kRuns * kKeysPerRun);
  EXPECT_EQ(tables_asked(store, CountedStore::absent_key(5000)), kRuns);
}

TEST(RunIndexOfAStore, Rule14_AStoreThatIsOpenedAgainBuildsItFromItsTables) {
  constexpr std::uint64_t kRuns = 40;
  CountedStore store(options_for(kRuns));
  fill(store, kRuns);
  ASSERT_TRUE(store.db->close().ok());
  store.reopen();
  ASSERT_TRUE(store.db->wait_idle().ok());
  EXPECT_EQ(tables_asked(store, CountedStore::absent_key(5000)), kRuns);  // No lookups yet.
  read_all(store, kRuns * kKeysPerRun);
  EXPECT_LE(tables_asked(store, CountedStore::absent_key(5000)), 4U);
}

/// A table with a damaged block has no column: its lookups still report the damage.
TEST(RunIndexOfAStore, Rule14_ADamagedRunIsAskedAndSaysSo) {
  constexpr std::uint64_t kRuns = 20;
  CountedStore store(options_for(kRuns));
  fill(store, kRuns);
  ASSERT_TRUE(store.db->close().ok());
  const Result<std::vector<DirectoryEntry>> names = store.memory.list(CountedStore::kPath);
  ASSERT_TRUE(names.ok());
  std::string table;
  for (const DirectoryEntry& entry : *names) {
    if (entry.name.ends_with(".tms") && (table.empty() || entry.name < table)) table = entry.name;
  }
  ASSERT_FALSE(table.empty());
  auto file = *store.memory.open_writable(std::string(CountedStore::kPath) + "/" + table, OpenMode::kExisting);
  const std::string damage = "damage";
  const Bytes piece = as_bytes(damage);
  ASSERT_TRUE(file->write_at(200, std::span(&piece, 1)).ok());
  ASSERT_TRUE(file->close().ok());
  store.reopen();

  std::string value;
  for (int pass = 0; pass < 2; ++pass) {  // Before the index exists, and with it.
    std::uint64_t damaged = 0;
    for (std::uint64_t i = 0; i < kRuns * kKeysPerRun; ++i) {
      const Result<bool> found = store.db->get(CountedStore::present_key(i), &value);
      if (!found.ok()) {
        ASSERT_EQ(found.status().code(), StatusCode::kCorruption);
        ++damaged;
      } else {
        ASSERT_TRUE(*found) << i;
      }
    }
    EXPECT_GT(damaged, 10U);
    ASSERT_TRUE(store.db->wait_idle().ok());
  }
  EXPECT_LE(tables_asked(store, CountedStore::absent_key(9500)), 4U);
}

}  // namespace
}  // namespace tamis::test
