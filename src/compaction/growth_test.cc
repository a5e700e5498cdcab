#include "compaction/growth.h"

#include <gtest/gtest.h>

#include "compaction/simulator.h"

namespace tamis {
namespace {

constexpr std::uint64_t kFlushBytes = 32'000;

GrowthQuestion question_of(std::string_view policy, std::uint64_t flushes) {
  return {
      .policy = find_compaction_policy(policy),
      .options = {.fanout = 4, .memtable_bytes = kFlushBytes, .table_bytes = 2 * kFlushBytes, .now_unix_seconds = 0},
      .flush_bytes = kFlushBytes,
      .flushes = flushes};
}

Growth growth_of(const GrowthQuestion& question) {
  const Result<Growth> growth = grow(question);
  EXPECT_TRUE(growth.ok()) << growth.status().to_text();
  return growth.ok() ? *growth : Growth{};
}

double bytes_of(const Growth& growth) {
  double sum = 0;
  for (const GrownRun& run : growth.runs) sum += run.bytes;
  return sum;
}

double tables_of(const Growth& growth) {
  double sum = 0;
  for (const GrownRun& run : growth.runs) sum += run.tables;
  return sum;
}

// Compares the rule at sixteen times the simulated size with a full simulation. This holds at this size; at others, the
// few large merges of lazy may fall on the other side of the middle of the load: from 120 to 1,920 flushes, a third.
TEST(Growth, GoesOnByRuleAsTheSimulationWould) {
  for (const std::string_view policy : {"leveled", "tiered", "lazy"}) {
    GrowthQuestion question = question_of(policy, 2992);
    const Growth whole = growth_of(question);
    EXPECT_EQ(whole.simulated, 2992U) << policy;
    EXPECT_EQ(whole.levels_beyond, 0U) << policy;
    question.most_simulated = 200;
    const Growth ruled = growth_of(question);
    EXPECT_EQ(ruled.simulated, 187U) << policy;
    EXPECT_EQ(ruled.levels_beyond, 2U) << policy;
    EXPECT_NEAR(ruled.write_amplification, whole.write_amplification, 0.05 * whole.write_amplification) << policy;
    EXPECT_NEAR(ruled.late_amplification, whole.late_amplification, 0.05 * whole.late_amplification) << policy;
    EXPECT_NEAR(ruled.runs_per_lookup, whole.runs_per_lookup, 0.1 * whole.runs_per_lookup) << policy;
    EXPECT_NEAR(tables_of(ruled), tables_of(whole), 0.05 * tables_of(whole)) << policy;
    EXPECT_GT(ruled.largest_merge_bytes, whole.largest_merge_bytes / 2) << policy;
    EXPECT_LT(ruled.largest_merge_bytes, whole.largest_merge_bytes * 2) << policy;
    EXPECT_EQ(ruled.runs.back().level, whole.runs.back().level) << policy;
    EXPECT_NEAR(ruled.runs.back().bytes, whole.runs.back().bytes, 0.05 * whole.runs.back().bytes) << policy;
  }
}

TEST(Growth, HasTheBytesThatWereFlushed) {
  for (const std::uint64_t flushes : {1U, 2U, 3U, 100U, 1000U, 10'000U}) {
    GrowthQuestion question = question_of("leveled", flushes);
    question.most_simulated = 200;
    const Growth growth = growth_of(question);
    EXPECT_NEAR(bytes_of(growth), static_cast<double>(flushes * kFlushBytes),
                1e-6 * static_cast<double>(flushes * kFlushBytes));
    std::uint32_t level = 0;
    for (const GrownRun& run : growth.runs) {
      EXPECT_GE(run.level, level);
      EXPECT_GE(run.tables, 1);
      level = run.level;
    }
  }
}

TEST(Growth, AFlushAloneIsWrittenOnce) {
  const Growth growth = growth_of(question_of("leveled", 1));
  ASSERT_EQ(growth.runs.size(), 1U);
  EXPECT_EQ(growth.runs.front().level, 0U);
  EXPECT_EQ(growth.write_amplification, 1);
}

TEST(Growth, SmallTablesAreCountedAsSuch) {
  GrowthQuestion question = question_of("tiered", 64);
  const double large = tables_of(growth_of(question));
  question.options.table_bytes = kFlushBytes / 8;
  EXPECT_NEAR(tables_of(growth_of(question)), 16 * large, 0.1 * 16 * large);
}

TEST(Growth, RefusesMoreLevelsThanThereAre) {
  GrowthQuestion question = question_of("leveled", 1'000'000);
  question.options.fanout = 2;
  question.most_simulated = 200;
  const Result<Growth> growth = grow(question);
  ASSERT_FALSE(growth.ok());
  EXPECT_EQ(growth.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(growth.status().message().find("levels"), std::string_view::npos);
}

TEST(Growth, RefusesWhatTheSimulationDoesNotReach) {
  GrowthQuestion question = question_of("leveled", 1'000'000);
  question.options.fanout = 100;
  EXPECT_EQ(grow(question).status().code(), StatusCode::kNotSupported);
  question = question_of("manual", 10'000);
  question.most_simulated = 200;
  EXPECT_EQ(grow(question).status().code(), StatusCode::kNotSupported);
}

}  // namespace
}  // namespace tamis
