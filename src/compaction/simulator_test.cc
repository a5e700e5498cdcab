#include "compaction/simulator.h"

#include <gtest/gtest.h>

#include <limits>

#include "compaction/simulated_store.h"

namespace tamis {
namespace {

constexpr std::uint64_t kEntryBytes = 128;
constexpr PolicyOptions kOptions = {
    .fanout = 4, .memtable_bytes = 200 * kEntryBytes, .table_bytes = 200 * kEntryBytes, .now_unix_seconds = 0};

SimulatedLoad random_load(double overwrites) {
  return {.flushes = 300, .keys_per_flush = 200, .overwrites = overwrites, .entry_bytes = kEntryBytes};
}

SimulatedCost cost_of(std::string_view policy, const SimulatedLoad& load) {
  const Result<SimulatedCost> cost = simulate(*find_compaction_policy(policy), kOptions, load);
  EXPECT_TRUE(cost.ok()) << cost.status().to_text();
  return cost.ok() ? *cost : SimulatedCost{};
}

/// Of the policies that rewrite.
struct Costs {
  explicit Costs(double overwrites)
      : leveled(cost_of("leveled", random_load(overwrites))),
        tiered(cost_of("tiered", random_load(overwrites))),
        lazy(cost_of("lazy", random_load(overwrites))) {}
  SimulatedCost leveled;
  SimulatedCost tiered;
  SimulatedCost lazy;
};

// 300 memtables at a fanout of 4 are four levels: 4, 16, 64 and the rest. Level 1 costs about 1 + 4/4·½ per byte, every
// deeper one 1 + 4·½ or slightly more, as its tables do not align with those below; flush and level 0 cost 1.
TEST(Simulator, LeveledRewritesAsItsLevelsSayAndTieredOncePerLevel) {
  const Costs costs(0);
  EXPECT_GT(costs.leveled.write_amplification, 6);
  EXPECT_LT(costs.leveled.write_amplification, 11);
  EXPECT_GT(costs.leveled.runs_per_lookup, 3);  // Up to three in level 0, one in each deeper level.
  EXPECT_LT(costs.leveled.runs_per_lookup, 6);
  EXPECT_GT(costs.tiered.write_amplification, 3);  // Flush, then once in each of levels 1 to 4, as far as it has moved.
  EXPECT_LT(costs.tiered.write_amplification, 5);
}

TEST(Simulator, TieredWritesLessAndHasMoreRunsThanLeveledAndLazyLiesBetween) {
  const Costs costs(0.3);
  EXPECT_LT(costs.tiered.write_amplification, costs.lazy.write_amplification);
  EXPECT_LT(costs.lazy.write_amplification, costs.leveled.write_amplification);
  EXPECT_GT(costs.tiered.runs_per_lookup, costs.lazy.runs_per_lookup);
  EXPECT_GT(costs.lazy.runs_per_lookup, costs.leveled.runs_per_lookup);
  const SimulatedCost again = cost_of("leveled", random_load(0.3));
  EXPECT_EQ(again.write_amplification, costs.leveled.write_amplification) << "the same answer twice";
  EXPECT_EQ(again.runs_per_lookup, costs.leveled.runs_per_lookup);
  EXPECT_EQ(again.merges, costs.leveled.merges);
}

TEST(Simulator, LazyHasNearlyTheSpaceOfLeveled) {
  const Costs costs(0.5);
  EXPECT_LT(costs.leveled.space_amplification, 1.25);
  EXPECT_LT(costs.lazy.space_amplification, costs.leveled.space_amplification + 0.1);
  EXPECT_GT(costs.tiered.space_amplification, costs.leveled.space_amplification + 0.1);
}

TEST(Simulator, ALoadInKeyOrderIsOnlyMoved) {
  SimulatedLoad load = random_load(0);
  load.order = SimulatedLoad::Order::kSequential;
  for (const std::string_view policy : {"leveled", "tiered", "lazy"}) {
    const SimulatedCost cost = cost_of(policy, load);
    EXPECT_EQ(cost.merges, 0U) << policy;
    EXPECT_GT(cost.moves, 0U) << policy;
    EXPECT_EQ(cost.write_amplification, 1) << policy;
    EXPECT_EQ(cost.runs_per_lookup, 1) << policy;
    EXPECT_EQ(cost.space_amplification, 1) << policy;
  }
}

// 5 % new keys in 400 memtables: the store has 20 of them, and level 1 holds 10.
TEST(Simulator, OverwritingRewritesASmallPartOfTheStoreAtATime) {
  constexpr std::uint64_t kLargeEntry = 512 << 10;
  constexpr std::uint64_t kMemtable = 200 * kLargeEntry;
  SimulatedLoad load = random_load(0.95);
  load.entry_bytes = kLargeEntry;
  load.flushes = 400;
  PolicyOptions options{.fanout = 10, .memtable_bytes = kMemtable, .table_bytes = kMemtable, .overwritten = 0.9};
  const CompactionPolicy& policy = *find_compaction_policy("leveled");
  const Result<SimulatedCost> in_parts = simulate(policy, options, load);
  CompactionPolicy whole = policy;
  whole.takes_parts_of_level_zero = false;
  const Result<SimulatedCost> at_once = simulate(whole, options, load);
  ASSERT_TRUE(in_parts.ok() && at_once.ok());
  EXPECT_GT(at_once->largest_merge_bytes, 10 * kMemtable);
  EXPECT_LT(in_parts->largest_merge_bytes, 4 * kMemtable);
  EXPECT_LT(in_parts->late_write_amplification, 1.1 * at_once->late_write_amplification);
  EXPECT_LT(in_parts->space_amplification, at_once->space_amplification + 0.05);
}

TEST(Simulator, ManualNeverRewrites) {
  const SimulatedCost cost = cost_of("manual", random_load(0));
  EXPECT_EQ(cost.merges + cost.moves, 0U);
  EXPECT_EQ(cost.write_amplification, 1);
  EXPECT_GT(cost.runs_per_lookup, 150);
}

TEST(Simulator, DeletesDoNotPileUp) {
  SimulatedLoad load = random_load(0.2);
  load.deletes = 0.4;
  for (const std::string_view policy : {"leveled", "tiered", "lazy"}) {
    const double most = policy == "tiered" ? 2.5 : 1.5;  // By bytes; a tombstone counts as much as what it covers.
    EXPECT_LT(cost_of(policy, load).space_amplification, most) << policy;
  }
}

// A flush a day: most tombstones are too old before their level is full.
TEST(Simulator, DeletesThatHaveWaitedADayGoDown) {
  SimulatedLoad load = random_load(0);
  load.flushes = 100;
  load.deletes = 0.3;
  for (const std::string_view policy : {"leveled", "tiered", "lazy"}) {
    load.seconds_per_flush = 1;
    const SimulatedCost often = cost_of(policy, load);
    load.seconds_per_flush = 86'400;
    const SimulatedCost rarely = cost_of(policy, load);
    EXPECT_LT(rarely.space_amplification, often.space_amplification) << policy;
  }
}

TEST(Simulator, ReportsAPolicyThatDoesNotEnd) {
  const CompactionPolicy restless = {
      .name = "restless",
      .summary = "rewrites the newest run for ever",
      .pick_beside = [](const Shape& shape, const PolicyOptions&, Admission&) -> std::optional<CompactionPlan> {
        const auto& run = shape.levels.front().front();
        return CompactionPlan{.inputs = {{0, run.id, {run.tables.front()->number}}},
                              .output_level = 0,
                              .output_run = run.id,
                              .is_move = false,
                              .reason = "why not"};
      },
      .debt = [](const Shape&, const PolicyOptions&) { return 0.0; }};
  const Result<SimulatedCost> cost = simulate(restless, kOptions, {.flushes = 1, .keys_per_flush = 1});
  ASSERT_FALSE(cost.ok());
  EXPECT_NE(cost.status().message().find("does not come to an end"), std::string_view::npos) << cost.status().to_text();
}

TEST(Simulator, TakesEmptyLoads) {
  for (const CompactionPolicy& policy : compaction_policies()) {
    EXPECT_TRUE(simulate(policy, kOptions, {.flushes = 0}).ok());
    EXPECT_TRUE(simulate(policy, kOptions, {.flushes = 3, .keys_per_flush = 0}).ok());
    EXPECT_TRUE(simulate(policy, {}, {.flushes = 10, .keys_per_flush = 1}).ok());
  }
}

TEST(SimulatedKey, OrdersAsItsNumber) {
  EXPECT_LT(simulated_key(1), simulated_key(256));
  EXPECT_LT(simulated_key(255), simulated_key(256));
  EXPECT_LT(simulated_key(256), simulated_key(std::numeric_limits<std::uint64_t>::max()));
}

}  // namespace
}  // namespace tamis
