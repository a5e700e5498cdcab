// Memory stays within the budget, and a small budget costs time, never an answer.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKiB = 1024;

/// Indexes and filters four times as large as the memory.
TEST(Memory, P8_HoldsWhenIndexesAndFiltersDoNotFit) {
  constexpr std::uint64_t kKeys = 600'000;
  Options options;
  options.block_bytes = 1024;
  options.table_bytes = 64 * kKiB;
  CountedStore store(options);
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->compact().ok());
  options.memory_bytes = 256 * kKiB;
  options.memtable_bytes = 64 * kKiB;
  store.reopen(options);

  SplitMix64 random(3);
  std::string value;
  std::uint64_t most_used = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::uint64_t number = random.below(kKeys);
    const bool is_present = random.coin();
    const std::string key = is_present ? CountedStore::present_key(number) : CountedStore::absent_key(number);
    const Result<bool> found = store.db->get(key, &value);
    ASSERT_TRUE(found.ok()) << found.status().to_text();
    ASSERT_EQ(*found, is_present) << key;
    ASSERT_TRUE(!is_present || value == CountedStore::value_of_number(number)) << key;
    if (i % 50 != 0) continue;
    const Stats::Memory memory = store.db->stats().memory;
    ASSERT_LE(memory.used, memory.budget);
    most_used = std::max(most_used, memory.used);
  }
  const Stats stats = store.db->stats();
  const Stats::Memory& memory = stats.memory;
  const std::uint64_t metadata = memory.indexes + memory.indexes_not_resident + store.filter_bytes();
  fmt::print(
      "budget {}, used at most {}; metadata {}: not resident {} of indexes, {} of filters; {} loads, {} lookups "
      "without filter\n",
      memory.budget, most_used, metadata, memory.indexes_not_resident, memory.filters_not_resident,
      memory.metadata_loads, memory.lookups_without_filter);
  EXPECT_GE(metadata, 4 * memory.budget);
  EXPECT_GT(most_used, memory.budget / 2);
  EXPECT_GT(memory.indexes_not_resident, 0U);
  EXPECT_GT(memory.filters_not_resident, 0U);
  EXPECT_GT(memory.metadata_loads, 0U);
  EXPECT_GT(memory.lookups_without_filter, 0U);
  // Scans are right as well.
  std::uint64_t seen = 0;
  for (Iterator it = store.db->scan({.fills_cache = false}); it.valid(); it.next()) {
    ASSERT_EQ(it.key(), CountedStore::present_key(seen++));
  }
  EXPECT_EQ(seen, kKeys);
}

/// Random writes and reads; the total never exceeds the budget.
void load_at_random(const Options& options, std::uint64_t seed, int operations, std::uint64_t value_bytes) {
  SCOPED_TRACE(fmt::format("seed {}, memory_bytes {}", seed, options.memory_bytes));
  CountedStore store(options);
  SplitMix64 random(seed);
  std::map<std::string, std::string> model;
  std::string value;
  std::uint64_t most_used = 0;
  std::uint64_t most_memtables = 0;
  Stats::Memory worst;
  for (int i = 0; i < operations; ++i) {
    const std::string key = CountedStore::present_key(random.below(5000));
    if (random.below(3) == 0) {
      const Result<bool> found = store.db->get(key, &value);
      ASSERT_TRUE(found.ok());
      ASSERT_EQ(*found, model.contains(key)) << key;
      ASSERT_TRUE(!*found || value == model[key]) << key;
    } else {
      const std::string written(random.below(random.below(20) == 0 ? 16 * value_bytes : value_bytes),
                                static_cast<char>(random.next()));
      ASSERT_TRUE(store.db->put(key, written).ok());
      model[key] = written;
    }
    const Stats::Memory memory = store.db->stats().memory;
    most_memtables = std::max(most_memtables, memory.memtables);
    if (memory.used > most_used) {
      most_used = memory.used;
      worst = memory;
    }
  }
  fmt::print("budget {}, a memtable {}: at most {} ({} memtables, {} blocks, {} indexes, {} filters)\n",
             options.memory_bytes, options.memtable_bytes, most_used, worst.memtables, worst.blocks, worst.indexes,
             worst.filters);
  EXPECT_LE(most_used, options.memory_bytes);
  EXPECT_LE(most_memtables, options.memtable_bytes);
  EXPECT_GT(store.db->stats().flushes, 1U);
}

TEST(Memory, P8_HoldsDuringARandomLoad) {
  for (const std::uint64_t memory : {256 * kKiB, 1024 * kKiB, 4096 * kKiB}) {
    for (const std::uint64_t part : {4U, 16U}) {
      Options options;
      options.memory_bytes = memory;
      options.memtable_bytes = std::max<std::uint64_t>(memory / part, 64 * kKiB);
      options.table_bytes = 256 * kKiB;
      load_at_random(options, 11 + part, static_cast<int>(3000 + memory / 400), part == 4 ? 300 : 20);
    }
  }
}

}  // namespace
}  // namespace tamis::test
