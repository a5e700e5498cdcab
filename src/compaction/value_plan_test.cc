#include "compaction/value_plan.h"

#include <gtest/gtest.h>

#include "support/table_facts.h"

namespace tamis {
namespace {

/// A table of one key that points to so many bytes of these value files.
std::shared_ptr<const TableFacts> table(std::uint64_t number, std::string key, std::vector<ValuesOfTable> values,
                                        std::uint64_t bytes = 100) {
  auto facts = test::facts_of(number, key, key);
  facts->file_bytes = bytes;
  facts->values_apart = std::move(values);
  return facts;
}

ValueFileFacts file(std::uint64_t number, std::uint64_t bytes) { return {number, 64 + bytes, 0}; }

Shape shape_of(std::vector<ShapeEdit::Added> tables, std::vector<ValueFileFacts> files) {
  const Result<Shape> shape = Shape().with({.added = std::move(tables), .values_added = std::move(files)});
  EXPECT_TRUE(shape.ok()) << shape.status().to_text();
  return *shape;
}

TEST(ValuePlan, Rule41_NothingToDoBelowBothBounds) {
  EXPECT_FALSE(pick_values({}, {}));
  EXPECT_FALSE(pick_values(shape_of({{1, 1, table(1, "a", {{10, 9000, 9}})}}, {file(10, 10'000)}), {}));
  EXPECT_FALSE(pick_values(shape_of({{0, 5, table(2, "a", {{11, 900, 9}})}, {1, 1, table(1, "a", {{10, 9000, 9}})}},
                                    {file(10, 9000), file(11, 900)}),
                           {}))
      << "a tenth may be hidden";
}

TEST(ValuePlan, Rule41_TheOldestFilesWithGarbageAreRewrittenInTheirPlaces) {
  const Shape shape = shape_of({{1, 1, table(1, "a", {{12, 5000, 5}})},
                                {1, 1, table(2, "b", {{10, 5000, 5}, {12, 1000, 1}})},
                                {1, 1, table(3, "c", {{12, 3900, 4}})},
                                {1, 1, table(4, "d", {{11, 9900, 9}})}},
                               {file(10, 10'000), file(11, 10'000), file(12, 10'000)});
  const std::optional<CompactionPlan> plan = pick_values(shape, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->collected, (std::vector<std::uint64_t>{10}));
  ASSERT_EQ(plan->inputs.size(), 1U);
  EXPECT_EQ(plan->inputs[0].tables, (std::vector<std::uint64_t>{2}));
  EXPECT_EQ(plan->output_level, 1U);
  EXPECT_EQ(plan->output_run, 1U);
  EXPECT_FALSE(plan->is_move);
  EXPECT_TRUE(check_plan(shape, *plan).ok());
  const std::vector<std::uint64_t> damaged = {10};
  EXPECT_FALSE(pick_values(shape, damaged)) << "a file that cannot be copied is left alone";
}

/// Tables between two inputs are inputs, because an output may span them.
TEST(ValuePlan, Rule41_InputsAreAdjacent) {
  const Shape shape = shape_of({{1, 1, table(1, "a", {{10, 10, 1}})},
                                {1, 1, table(2, "b", {})},
                                {1, 1, table(3, "c", {{10, 10, 1}})},
                                {1, 1, table(4, "d", {})}},
                               {file(10, 1000)});
  const std::optional<CompactionPlan> plan = pick_values(shape, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->inputs[0].tables, (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_TRUE(check_plan(shape, *plan).ok());
}

TEST(ValuePlan, Rule41_RunsOfPointersAreMergedWhenTheyMayHideGarbage) {
  const std::vector<ValueFileFacts> files = {file(10, 9000), file(11, 1000)};
  const Shape shape = shape_of({{0, 5, table(2, "a", {{11, 1000, 9}})}, {1, 1, table(1, "a", {{10, 9000, 9}})}}, files);
  const std::optional<CompactionPlan> plan = pick_values(shape, {});
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->collected.empty());
  EXPECT_EQ(plan->inputs.size(), 2U);
  EXPECT_EQ(plan->output_level, 1U);
  EXPECT_TRUE(check_plan(shape, *plan).ok());
  const Shape large =
      shape_of({{0, 5, table(2, "a", {{11, 1000, 9}}, 700)}, {1, 1, table(1, "a", {{10, 9000, 9}}, 700)}}, files);
  EXPECT_FALSE(pick_values(large, {})) << "it would cost more than it can save";
}

TEST(ValuePlan, Rule41_AFileGoesWithItsLastPointer) {
  const Shape shape =
      shape_of({{0, 5, table(2, "a", {{11, 1000, 9}})}, {1, 1, table(1, "a", {{10, 9, 1}, {11, 9, 1}})}},
               {file(10, 9000), file(11, 2000)});
  EXPECT_TRUE(unused_values(shape, {.removed = {2}}).empty());
  EXPECT_EQ(unused_values(shape, {.removed = {1}}), (std::vector<std::uint64_t>{10}));
  EXPECT_EQ(unused_values(shape, {.removed = {1, 2}}), (std::vector<std::uint64_t>{10, 11}));
  const ShapeEdit moved{.removed = {1}, .added = {{2, 1, table(1, "a", {{10, 9, 1}, {11, 9, 1}})}}};
  EXPECT_TRUE(unused_values(shape, moved).empty()) << "a table that is moved keeps its values";
}

}  // namespace
}  // namespace tamis
