// What is timed: one get in 128 at random, every put, scan, sync, flush and compaction.
#include "engine/timed_calls.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "io/memory_file_system.h"
#include "support/open_db.h"
#include "tamis/transaction.h"

namespace tamis {
namespace {

TEST(GetSampling, TimesOneGetIn128InWhateverOrderTheyCome) {
  constexpr std::uint64_t kGets = 3 << 20;
  for (const std::uint64_t period : {2U, 3U, 64U, 128U}) {
    std::map<std::uint64_t, std::uint64_t> by_phase;
    for (std::uint64_t get = 0; get < kGets; ++get) {
      if (GetSampling::is_sampled()) ++by_phase[get % period];
    }
    const double expected = static_cast<double>(kGets) / GetSampling::kGetsPerSample / static_cast<double>(period);
    ASSERT_EQ(by_phase.size(), period);
    for (const auto& [phase, sampled] : by_phase) {
      EXPECT_NEAR(static_cast<double>(sampled), expected, 6 * std::sqrt(expected)) << phase << " of " << period;
    }
  }
}

TEST(GetSampling, ThreadsOfAFewGetsAreSampledToo) {
  constexpr int kThreads = 1000;
  std::uint64_t sampled = 0;
  for (int i = 0; i < kThreads; ++i) {
    std::thread([&] {
      for (int get = 0; get < 20; ++get) sampled += GetSampling::is_sampled() ? 1 : 0;
    }).join();
  }
  EXPECT_NEAR(static_cast<double>(sampled), kThreads * 20 / 128.0, 60);
}

struct TimedStore {
  MemoryFileSystem files;
  DB db = test::open_db({.files = &files}, {.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10});

  [[nodiscard]] Stats::Latencies latencies() const { return db.stats().latencies; }
};

TEST(TimedCalls, EveryWriteAndSyncIsTimed) {
  TimedStore store;
  ASSERT_TRUE(store.db.put("a", "1").ok());
  ASSERT_TRUE(store.db.put("b", "1", {.sync = true}).ok());
  ASSERT_TRUE(store.db.remove("a").ok());
  Batch batch;
  batch.put("c", "1");
  batch.put("d", "1");
  ASSERT_TRUE(store.db.write(batch).ok());
  ASSERT_TRUE(store.db.sync().ok());
  const Stats::Latencies latencies = store.latencies();
  EXPECT_EQ(latencies.put.count, 4U);
  EXPECT_EQ(latencies.sync.count, 2U);
  EXPECT_GT(latencies.put.max_ns, 0U);
  EXPECT_GE(latencies.put.sum_ns, latencies.put.max_ns);
}

TEST(TimedCalls, EveryScanFlushAndCompactionIsTimed) {
  TimedStore store;
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE(store.db.put("a", "1").ok());
    ASSERT_TRUE(store.db.put("z", "1").ok());
    ASSERT_TRUE(store.db.flush().ok());
  }
  ASSERT_TRUE(store.db.compact().ok());
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(store.db.scan().valid());
  const Stats stats = store.db.stats();
  EXPECT_EQ(stats.latencies.scan.count, 3U);
  EXPECT_EQ(stats.latencies.flush.count, 2U);
  EXPECT_EQ(stats.latencies.flush.count, stats.flushes);
  EXPECT_EQ(stats.latencies.compaction.count, stats.compactions);
  EXPECT_EQ(stats.latencies.compaction.count, 1U);
  EXPECT_GT(stats.latencies.compaction.sum_ns, 0U);
}

TEST(TimedCalls, SomeGetsOfEachWayAreTimed) {
  TimedStore store;
  ASSERT_TRUE(store.db.put("a", "1").ok());
  std::string value;
  std::uint64_t before = 0;
  const auto expect_more = [&](std::string_view way) {
    const std::uint64_t now = store.latencies().get.count;
    EXPECT_NEAR(static_cast<double>(now - before), 6000 / 128.0, 35) << way;
    before = now;
  };
  for (int i = 0; i < 6000; ++i) ASSERT_TRUE(*store.db.get("a", &value));
  expect_more("get");
  for (int i = 0; i < 6000; ++i) ASSERT_FALSE(*store.db.exists("b"));
  expect_more("exists");
  for (int i = 0; i < 6000; ++i) ASSERT_TRUE(store.db.get_pinned("a")->has_value());
  expect_more("get_pinned");
}

}  // namespace
}  // namespace tamis
