#include "compaction/parts.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "compaction/plan_parts.h"
#include "support/table_facts.h"

namespace tamis::test {
namespace {

/// A run of ten tables of 100 bytes in level 1 and a run of one table of 300 above it; the plan merges both.
struct TwoRuns {
  TwoRuns() {
    ShapeEdit edit;
    const auto add = [&](std::uint32_t level, std::uint64_t number, std::string from, std::string to,
                         std::uint64_t bytes) {
      auto facts = std::make_shared<TableFacts>(*facts_of(number, from, to));
      facts->file_bytes = bytes;
      edit.added.push_back({.level = level, .run = 1, .facts = std::move(facts)});
    };
    add(0, 100, "a", "z", 300);
    for (std::uint64_t i = 0; i < 10; ++i) add(1, i + 1, fmt::format("k{}", i), fmt::format("k{}x", i), 100);
    shape = *Shape().with(edit);
    plan = merge_into_next(shape, 0, runs_of(shape, 0), "test");
  }

  Shape shape;
  CompactionPlan plan;
};

TEST(Parts, AreAllKeysInOrderAndMeetWhereTablesBegin) {
  const TwoRuns runs;
  const std::vector<KeyRange> parts = parts_of(runs.shape, runs.plan, 4, 100);
  ASSERT_EQ(parts.size(), 4U);
  EXPECT_EQ(parts.front().from, "");
  EXPECT_EQ(parts.back().to, std::nullopt);
  for (std::size_t i = 1; i < parts.size(); ++i) EXPECT_EQ(parts[i - 1].to, parts[i].from);
  EXPECT_EQ(parts[1].from, "k3");
  EXPECT_EQ(parts[2].from, "k5");
  EXPECT_EQ(parts[3].from, "k8");
}

TEST(Parts, AreNotMoreThanTheBytesAreWorth) {
  const TwoRuns runs;
  EXPECT_EQ(parts_of(runs.shape, runs.plan, 4, 400).size(), 3U);
  EXPECT_EQ(parts_of(runs.shape, runs.plan, 4, 1300).size(), 1U);
  EXPECT_EQ(parts_of(runs.shape, runs.plan, 4, 10'000).size(), 1U);
  EXPECT_EQ(parts_of(runs.shape, runs.plan, 1, 100).size(), 1U);
  EXPECT_EQ(parts_of(runs.shape, runs.plan, 100, 1).size(), 10U);
}

TEST(Parts, OneTableIsNotDivided) {
  TwoRuns runs;
  runs.plan.inputs.pop_back();
  EXPECT_EQ(parts_of(runs.shape, runs.plan, 4, 1), std::vector<KeyRange>(1));
}

}  // namespace
}  // namespace tamis::test
