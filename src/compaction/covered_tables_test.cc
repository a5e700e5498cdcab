#include "compaction/covered_tables.h"

#include <gtest/gtest.h>

#include "compaction/plan_parts.h"
#include "support/table_facts.h"

namespace tamis {
namespace {

std::shared_ptr<TableFacts> table(std::uint64_t number, std::string from, std::string to, std::uint64_t smallest,
                                  std::uint64_t largest) {
  auto facts = test::facts_of(number, std::move(from), std::move(to));
  facts->entries = facts->keys = 2;
  facts->file_bytes = 100;
  facts->smallest_sequence = Sequence{smallest};
  facts->largest_sequence = Sequence{largest};
  return facts;
}

/// Tables 1 [b..d], 2 [f..h] and 3 [k..m], with the sequences 10 to 20.
Shape shape() {
  return {
      .levels = {
          {},
          {{.id = 1, .tables = {table(1, "b", "d", 10, 20), table(2, "f", "h", 10, 20), table(3, "k", "m", 10, 20)}}}}};
}

std::vector<std::uint64_t> covered(std::vector<RangeTombstone> range_deletes, std::vector<std::uint64_t> snapshots) {
  std::vector<Sequence> sequences;
  for (const std::uint64_t snapshot : snapshots) sequences.push_back(Sequence{snapshot});
  return tables_covered_whole(shape(), RangeTombstones(std::move(range_deletes)), sequences);
}

using Numbers = std::vector<std::uint64_t>;

TEST(Rule27, OnlyTablesThatLieWholeInsideGo) {
  EXPECT_EQ(covered({{{"a", "i"}, Sequence{30}}}, {100}), (Numbers{1, 2}));
  EXPECT_EQ(covered({{{"b", "d"}, Sequence{30}}}, {100}), Numbers());  // The end is exclusive.
  EXPECT_EQ(covered({{{"bb", "z"}, Sequence{30}}}, {100}), (Numbers{2, 3}));
  EXPECT_EQ(covered({{{"", std::nullopt}, Sequence{30}}}, {100}), (Numbers{1, 2, 3}));
}

TEST(Rule27, TheSpaceThatARangeDeleteWillFreeIsThatOfTablesInsideIt) {
  Shape tables = shape();
  const auto freed = [&](std::vector<RangeTombstone> before, KeyRange range) {
    return newly_covered_bytes(tables, RangeTombstones(std::move(before)), range);
  };
  EXPECT_EQ(freed({}, {"a", "i"}), 200U);
  EXPECT_EQ(freed({}, {"b", "d"}), 0U);
  EXPECT_EQ(freed({}, {"c", std::nullopt}), 200U);
  EXPECT_EQ(freed({}, {}), 300U);
  EXPECT_EQ(freed({{{"e", "j"}, Sequence{30}}}, {}), 200U) << "one was covered before";
}

TEST(Rule27, PiecesThatMeetCoverTogether) {
  EXPECT_EQ(covered({{{"a", "g"}, Sequence{30}}, {{"g", "i"}, Sequence{31}}}, {100}), (Numbers{1, 2}));
  EXPECT_EQ(covered({{{"a", "g"}, Sequence{30}}, {{"ga", "i"}, Sequence{31}}}, {100}), (Numbers{1}));
}

TEST(Rule27, TheRangeDeleteIsNewerThanEverythingInTheTable) {
  EXPECT_EQ(covered({{{"a", "z"}, Sequence{20}}}, {100}), Numbers());
  EXPECT_EQ(covered({{{"a", "z"}, Sequence{21}}}, {100}), (Numbers{1, 2, 3}));
}

TEST(Rule27, NoSnapshotLiesBetween) {
  EXPECT_EQ(covered({{{"a", "z"}, Sequence{30}}}, {9, 100}), (Numbers{1, 2, 3}));
  EXPECT_EQ(covered({{{"a", "z"}, Sequence{30}}}, {10, 100}), Numbers());
  EXPECT_EQ(covered({{{"a", "z"}, Sequence{30}}}, {29, 100}), Numbers());
  EXPECT_EQ(covered({{{"a", "z"}, Sequence{30}}}, {30, 100}), (Numbers{1, 2, 3}));
  // An older one suffices, although a newer one is not seen by the snapshot.
  EXPECT_EQ(covered({{{"a", "z"}, Sequence{25}}, {{"a", "z"}, Sequence{40}}}, {30, 100}), (Numbers{1, 2, 3}));
}

/// Table 5 has points at b only, and a range delete up to y.
Shape with_range_delete() {
  auto ranges = table(5, "b", "b", 50, 50);
  ranges->range_deletes = 1;
  ranges->range_extent = {"a", "y"};
  return {.levels = {{{.id = 9, .tables = {table(6, "k", "k", 100, 100)}}, {.id = 8, .tables = {ranges}}},
                     {{.id = 1, .tables = {table(4, "m", "p", 1, 2), table(7, "y", "z", 1, 2)}}}}};
}

CompactionPlan plan(std::vector<CompactionInput> inputs, std::uint32_t level, std::uint64_t run) {
  return {.inputs = std::move(inputs), .output_level = level, .output_run = run, .is_move = false, .reason = "test"};
}

TEST(Rule25, APlanThatWouldPassARangeDeleteIsRefused) {
  ASSERT_TRUE(with_range_delete().check().ok());
  EXPECT_FALSE(check_plan(with_range_delete(), plan({{0, 9, {6}}}, 1, 1)).ok());
  EXPECT_TRUE(check_plan(with_range_delete(), plan({{0, 9, {6}}, {0, 8, {5}}, {1, 1, {4}}}, 1, 1)).ok());
  EXPECT_FALSE(check_plan(with_range_delete(), plan({{0, 8, {5}}}, 1, 1)).ok());  // It overlaps table 4.
}

TEST(Rule25, TablesOfARunDoNotOverlapWithTheirRangeDeletes) {
  Shape shape = with_range_delete();
  EXPECT_EQ(shape.to_text(), "L0: 6[k..k] 5[a..y)\nL1: 4[m..p],7[y..z]");
  const auto with = [&](std::string to) {
    auto ranges = table(8, "q", "r", 3, 3);
    ranges->range_deletes = 1;
    ranges->range_extent = {"q", std::move(to)};
    ShapeEdit edit;
    edit.added.push_back({1, 1, ranges});
    return shape.with(edit).status();
  };
  EXPECT_TRUE(with("y").ok());  // The end is exclusive.
  EXPECT_FALSE(with("ya").ok());
}

}  // namespace
}  // namespace tamis
