#include "tree/run_matrix.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>

namespace tamis {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;

bool has(const ColumnSet& columns, std::uint32_t column) { return (columns[column / 64] >> (column % 64) & 1) != 0; }

RunMatrixPlan plan_of(RunMatrixPlan plan) {
  plan.gate_probes = plan.probes;
  plan.runs = plan.width;
  return plan;
}

TEST(RunMatrix, Rule14_AColumnAnswersForEveryHashThatWasAdded) {
  for (const std::uint32_t width : {8U, 16U, 32U, 64U, 128U, 192U, 256U}) {
    for (const std::uint32_t steps : {1U, 2U, 77U}) {
      for (const std::uint32_t probes : {1U, 4U, 8U}) {
        SCOPED_TRACE(fmt::format("{} columns, {} rows, {} probes", width, 64 * steps, probes));
        MetadataBudget budget(kPlenty);
        const auto matrix =
            RunMatrix::make(plan_of({.rows = 64 * steps, .lines = steps, .width = width, .probes = probes}), budget);
        std::mt19937_64 random(width + steps + probes);
        std::vector<std::vector<std::uint64_t>> added(width);
        for (std::uint32_t column = 0; column < width; ++column) {
          ASSERT_EQ(matrix->take_column(), column);
          added[column] = {0, ~std::uint64_t{0}};
          for (std::uint32_t i = 0; i < 8 * steps; ++i) added[column].push_back(random());
          for (const std::uint64_t hash : added[column]) matrix->add(column, hash);
        }
        EXPECT_FALSE(matrix->take_column().has_value());
        for (std::uint32_t column = 0; column < width; ++column) {
          for (const std::uint64_t hash : added[column]) ASSERT_TRUE(has(matrix->ask(hash), column));
        }
      }
    }
  }
}

TEST(RunMatrix, Rule14_RulesOutNearlyAllThatWasNotAdded) {
  MetadataBudget budget(kPlenty);
  const std::vector<std::uint64_t> keys(100, 1000);
  const RunMatrixPlan plan = plan_run_matrix(keys, kPlenty);
  const auto matrix = RunMatrix::make(plan, budget);
  std::mt19937_64 random(1);
  for (std::uint32_t run = 0; run < 100; ++run) {
    const std::uint32_t column = *matrix->take_column();
    for (int i = 0; i < 1000; ++i) matrix->add(column, random());
  }
  std::uint64_t passed = 0;
  for (int i = 0; i < 10'000; ++i) {
    const ColumnSet columns = matrix->ask(random());
    for (const std::uint64_t word : columns) passed += static_cast<std::uint64_t>(std::popcount(word));
  }
  fmt::print("100 runs, {} bytes for 100,000 keys: {:.4f} runs per stranger\n", plan.bytes(),
             static_cast<double>(passed) / 10'000);
  EXPECT_LE(passed, 500U);  // 0.05 of a run.
}

TEST(RunMatrix, Rule14_AColumnThatIsTakenAgainIsEmpty) {
  for (const std::uint32_t width : {8U, 16U, 32U, 64U, 128U, 192U, 256U}) {
    MetadataBudget budget(kPlenty);
    const auto matrix = RunMatrix::make(plan_of({.rows = 1536, .lines = 4, .width = width, .probes = 6}), budget);
    for (std::uint32_t column = 0; column < width; ++column) ASSERT_EQ(matrix->take_column(), column);
    for (std::uint64_t i = 0; i < 100; ++i) {
      matrix->add(width - 2, remix(i));
      matrix->add(width - 1, remix(i));
    }
    matrix->give_back(width - 2);
    EXPECT_EQ(matrix->free_columns(), 1U);
    ASSERT_EQ(matrix->take_column(), width - 2);
    for (std::uint64_t i = 0; i < 100; ++i) {
      EXPECT_FALSE(has(matrix->ask(remix(i)), width - 2));
      EXPECT_TRUE(has(matrix->ask(remix(i)), width - 1));
    }
  }
}

/// The gate keeps the bits of released columns: new keys fill it up, repeated ones do not.
TEST(RunMatrix, TheGateIsStaleWhenManyKeysHaveComeAndGone) {
  MetadataBudget budget(kPlenty);
  constexpr std::uint64_t kKeys = 1000;
  const auto matrix = RunMatrix::make(plan_run_matrix(std::vector<std::uint64_t>(8, kKeys), kPlenty), budget);
  for (std::uint32_t column = 0; column < 8; ++column) {
    ASSERT_EQ(matrix->take_column(), column);
    for (std::uint64_t i = 0; i < kKeys; ++i) matrix->add(column, remix(column * kKeys + i));
  }
  EXPECT_FALSE(matrix->has_stale_gate(8 * kKeys));
  for (int again = 0; again < 10; ++again) {
    for (std::uint64_t i = 0; i < kKeys; ++i) matrix->add(3, remix(3 * kKeys + i));
  }
  EXPECT_FALSE(matrix->has_stale_gate(8 * kKeys));
  for (std::uint64_t i = 0; i < 16 * kKeys; ++i) matrix->add(3, remix(100 * kKeys + i));
  EXPECT_TRUE(matrix->has_stale_gate(8 * kKeys));
  EXPECT_FALSE(matrix->has_stale_gate(24 * kKeys));  // All of them are there: another gate would be as full.
}

TEST(RunMatrix, Rule14_IsChargedAsLongAsItLives) {
  const RunMatrixPlan plan = plan_run_matrix(std::vector<std::uint64_t>(50, 2000), kPlenty);
  MetadataBudget budget(plan.bytes() + 10);
  {
    const auto matrix = RunMatrix::make(plan, budget);
    ASSERT_NE(matrix, nullptr);
    EXPECT_EQ(budget.used_bytes(), plan.bytes());
    EXPECT_EQ(RunMatrix::make(plan, budget), nullptr);
    EXPECT_EQ(budget.used_bytes(), plan.bytes());
  }
  EXPECT_EQ(budget.used_bytes(), 0U);
}

TEST(RunMatrix, ThePlanStaysInItsRoomAndIsWideEnough) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::uint64_t> keys(random() % 400);
    std::uint64_t sum = 0;
    for (std::uint64_t& run : keys) sum += run = random() % 4 == 0 ? random() % 1'000'000 : random() % 1000;
    const std::uint64_t room = random() % 4 == 0 ? kPlenty : random() % (4 * sum + 2);
    const RunMatrixPlan plan = plan_run_matrix(keys, room);
    ASSERT_LE(plan.bytes(), room);
    if (plan.rows == 0) continue;
    ASSERT_GE(plan.runs, RunMatrixPlan::kMinRuns);
    ASSERT_LE(plan.runs, plan.width);
    ASSERT_GE(plan.probes, 1U);
    ASSERT_LE(plan.probes, RunMatrixPlan::kMaxProbes);
    ASSERT_GE(plan.gate_probes, 1U);
    ASSERT_GE(plan.lines, 1U);
    ASSERT_EQ(plan.rows % 64, 0U);
    ASSERT_LE(plan.bytes(), std::max<std::uint64_t>(3 * sum, 8192));
    std::size_t taken = 0;
    for (const std::uint64_t run : keys) taken += plan.takes(run) ? 1U : 0U;
    ASSERT_GE(taken, plan.runs);
  }
}

TEST(RunMatrix, ThePlanLeavesOutTheRunThatIsMuchLargerThanTheOthers) {
  std::vector<std::uint64_t> keys(40, 1000);
  keys.push_back(10'000'000);
  const RunMatrixPlan plan = plan_run_matrix(keys, kPlenty);
  EXPECT_EQ(plan.runs, 40U);
  EXPECT_FALSE(plan.takes(10'000'000));
  EXPECT_EQ(plan_run_matrix(std::vector<std::uint64_t>(RunMatrixPlan::kMinRuns - 1, 1000), kPlenty).rows, 0U);
  EXPECT_EQ(plan_run_matrix({}, kPlenty).rows, 0U);
  EXPECT_EQ(plan_run_matrix(std::vector<std::uint64_t>(100, 1000), 0).rows, 0U);
}

}  // namespace
}  // namespace tamis
