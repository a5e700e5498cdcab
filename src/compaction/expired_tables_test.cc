#include "compaction/expired_tables.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

/// A table [from, to] whose entries are due at these times; 0: never.
std::shared_ptr<const TableFacts> table(std::uint64_t number, const char* from, const char* to,
                                        std::initializer_list<std::uint64_t> due) {
  TableFacts facts;
  facts.number = number;
  facts.smallest_key = from;
  facts.largest_key = to;
  facts.smallest_sequence = Sequence{10};
  facts.largest_sequence = Sequence{20};
  for (const std::uint64_t time : due) {
    ++facts.entries;
    if (time != 0) facts.add_expiring(time);
  }
  facts.keys = facts.entries;
  return std::make_shared<const TableFacts>(facts);
}

Shape shape_of(std::initializer_list<ShapeEdit::Added> tables) {
  ShapeEdit edit;
  edit.added = tables;
  return *Shape().with(edit);
}

std::vector<std::uint64_t> unread(const Shape& shape, std::uint64_t expired_by) {
  const std::optional<CompactionPlan> plan = pick_wholly_expired(shape, expired_by);
  EXPECT_TRUE(!plan || plan->is_drop);
  return plan ? plan->inputs.front().tables : std::vector<std::uint64_t>();
}

using Numbers = std::vector<std::uint64_t>;

TEST(ExpiredTables, Rule28_GoUnreadOnceTheLastEntryIsDue) {
  const Shape shape = shape_of({{1, 1, table(1, "a", "c", {100, 300})}, {1, 1, table(2, "d", "f", {200})}});
  EXPECT_EQ(unread(shape, 199), Numbers());
  EXPECT_EQ(unread(shape, 200), Numbers{2});
  EXPECT_EQ(unread(shape, 299), Numbers{2});
  EXPECT_EQ(unread(shape, 300), (Numbers{1, 2}));
}

TEST(ExpiredTables, Rule28_StayIfAnEntryDoesNotExpire) {
  EXPECT_EQ(unread(shape_of({{1, 1, table(1, "a", "c", {100, 0})}}), 1000), Numbers());
}

TEST(ExpiredTables, Rule28_StayWhileAnOlderRunOverlaps) {
  const auto old = table(9, "b", "b", {0});
  EXPECT_EQ(unread(shape_of({{0, 3, table(1, "a", "c", {100})}, {1, 1, old}}), 1000), Numbers());
  EXPECT_EQ(unread(shape_of({{0, 3, table(1, "c", "d", {100})}, {1, 1, old}}), 1000), Numbers{1});
  EXPECT_EQ(unread(shape_of({{2, 3, table(1, "a", "c", {100})}, {1, 1, old}}), 1000), Numbers{1}) << "newer ones may";
}

TEST(ExpiredTables, Rule28_StayWhileASnapshotNeedsThem) {
  const auto facts = table(1, "a", "c", {100});  // Sequences 10 to 20.
  const std::vector<Sequence> snapshots = {Sequence{5}, Sequence{15}, Sequence{30}};
  EXPECT_TRUE(may_go_unread(*facts, {}, snapshots, {50, 100, 200})) << "the first snapshot does not see it";
  EXPECT_FALSE(may_go_unread(*facts, {}, snapshots, {50, 99, 200}));
  EXPECT_FALSE(may_go_unread(*facts, {}, {Sequence{5}}, {200})) << "nobody knows who sees it";
}

TEST(ExpiredTables, AreRewrittenInPlaceWhenMoreThanHalfHasExpired) {
  const Shape shape = shape_of({{1, 1, table(1, "a", "c", {100, 200, 300, 0, 0})}});
  EXPECT_FALSE(pick_mostly_expired(shape, 99));
  EXPECT_FALSE(pick_mostly_expired(shape, 200));
  const std::optional<CompactionPlan> plan = pick_mostly_expired(shape, 300);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(check_plan(shape, *plan).ok());
  EXPECT_EQ(plan->inputs.front().tables, Numbers{1});
  EXPECT_EQ(plan->output_level, 1U);
  EXPECT_FALSE(plan->is_drop);
}

TEST(ExpiredTables, NoneWithoutATime) {
  const Shape shape = shape_of({{1, 1, table(1, "a", "c", {0, 0})}});
  EXPECT_EQ(unread(shape, 0), Numbers());
  EXPECT_FALSE(pick_mostly_expired(shape, 0));
}

}  // namespace
}  // namespace tamis
