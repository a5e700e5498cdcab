#include "tree/shape.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "support/table_facts.h"

namespace tamis {
namespace {

std::shared_ptr<const TableFacts> facts(std::uint64_t number, std::string smallest, std::string largest) {
  auto facts = test::facts_of(number, std::move(smallest), std::move(largest));
  facts->file_bytes = 1000 + number;
  facts->entries = 10 * number;
  facts->deletes = number;
  facts->keys = 9 * number;
  return facts;
}

ShapeEdit adds(std::uint32_t level, std::uint64_t run, std::shared_ptr<const TableFacts> table) {
  return {{}, {{level, run, std::move(table)}}};
}

Shape example() {
  const Result<Shape> shape = Shape().with({{},
                                            {{1, 1, facts(4, "d", "z")},
                                             {0, 5, facts(5, "b", "z")},
                                             {0, 7, facts(7, "a", "k")},
                                             {1, 1, facts(3, "a", "c")}}});
  EXPECT_TRUE(shape.ok()) << shape.status().to_text();
  return *shape;
}

std::string refusal(const ShapeEdit& edit) {
  const Result<Shape> next = example().with(edit);
  EXPECT_EQ(next.status().code(), StatusCode::kCorruption);
  return std::string(next.status().message());
}

TEST(Shape, AddedTablesStandNewestRunFirstAndInKeyOrder) {
  EXPECT_EQ(example().to_text(), "L0: 7[a..k] 5[b..z]\nL1: 3[a..c],4[d..z]");
  EXPECT_TRUE(example().check().ok());
}

TEST(Shape, AnEmptyShapeHoldsNothing) {
  const Shape empty;
  EXPECT_TRUE(empty.check().ok());
  EXPECT_EQ(empty.to_text(), "");
  EXPECT_EQ(empty.bytes() + empty.tables() + empty.runs() + empty.last_level(), 0U);
  EXPECT_EQ(empty.find_run(0, 0), nullptr);
  EXPECT_TRUE(empty.with({}).ok());
}

TEST(Shape, SumsCountEveryTable) {
  const Shape shape = example();
  EXPECT_EQ(shape.bytes(), 4000U + 3 + 4 + 5 + 7);
  EXPECT_EQ(shape.tables(), 4U);
  EXPECT_EQ(shape.runs(), 3U);
  EXPECT_EQ(shape.last_level(), 1U);
  const tamis::Run* run = shape.find_run(1, 1);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(run->bytes(), 2007U);
  EXPECT_EQ(run->transients(), 7U);
  EXPECT_EQ(run->keys(), 63U);
  EXPECT_EQ(shape.find_run(1, 2), nullptr);
  EXPECT_EQ(shape.find_run(9, 1), nullptr);
  for (std::uint32_t level = 0; level < shape.levels.size(); ++level) {
    for (const tamis::Run& at : shape.levels[level]) {
      for (const auto& facts : at.tables) {
        const std::optional<tamis::TablePlace> place = shape.find_table(facts->number);
        ASSERT_TRUE(place.has_value());
        EXPECT_EQ(place->level, level);
        EXPECT_EQ(place->run, &at);
        EXPECT_EQ(*place->facts, facts);
      }
    }
  }
  EXPECT_FALSE(shape.find_table(999'999).has_value());
}

TEST(Shape, AMergeReplacesItsInputs) {
  const Result<Shape> next = example().with({{7, 5, 3}, {{1, 1, facts(8, "a", "b")}, {1, 1, facts(9, "c", "cc")}}});
  ASSERT_TRUE(next.ok()) << next.status().to_text();
  EXPECT_EQ(next->to_text(), "L1: 8[a..b],9[c..cc],4[d..z]");
}

TEST(Shape, AMoveRemovesAndAddsTheSameTable) {
  const Result<Shape> next = example().with({{4}, {{3, 2, facts(4, "d", "z")}}});
  ASSERT_TRUE(next.ok()) << next.status().to_text();
  EXPECT_EQ(next->to_text(), "L0: 7[a..k] 5[b..z]\nL1: 3[a..c]\nL3: 4[d..z]");
  EXPECT_EQ(next->last_level(), 3U);
  EXPECT_EQ(next->with({{4}, {}})->last_level(), 1U) << "empty levels at the end are cut";
}

TEST(Shape, RemovingEverythingLeavesTheEmptyShape) {
  const Result<Shape> next = example().with({{3, 4, 5, 7}, {}});
  ASSERT_TRUE(next.ok());
  EXPECT_TRUE(next->levels.empty());
}

TEST(Shape, EditsThatDoNotFitAreRefused) {
  EXPECT_EQ(refusal({{6}, {}}), "an edit removes table 6, which is not in the shape");
  EXPECT_EQ(refusal({{5, 5}, {}}), "an edit removes a table twice");
  EXPECT_EQ(refusal(adds(8, 1, facts(9, "a", "b"))), "an edit adds table 9 to level 8; there are 8 levels");
  EXPECT_EQ(refusal(adds(0, 1, nullptr)), "an edit adds a table without its facts");
  EXPECT_EQ(refusal(adds(2, 1, facts(5, "a", "b"))), "table 5 occurs twice");
  EXPECT_EQ(refusal(adds(1, 1, facts(9, "c", "cc"))), "tables 3[a..c] and 9[c..cc] of run 1 overlap");
  EXPECT_EQ(refusal(adds(1, 1, facts(9, "ca", "d"))), "tables 9[ca..d] and 4[d..z] of run 1 overlap");
  EXPECT_EQ(refusal(adds(1, 1, facts(9, "e", "f"))), "tables 4[d..z] and 9[e..f] of run 1 overlap");
  EXPECT_EQ(refusal(adds(1, 2, facts(9, "b", "a"))), "the bounds of table 9[b..a] are the wrong way round");
}

TEST(Shape, ATableOfOneKeyAndTheEmptyKeyAreFine) {
  const Result<Shape> next =
      Shape().with({{}, {{0, 1, facts(1, "", "")}, {0, 1, facts(2, std::string(1, '\0'), "a")}}});
  ASSERT_TRUE(next.ok()) << next.status().to_text();
  EXPECT_EQ(next->to_text(), "L0: 1[..],2[\\x00..a]");
}

TEST(Shape, CheckFindsWhatNoEditCouldMake) {
  Shape shape = example();
  std::swap(shape.levels[0][0], shape.levels[0][1]);
  EXPECT_EQ(shape.check().message(), "run 5 stands before run 7");
  shape = example();
  shape.levels[0][0].id = shape.levels[0][1].id;
  EXPECT_FALSE(shape.check().ok());
  shape = example();
  shape.levels[0][0].tables.clear();
  EXPECT_EQ(shape.check().message(), "run 7 has no table");
  shape = example();
  shape.levels.emplace_back();
  EXPECT_EQ(shape.check().message(), "the last level is empty");
  shape.levels.resize(9);
  EXPECT_EQ(shape.check().message(), "9 levels, at most 8 allowed");
}

/// Compared with a map of every table's position.
TEST(Shape, RandomEditsKeepEveryTableInItsPlace) {
  SplitMix64 random(20240601);
  std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> oracle;
  Shape shape;
  for (std::uint64_t number = 1; number <= 2000; ++number) {
    ShapeEdit edit;
    for (const auto& [old, where] : oracle) {
      if (random.below(40) == 0) edit.removed.push_back(old);
    }
    const auto level = static_cast<std::uint32_t>(random.below(Shape::kMaxLevels));
    const std::uint64_t run = random.below(5);
    edit.added.push_back({level, run, facts(number, fmt::format("{:05}a", number), fmt::format("{:05}b", number))});
    for (const std::uint64_t old : edit.removed) oracle.erase(old);
    oracle[number] = {level, run};
    Result<Shape> next = shape.with(edit);
    ASSERT_TRUE(next.ok()) << "edit " << number << ": " << next.status().to_text();
    shape = *std::move(next);
    ASSERT_EQ(shape.tables(), oracle.size()) << "edit " << number;
  }
  for (const auto& [number, where] : oracle) {
    const tamis::Run* run = shape.find_run(where.first, where.second);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(std::ranges::count(run->tables, number, [](const auto& table) { return table->number; }), 1);
  }
}

/// A table that points to so many bytes of these value files.
std::shared_ptr<const TableFacts> pointing(std::uint64_t number, std::string key, std::vector<ValuesOfTable> values) {
  auto made = test::facts_of(number, key, key);
  made->values_apart = std::move(values);
  return made;
}

Shape with_values() {
  ShapeEdit edit = {{},
                    {{0, 7, pointing(20, "a", {{30, 100, 2}, {31, 50, 1}})}, {1, 1, pointing(21, "a", {{30, 7, 1}})}}};
  edit.values_added = {{31, 64 + 50, 5}, {30, 64 + 200, 5}};
  const Result<Shape> shape = Shape().with(edit);
  EXPECT_TRUE(shape.ok()) << shape.status().to_text();
  return *shape;
}

TEST(Shape, Rule41_UseOfAValueFileIsTheSumOverTheFactsOfTables) {
  const std::vector<ValueFileUse> use = with_values().value_use();
  ASSERT_EQ(use.size(), 2U);
  EXPECT_EQ(use[0].facts.number, 30U);
  EXPECT_EQ(use[0].live_bytes, 107U);
  EXPECT_EQ(use[0].values, 3U);
  EXPECT_EQ(use[0].garbage_bytes(), 93U);
  EXPECT_EQ(use[1].live_bytes, 50U);
  EXPECT_EQ(use[1].garbage_bytes(), 0U);
  const Shape without = *with_values().with({.removed = {20}, .added = {}});
  EXPECT_EQ(without.value_use()[0].live_bytes, 7U) << "a table that is dropped unread counts";
  EXPECT_EQ(without.value_use()[1].live_bytes, 0U);
}

TEST(Shape, Rule41_ValueFilesThatTablesPointIntoAreThereAndLongEnough) {
  const auto refused = [](const ShapeEdit& edit) { return std::string(with_values().with(edit).status().message()); };
  EXPECT_EQ(refused({.values_removed = {30}}), "table 20 points into value file 30, which is not in the shape");
  EXPECT_EQ(refused({.values_removed = {9}}), "an edit removes value file 9, which is not in the shape");
  EXPECT_EQ(refused({.values_added = {{30, 100, 0}}}), "value file 30 occurs twice, or is a table's number");
  EXPECT_EQ(refused({.values_added = {{20, 100, 0}}}), "value file 20 occurs twice, or is a table's number");
  EXPECT_EQ(refused({.values_added = {{40, 63, 0}}}), "value file 40 has 63 bytes");
  EXPECT_EQ(refused(adds(2, 1, pointing(22, "b", {{31, 1, 1}}))),
            "tables point to 51 bytes of value file 31, which has 114");
  EXPECT_EQ(refused({.removed = {20}, .added = {}, .values_removed = {31}}), "");
}

}  // namespace
}  // namespace tamis
