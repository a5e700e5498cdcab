// Probes are sampled, yet the reported counts, and the choice of resident filters, are right.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/epoch.h"
#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 4000;

Options manual_options() {
  Options options;
  options.compaction = "manual";
  options.filter = "line";  // In memory whole or not at all.
  return options;
}

/// An older run with half of the keys, and a newer one with every other key.
void make_two_runs(CountedStore& store, std::uint64_t first, std::uint64_t step) {
  store.put_numbers(first, kKeys, step);
  ASSERT_TRUE(store.db->compact().ok());
  store.put_numbers(1, kKeys + 2, 2);
  ASSERT_TRUE(store.db->flush().ok());
  ASSERT_EQ(store.runs(), 2U);
}

void get_absent(CountedStore& store, std::uint64_t number) {
  std::string value;
  ASSERT_FALSE(*store.db->get(CountedStore::absent_key(number), &value));
}

/// Every get asks both in turn.
TEST(SampledCounts, Rule15_TheObservedRateOfEachRunIsItsRate) {
  constexpr std::uint64_t kGets = 60'000;
  CountedStore store(manual_options());
  make_two_runs(store, 0, 2);
  for (std::uint64_t i = 0; i < kGets; ++i) get_absent(store, 2 + i * 7 % (kKeys - 8));
  std::uint64_t runs = 0;
  for (const Stats::Level& level : store.db->stats().levels) {
    if (level.runs == 0) continue;
    ++runs;
    const double sigma = 8 / std::sqrt(static_cast<double>(kGets));  // Of this many probes, a 64th is sampled.
    const double truth = static_cast<double>(level.false_positives) / kGets;
    EXPECT_GT(level.false_positives, 0U);
    EXPECT_NEAR(level.observed_rate / truth, 1, 5 * sigma) << "level " << level.level;
    EXPECT_NEAR(static_cast<double>(level.probes) / kGets, 1, 5 * sigma) << "level " << level.level;
  }
  EXPECT_EQ(runs, 2U);
}

/// Memory alone has no answer, so the lookup restarts.
TEST(SampledCounts, Rule15_ALookupThatReadsFromDiskCountsOnce) {
  constexpr std::uint64_t kGets = 20'000;
  CountedStore store(manual_options());
  make_two_runs(store, 0, 2);
  std::string value;
  for (std::uint64_t i = 0; i < kGets; ++i) {
    const std::string key = CountedStore::present_key(2 + i * 2 % (kKeys - 4));
    ASSERT_TRUE(*store.db->get(key, &value, {.fills_cache = false}));
  }
  for (const Stats::Level& level : store.db->stats().levels) {
    if (level.runs == 0) continue;
    EXPECT_NEAR(static_cast<double>(level.probes) / kGets, 1, 5 * 8 / std::sqrt(kGets)) << "level " << level.level;
  }
}

/// How the filters of the asked tables answer for an absent key, newest run first.
std::vector<std::string> verdicts(CountedStore& store, std::uint64_t number) {
  std::vector<std::string> all;
  const Explanation explanation = *store.db->explain(CountedStore::absent_key(number));
  for (const Explanation::Step& step : explanation.steps) {
    if (step.where == "table") all.emplace_back(step.filter_verdict);
  }
  return all;
}

/// One of two filters fits. A lookup that asks both runs follows two that ask only the newer one: of four probes the
/// last is the older run's. Whichever of the four is sampled first, the filter that is asked three times as often
/// stays.
TEST(SampledCounts, Rule15_TheFilterThatSavesMoreReadsStaysInMemory) {
  CountedStore store(manual_options());
  make_two_runs(store, kKeys / 2, 1);
  Options smaller = manual_options();
  smaller.filter_memory = store.filter_bytes() * 4 / 5;
  for (std::uint64_t phase = 0; phase < 4; ++phase) {
    store.reopen(smaller);
    std::uint64_t of_one = 1;  // Keys that the newer run's filter rules out: no lookup probes more than the others.
    while (verdicts(store, of_one).front() != "no") ++of_one;
    std::uint64_t of_both = kKeys / 2 + 2;
    while (verdicts(store, of_both).front() != "no") ++of_both;
    std::thread([&] {  // A new thread, so that every phase occurs, however probes are sampled.
      for (std::uint64_t i = 0; i < phase; ++i) get_absent(store, of_one);
      for (std::uint64_t i = 0; i < 12'000; ++i) get_absent(store, i % 3 < 2 ? of_one : of_both);
    })
        .join();
    EXPECT_EQ(verdicts(store, of_both), (std::vector<std::string>{"no", "not in memory"}));
    const std::uint64_t filters_before = store.db->stats().memory.filters;
    ASSERT_TRUE(store.db->put("zzz", "").ok());  // A write reconsiders the filters.
    EXPECT_EQ(store.db->stats().memory.filters, filters_before) << "unloaded in phase " << phase;
  }
}

/// The newer run's filter is loaded first; then lookups ask only the older run, whose filter replaces it.
TEST(Residency, Rule10_AFilterThatIsUnloadedIsFreedOnceNobodyCanBeLookingAtIt) {
  CountedStore store(manual_options());
  store.put_numbers(0, kKeys, 2);
  ASSERT_TRUE(store.db->compact().ok());
  store.put_numbers(kKeys / 2 + 1, kKeys, 2);
  ASSERT_TRUE(store.db->flush().ok());
  Options smaller = manual_options();
  smaller.filter_memory = store.filter_bytes() * 4 / 5;
  store.reopen(smaller);
  get_absent(store, kKeys - 100);
  for (std::uint64_t i = 0; i < 10'000; ++i) get_absent(store, 1 + i % (kKeys / 2 - 2));
  const std::uint64_t filters_before = store.db->stats().memory.filters;
  auto guard = std::make_unique<EpochGuard>();
  std::atomic<bool> is_freed = false;
  std::jthread writer([&] {
    EXPECT_TRUE(store.db->put("zzz", "").ok());  // A write reconsiders the filters.
    is_freed = true;
  });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // Enough time for a wrong decision.
  EXPECT_FALSE(is_freed);
  std::jthread([&] {  // This thread has a guard.
    EXPECT_EQ(store.db->stats().memory.filters, filters_before) << "it stays charged until then";
  })
      .join();
  guard.reset();
  writer.join();
  EXPECT_EQ(store.db->stats().memory.filters, store.filter_bytes() - filters_before) << "only the other run's";
}

}  // namespace
}  // namespace tamis::test
