// Filter memory goes where lookups ask: counted reads of absent keys.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 120'000;
constexpr std::uint64_t kStretches = 60;  // Of keys; some are asked more often than others.
constexpr double kBitsPerKey = 4;

/// Absent keys. The popularity of the stretches is Zipfian, and the popular ones are scattered.
class AbsentKeys {
 public:
  AbsentKeys(double skew, std::uint64_t seed) : random_(seed), shares_(kStretches) {
    for (std::uint64_t rank = 0; rank < kStretches; ++rank) shares_[rank] = std::pow(rank + 1, -skew);
    std::ranges::shuffle(shares_, random_);
    stretch_ = std::discrete_distribution<std::uint64_t>(shares_.begin(), shares_.end());
  }
  std::string next() {
    constexpr std::uint64_t kInStretch = kKeys / kStretches;
    return CountedStore::absent_key(stretch_(random_) * kInStretch + random_() % kInStretch);
  }

 private:
  std::mt19937_64 random_;
  std::vector<double> shares_;
  std::discrete_distribution<std::uint64_t> stretch_;
};

/// Some 60 tables; with a reserve, their filters have 16 columns.
Options options_with(std::uint32_t reserve_percent) {
  Options options{.memory_bytes = 64 << 20, .memtable_bytes = 1 << 20, .table_bytes = 256 << 10};
  options.filter_memory = static_cast<std::uint64_t>(kBitsPerKey * kKeys / 8);
  options.filter_reserve_percent = reserve_percent;
  return options;
}

void fill(CountedStore& store) {
  std::vector<std::uint64_t> numbers(kKeys);
  std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  std::ranges::shuffle(numbers, std::mt19937_64(3));
  for (const std::uint64_t number : numbers) {
    ASSERT_TRUE(store.db->put(CountedStore::present_key(number), std::string(100, 'v')).ok());
  }
  ASSERT_TRUE(store.db->compact().ok());
}

/// Reads in vain per lookup. A write after every 8,192 lookups does the background work.
double reads_in_vain(CountedStore& store, AbsentKeys& keys, std::uint64_t lookups) {
  const LookupCounts before = store.counts();
  std::string value;
  for (std::uint64_t i = 0; i < lookups; ++i) {
    EXPECT_FALSE(*store.db->get(keys.next(), &value));
    if (i % 8192 != 0) continue;
    EXPECT_TRUE(store.db->put("zzz", "").ok());
    EXPECT_LE(store.db->stats().memory.filters, *options_with(0).filter_memory);
  }
  return static_cast<double>(store.counts().positives - before.positives) / static_cast<double>(lookups);
}

struct FiltersFollow : testing::Test {
  static double settled(CountedStore& store, double skew, std::uint64_t seed) {
    AbsentKeys keys(skew, seed);
    (void)reads_in_vain(store, keys, 150'000);
    return reads_in_vain(store, keys, 100'000);
  }
};

TEST_F(FiltersFollow, Rule46_TheTablesThatAreAskedMostHaveTheMostColumns) {
  CountedStore fixed(options_with(0));
  CountedStore follows(options_with(2));
  fill(fixed);
  fill(follows);
  ASSERT_GT(follows.db->stats().levels.back().tables, 40U);
  const double skewed = settled(follows, 0.99, 1);
  EXPECT_LT(skewed, 0.6 * settled(fixed, 0.99, 1));
  const PlanReport plan = follows.db->plan();
  EXPECT_LT(plan.wasted_reads_now, 1.05 * plan.wasted_reads_best);
  EXPECT_NEAR(plan.wasted_reads_now / skewed, 1, 0.15) << "what is planned is what is observed";
  EXPECT_NEAR(plan.wasted_reads_observed / skewed, 1, 0.15);
  std::uint64_t fewest = 16;
  std::uint64_t most = 0;
  for (const PlanReport::Table& table : plan.tables) {
    EXPECT_EQ(table.stored_columns, 16U);
    fewest = std::min(fewest, table.columns);
    most = std::max(most, table.columns);
  }
  EXPECT_LE(fewest + 4, most);
  EXPECT_LT(settled(follows, 0, 1), 1.05 * settled(fixed, 0, 1)) << "asked alike, it is no worse";
}

TEST_F(FiltersFollow, Rule46_WhenOtherTablesAreAskedColumnsMoveAndNoTableIsWritten) {
  CountedStore store(options_with(2));
  fill(store);
  const double before = settled(store, 0.99, 1);
  const Stats then = store.db->stats();
  AbsentKeys moved(0.99, 2);
  (void)reads_in_vain(store, moved, 150'000);
  EXPECT_LT(reads_in_vain(store, moved, 50'000), 1.2 * before);
  const Stats now = store.db->stats();
  EXPECT_EQ(now.flushes, then.flushes);
  EXPECT_EQ(now.compactions, then.compactions);
  EXPECT_GT(now.memory.filter_plans, then.memory.filter_plans);
  EXPECT_GT(now.memory.filter_bytes_loaded, then.memory.filter_bytes_loaded);
  EXPECT_LT(now.memory.filter_bytes_loaded - then.memory.filter_bytes_loaded, 4 * *options_with(2).filter_memory);
}

TEST_F(FiltersFollow, Rule46_WithTheSameLookupsNothingMoves) {
  CountedStore store(options_with(2));
  fill(store);
  AbsentKeys keys(0.99, 1);
  (void)reads_in_vain(store, keys, 400'000);
  const Stats then = store.db->stats();
  (void)reads_in_vain(store, keys, 400'000);
  EXPECT_LE(store.db->stats().memory.filter_plans, then.memory.filter_plans + 3);
}

TEST_F(FiltersFollow, P4_EveryKeyIsFoundWhateverIsInMemory) {
  CountedStore store(options_with(2));
  fill(store);
  std::string value;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    AbsentKeys keys(2, seed);
    (void)reads_in_vain(store, keys, 20'000);
    for (std::uint64_t i = 0; i < kKeys; i += 7) ASSERT_TRUE(*store.db->get(CountedStore::present_key(i), &value)) << i;
  }
}

}  // namespace
}  // namespace tamis::test
