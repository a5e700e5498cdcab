#include "compaction/level_zero.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/random.h"
#include "compaction/simulated_store.h"
#include "support/table_facts.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kMemtable = 64 * kMiB;

/// Tables of equal size, in key order, from the first key to the last.
Run run_of(std::uint64_t id, std::uint64_t from, std::uint64_t to, std::uint64_t tables, std::uint64_t bytes) {
  Run run{.id = id, .tables = {}};
  for (std::uint64_t i = 0; i < tables; ++i) {
    const auto key = [&](std::uint64_t part) { return from + (to - from) * part / tables; };
    auto facts = facts_of(1000 * id + i, simulated_key(key(i)), simulated_key(key(i + 1) - 1));
    facts->file_bytes = bytes / tables;
    run.tables.push_back(std::move(facts));
  }
  return run;
}

Shape shape_of(std::vector<Run> level_zero, std::vector<Run> level_one) {
  return {.levels = {std::move(level_zero), std::move(level_one)}};
}

std::size_t parts_of(const LevelZeroCuts& cuts) { return cuts.keys.size() + 1; }

TEST(GroupsOfLevelZero, AreThePartsThatDoNotOverlap) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    SplitMix64 random(seed);
    SimulatedStore store(10, 10 * (1 + random.below(5)));
    for (std::uint64_t flushes = 1 + random.below(8); flushes > 0; --flushes) {
      std::vector<SimulatedWrite> writes(1 + random.below(12));
      for (SimulatedWrite& write : writes) write.key = random.below(100);
      ASSERT_TRUE(store.flush(writes, 1).ok());
    }
    const Shape& shape = store.shape();
    const std::vector<OverlapGroup> groups = groups_of_level_zero(shape, {});
    std::set<std::uint64_t> seen;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      if (i > 0) {
        EXPECT_TRUE(groups[i - 1].span.end.is_before(groups[i].span.smallest));
      }
      EXPECT_TRUE(std::ranges::is_sorted(groups[i].inputs, std::greater(), &CompactionInput::run)) << "newest first";
      EXPECT_TRUE(groups[i].is_free);
      for (const CompactionInput& input : groups[i].inputs) {
        for (const std::uint64_t table : input.tables) {
          EXPECT_TRUE(seen.insert(table).second);
          EXPECT_EQ(shape.find_table(table)->run->id, input.run);
          EXPECT_TRUE(groups[i].span.overlaps(**shape.find_table(table)->facts));
        }
      }
      const CompactionPlan plan = merge_into_next(shape, 0, groups[i].inputs, groups[i].span, "test");
      EXPECT_TRUE(check_plan(shape, plan).ok()) << shape.to_text();
    }
    EXPECT_EQ(seen.size(), shape.tables());
  }
}

TEST(GroupsOfLevelZero, AreNotFreeWhileOneOfTheirTablesIsRewritten) {
  const Shape shape = shape_of({run_of(2, 0, 100, 2, 200), run_of(1, 0, 50, 1, 100)}, {});
  Claims claims;
  claims.begin(
      shape,
      {.inputs = {{.level = 0, .run = 1, .tables = {1000}}}, .output_level = 1, .output_run = 1, .reason = "test"});
  const std::vector<OverlapGroup> groups = groups_of_level_zero(shape, Admission(claims));
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_FALSE(groups[0].is_free);
  EXPECT_TRUE(groups[1].is_free);
}

TEST(CutsForLevelZero, DivideLevelOneIntoPartsOfAboutEqualSize) {
  for (const std::uint64_t tables : {8, 16, 20, 50, 300}) {
    const Shape shape =
        shape_of({run_of(9, 0, 1'000'000, 1, kMemtable)}, {run_of(1, 0, 1'000'000, tables, 640 * kMiB)});
    const LevelZeroCuts cuts = cuts_for_level_zero(shape, kMemtable, {});
    EXPECT_TRUE(std::ranges::is_sorted(cuts.keys));
    EXPECT_GE(parts_of(cuts), 4U) << tables;
    EXPECT_LE(parts_of(cuts), 17U) << tables;
    for (const std::string& key : cuts.keys) {
      EXPECT_TRUE(
          std::ranges::any_of(shape.levels[1][0].tables, [&](const auto& table) { return table->begin() == key; }));
    }
  }
}

TEST(CutsForLevelZero, StayWhenLevelOneGrowsOrItsTablesAreDivided) {
  LevelZeroCuts cuts;
  for (std::uint64_t size = 1; size < 12; ++size) {
    const Shape shape = shape_of({run_of(9, 0, 1'000'000, 1, kMemtable)},
                                 {run_of(1, 0, 1'000'000, 16 << (size / 4), size * kMemtable)});
    const LevelZeroCuts next = cuts_for_level_zero(shape, kMemtable, cuts);
    EXPECT_TRUE(std::ranges::includes(next.keys, cuts.keys)) << size;
    EXPECT_LE(parts_of(next), 32U);
    cuts = next;
  }
}

TEST(CutsForLevelZero, GoWhereLittleIsLeft) {
  const auto flushed = run_of(9, 0, 1'000'000, 1, kMemtable);
  const LevelZeroCuts before =
      cuts_for_level_zero(shape_of({flushed}, {run_of(1, 0, 1'000'000, 64, 640 * kMiB)}), kMemtable, {});
  auto half = run_of(1, 500'000, 1'000'000, 64, 640 * kMiB);
  const LevelZeroCuts after = cuts_for_level_zero(shape_of({flushed}, {half}), kMemtable, before);
  EXPECT_GE(after.keys.front(), simulated_key(500'000));
}

TEST(CutsForLevelZero, AreNotMadeForALoadInKeyOrder) {
  const Shape shape = shape_of({run_of(9, 900'000, 1'000'000, 1, kMemtable)}, {run_of(1, 0, 900'000, 100, 640 * kMiB)});
  const LevelZeroCuts cuts = cuts_for_level_zero(shape, kMemtable, {});
  EXPECT_TRUE(cuts.keys.empty());
  EXPECT_EQ(cuts.bytes_in_level_zero, LevelZeroCuts().bytes_in_level_zero);
  EXPECT_EQ(cuts.bytes_in_level_one, LevelZeroCuts().bytes_in_level_one);
}

TEST(CutsForLevelZero, AreMadeBySizeUntilThereIsSomethingToFollow) {
  const auto second = run_of(2, 0, 1'000'000, 1, kMemtable);
  const auto first = run_of(1, 0, 1'000'000, 1, kMemtable);
  const LevelZeroCuts cuts = cuts_for_level_zero(shape_of({second, first}, {}), kMemtable, {});
  EXPECT_TRUE(cuts.keys.empty());
  EXPECT_EQ(cuts.bytes_in_level_zero, kMemtable / 16);
  const auto third = run_of(3, 0, 1'000'000, 16, kMemtable);
  const LevelZeroCuts next = cuts_for_level_zero(shape_of({third, second, first}, {}), kMemtable, cuts);
  EXPECT_GE(parts_of(next), 8U);
  EXPECT_EQ(next.bytes_in_level_zero, LevelZeroCuts().bytes_in_level_zero);
}

TEST(CutsForLevelZero, AreNotMadeForMemtablesThatAreSmall) {
  const Shape shape = shape_of({run_of(9, 0, 1'000'000, 1, 4 * kMiB)}, {run_of(1, 0, 1'000'000, 64, 640 * kMiB)});
  EXPECT_TRUE(cuts_for_level_zero(shape, 4 * kMiB, {}).keys.empty());
}

}  // namespace
}  // namespace tamis::test
