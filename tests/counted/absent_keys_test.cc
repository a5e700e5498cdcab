// What an absent key costs.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "counted/counted_store.h"
#include "tamis/filter.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kRuns = 100;
constexpr std::uint64_t kKeysPerRun = 2000;
constexpr std::uint64_t kKeys = kRuns * kKeysPerRun;

Options manual_options() {
  Options options;
  options.compaction = "manual";
  return options;
}

/// Run r holds the keys r, r + 100, …: every key but the outermost lies inside the bounds of all runs.
CountedStore hundred_runs(const std::string& filter) = delete;

void fill_with_runs(CountedStore& store) {
  for (std::uint64_t run = 0; run < kRuns; ++run) {
    store.put_numbers(run, kKeys, kRuns);
    ASSERT_TRUE(store.db->flush().ok());
  }
  ASSERT_EQ(store.runs(), kRuns);
}

/// Blocks searched per lookup of an absent key, read from the file each time.
double blocks_per_absent_key(CountedStore& store, std::uint64_t lookups, std::uint64_t keys) {
  std::string value;
  // One key of each run loads its index and filter.
  for (std::uint64_t i = 0; i < kRuns; ++i) {
    EXPECT_TRUE(*store.db->get(CountedStore::present_key(i), &value, {.fills_cache = false}));
  }
  const std::uint64_t reads_before = store.counting.reads();
  const LookupCounts before = store.counts();
  for (std::uint64_t i = 0; i < lookups; ++i) {
    const std::string key = CountedStore::absent_key(kRuns + i * 7919 % (keys - 2 * kRuns));
    const Result<bool> found = store.db->get(key, &value, {.fills_cache = false});
    if (!found.ok() || *found) ADD_FAILURE() << key;
  }
  const LookupCounts after = store.counts();
  const std::uint64_t reads = store.counting.reads() - reads_before;
  EXPECT_EQ(after.blocks_read - before.blocks_read, reads);
  return static_cast<double>(reads) / static_cast<double>(lookups);
}

TEST(AbsentKeys, CostABlockOfEveryRunWithoutFilters) {
  Options options = manual_options();
  options.filter = "none";
  CountedStore store(options);
  fill_with_runs(store);
  EXPECT_EQ(blocks_per_absent_key(store, 200, kKeys), static_cast<double>(kRuns));
  const Result<Explanation> explanation =
      store.db->explain(CountedStore::absent_key(kKeys / 2), {.fills_cache = false});
  ASSERT_TRUE(explanation.ok());
  EXPECT_EQ(explanation->reads, kRuns);
  EXPECT_FALSE(explanation->found);
}

TEST(AbsentKeys, CostAboutOneBlockOverAHundredRunsWithTenBitsPerKey) {
  CountedStore store(manual_options());
  fill_with_runs(store);
  const double bits = 8 * static_cast<double>(store.filter_bytes()) / static_cast<double>(kKeys);
  const double blocks = blocks_per_absent_key(store, 20'000, kKeys);
  fmt::print("100 runs, {:.2f} bits per key: {:.3f} blocks per absent key\n", bits, blocks);
  EXPECT_LE(bits, 10.8);  // Each has a 64-byte header and whole lines of 64 bytes.
  EXPECT_LE(blocks, 1.2);
}

/// One filter for all keys, in the last level.
double blocks_after_compaction(const std::string& filter, double& bits) {
  constexpr std::uint64_t kManyKeys = 200'000;
  Options options = manual_options();
  options.filter = filter;
  CountedStore store(options);
  store.put_numbers(0, kManyKeys, 1);
  EXPECT_TRUE(store.db->compact().ok());
  EXPECT_EQ(store.runs(), 1U);
  bits = 8 * static_cast<double>(store.filter_bytes()) / static_cast<double>(kManyKeys);
  return blocks_per_absent_key(store, 200'000, kManyKeys);
}

TEST(AbsentKeys, CostAHundredthOfABlockWithALineFilterOverOneRun) {
  double bits = 0;
  const double blocks = blocks_after_compaction("line", bits);
  fmt::print("one run, line, {:.2f} bits per key: {:.4f} blocks per absent key\n", bits, blocks);
  EXPECT_LE(bits, 10.1);
  EXPECT_LE(blocks, 0.011);
}

TEST(AbsentKeys, CostHalfOfThatWithThePlansOwnChoice) {
  double bits = 0;
  const double blocks = blocks_after_compaction("auto", bits);
  fmt::print("one run, auto, {:.2f} bits per key: {:.4f} blocks per absent key\n", bits, blocks);
  EXPECT_LE(bits, 10.1);
  EXPECT_LE(blocks, 0.005);
}

/// The same keys in filters with equal bits, probed with the same absent keys.
double wasted_if_uniform(const std::string& kind, std::uint64_t first, std::uint64_t end, double bits_per_key,
                         std::uint64_t lookups) {
  FilterBuilder builder({.kind = kind, .bits_per_key = bits_per_key});
  for (std::uint64_t i = first; i < end; ++i) builder.add(CountedStore::present_key(i * 111));
  const Result<Filter> filter = builder.finish();
  if (!filter.ok()) return 1;
  std::uint64_t maybe = 0;
  for (std::uint64_t i = 0; i < lookups; ++i) {
    maybe += filter->may_contain(CountedStore::absent_key(i * 7919)) ? 1U : 0U;
  }
  return static_cast<double>(maybe) / static_cast<double>(lookups);
}

/// Runs of 1, 10 and 100 thousand keys. With one filter kind, the best plan wastes 2^H / 3 = 0.475 of what equal bits
/// waste (H = 0.51 bits, the entropy of the sizes). The rest comes from ribbon, which the plan uses for the last level
/// and whose price per halving is lower there.
TEST(AbsentKeys, CostAThirdWhenThePlanSharesTheMemory) {
  constexpr std::uint64_t kUnit = 1000;
  constexpr std::uint64_t kLookups = 200'000;
  CountedStore store(manual_options());
  const auto put = [&](std::uint64_t first, std::uint64_t end) { store.put_numbers(first * 111, end * 111, 111); };
  put(0, 100 * kUnit);
  ASSERT_TRUE(store.db->compact().ok());
  // The bounds of the smaller runs cover everything, so every lookup must ask them.
  put(100 * kUnit, 110 * kUnit);
  store.put_numbers(1, 2, 1);
  ASSERT_TRUE(store.db->flush().ok());
  put(110 * kUnit, 111 * kUnit);
  store.put_numbers(2, 3, 1);
  ASSERT_TRUE(store.db->flush().ok());
  ASSERT_EQ(store.runs(), 3U);

  const PlanReport plan = store.db->plan();
  const double bits = 8 * static_cast<double>(store.filter_bytes()) / (111.0 * kUnit);
  std::string value;
  for (std::uint64_t i = 0; i < 100; ++i) (void)store.db->get(CountedStore::absent_key(1000 + i * 5), &value).ok();
  const LookupCounts before = store.counts();
  for (std::uint64_t i = 0; i < kLookups; ++i) {
    const std::string key = CountedStore::absent_key(1000 + i * 7919 % (99 * kUnit * 111));
    const Result<bool> found = store.db->get(key, &value, {.fills_cache = false});
    if (!found.ok() || *found) ADD_FAILURE() << key;
  }
  const double measured =
      static_cast<double>(store.counts().false_positives - before.false_positives) / static_cast<double>(kLookups);
  const double uniform = wasted_if_uniform("ribbon", 0, 100 * kUnit, bits, kLookups) +
                         wasted_if_uniform("line", 100 * kUnit, 110 * kUnit, bits, kLookups) +
                         wasted_if_uniform("line", 110 * kUnit, 111 * kUnit, bits, kLookups);
  const double lines = 3 * wasted_if_uniform("line", 0, 100 * kUnit, bits, kLookups);
  fmt::print(
      "1:10:100 at {:.2f} bits per key: measured {:.5f} wasted, uniform {:.5f}, lines alone {:.5f}; the plan "
      "expects {:.5f} against {:.5f}\n",
      bits, measured, uniform, lines, plan.wasted_reads, plan.wasted_reads_uniform);
  EXPECT_LE(plan.wasted_reads, 0.35 * plan.wasted_reads_uniform);
  EXPECT_LE(measured, 0.35 * uniform);
}

}  // namespace
}  // namespace tamis::test
