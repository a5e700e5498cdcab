#include "engine/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <thread>
#include <vector>

#include "base/random.h"

namespace tamis {
namespace {

/// The rank-th smallest, rank = ceil(share * count).
std::uint64_t exact_quantile(std::vector<std::uint64_t> sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

void expect_near(std::uint64_t found, std::uint64_t exact) {
  EXPECT_LE(std::abs(static_cast<double>(found) - static_cast<double>(exact)), 1 + 0.04 * static_cast<double>(exact))
      << found << " instead of " << exact;
}

TEST(LatencyHistogram, QuantilesAreWithinFourPercentOfTheExactOnes) {
  SplitMix64 random(7);
  for (const std::size_t count : {1UL, 2UL, 99UL, 1000UL, 30000UL}) {
    LatencyHistogram histogram(1);
    std::vector<std::uint64_t> all;
    for (std::size_t i = 0; i < count; ++i) {
      all.push_back(random.next() >> (28 + random.below(36)));  // From 1 ns to 68 s, each doubling as often.
      histogram.add(all.back());
    }
    std::ranges::sort(all);
    const Stats::Latency latency = histogram.latency();
    EXPECT_EQ(latency.count, count);
    EXPECT_EQ(latency.sum_ns, std::accumulate(all.begin(), all.end(), std::uint64_t{0}));
    EXPECT_EQ(latency.max_ns, all.back());
    expect_near(latency.p50_ns, exact_quantile(all, 0.5));
    expect_near(latency.p90_ns, exact_quantile(all, 0.9));
    expect_near(latency.p99_ns, exact_quantile(all, 0.99));
    expect_near(latency.p999_ns, exact_quantile(all, 0.999));
  }
}

TEST(LatencyHistogram, ABucketEndsWithItsBound) {
  for (std::size_t bucket = 0; bucket + 1 < Stats::Latency::kBuckets; ++bucket) {
    LatencyHistogram histogram(1);
    histogram.add(Stats::Latency::bound_ns(bucket));
    histogram.add(Stats::Latency::bound_ns(bucket) + 1);
    const Stats::Latency latency = histogram.latency();
    EXPECT_EQ(latency.buckets[bucket], 1U) << bucket;
    EXPECT_EQ(latency.buckets[bucket + 1], 1U) << bucket;
  }
}

TEST(LatencyHistogram, TheShortestAndTheLongestCount) {
  LatencyHistogram histogram(1);
  histogram.add(0);
  histogram.add(1);
  histogram.add(std::uint64_t{1} << 50);
  const Stats::Latency latency = histogram.latency();
  EXPECT_EQ(latency.buckets.front(), 2U);
  EXPECT_EQ(latency.buckets.back(), 1U);
  EXPECT_EQ(latency.max_ns, std::uint64_t{1} << 50);
  EXPECT_EQ(latency.p999_ns, std::uint64_t{1} << 50);
  EXPECT_EQ(latency.p50_ns, 1U);
}

TEST(LatencyHistogram, IsZeroWithoutCalls) {
  const Stats::Latency latency = LatencyHistogram(4).latency();
  EXPECT_EQ(latency.count, 0U);
  EXPECT_EQ(latency.p99_ns, 0U);
  EXPECT_EQ(latency.max_ns, 0U);
}

TEST(LatencyHistogram, CountsWhatAllThreadsAdd) {
  LatencyHistogram histogram(3);
  std::vector<std::thread> threads;
  for (std::uint64_t thread = 1; thread <= 8; ++thread) {
    threads.emplace_back([&histogram, thread] {
      for (int i = 0; i < 10'000; ++i) histogram.add(1000 * thread);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Stats::Latency latency = histogram.latency();
  EXPECT_EQ(latency.count, 80'000U);
  EXPECT_EQ(latency.sum_ns, 10'000U * 36'000U);
  EXPECT_EQ(latency.max_ns, 8000U);
}

}  // namespace
}  // namespace tamis
