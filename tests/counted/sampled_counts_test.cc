// Probes are sampled; what is told and decided by them is right all the same.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>

#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 4000;

Options manual_options() {
  Options options;
  options.compaction = "manual";
  return options;
}

/// An older run of every other key from `first` on, and a newer one of the keys between them.
void make_two_runs(CountedStore& store, std::uint64_t first) {
  store.put_numbers(first, kKeys, 2);
  ASSERT_TRUE(store.db->compact().ok());
  store.put_numbers(1, kKeys + 2, 2);
  ASSERT_TRUE(store.db->flush().ok());
  ASSERT_EQ(store.runs(), 2U);
}

void get_absent(CountedStore& store, std::uint64_t number) {
  std::string value;
  ASSERT_FALSE(*store.db->get(CountedStore::absent_key(number), &value));
}

/// Both are asked in turn, by every get.
TEST(SampledCounts, Rule15_TheObservedRateOfEachRunIsItsRate) {
  constexpr std::uint64_t kGets = 60'000;
  Options options = manual_options();
  options.filter_memory = kKeys / 2;  // 4 bits per key: rates that can be measured.
  CountedStore store(options);
  make_two_runs(store, 0);
  for (std::uint64_t i = 0; i < kGets; ++i) get_absent(store, 1 + i * 7 % (kKeys - 2));
  std::uint64_t runs = 0;
  for (const Stats::Level& level : store.db->stats().levels) {
    if (level.runs == 0) continue;
    ++runs;
    const double sigma = 8 / std::sqrt(static_cast<double>(kGets));  // Of so many probes, a 64th of them sampled.
    const double truth = static_cast<double>(level.false_positives) / kGets;
    EXPECT_GT(truth, 0.01);
    EXPECT_NEAR(level.observed_rate / truth, 1, 5 * sigma) << "level " << level.level;
    EXPECT_NEAR(static_cast<double>(level.probes) / kGets, 1, 5 * sigma) << "level " << level.level;
  }
  EXPECT_EQ(runs, 2U);
}

/// One of two filters fits. A lookup that meets the older run asks both runs twice, first in memory alone, and comes
/// after four that ask the newer run only: of eight probes the last is always the older run's.
TEST(SampledCounts, Rule15_TheFilterThatSavesMoreReadsStaysInMemory) {
  CountedStore store(manual_options());
  make_two_runs(store, kKeys / 2);
  Options smaller = manual_options();
  smaller.filter_memory = store.filter_bytes() * 4 / 5;
  store.reopen(smaller);
  for (std::uint64_t i = 0; i < 10'000; ++i) get_absent(store, i % 5 < 4 ? 1 + i % 1000 : kKeys - 100);
  ASSERT_TRUE(store.db->put("zzz", "").ok());  // After a write the filters are reconsidered.
  get_absent(store, kKeys - 100);
  const Explanation explanation = *store.db->explain(CountedStore::absent_key(kKeys - 100));
  std::vector<std::string> verdicts;
  for (const Explanation::Step& step : explanation.steps) {
    if (step.where == "table") verdicts.emplace_back(step.filter_verdict);
  }
  ASSERT_EQ(verdicts.size(), 2U);
  EXPECT_NE(verdicts[0], "not in memory") << "the newer run's, which every lookup asks";
  EXPECT_EQ(verdicts[1], "not in memory");
}

}  // namespace
}  // namespace tamis::test
