// Plans that would mix up ages are rejected (rule 16).
#include <gtest/gtest.h>

#include "compaction/plan_parts.h"
#include "compaction/policy.h"
#include "support/table_facts.h"

namespace tamis {
namespace {

using test::facts_of;

/// L0: 3:1[a..e]  2:2[d..k]  1:3[a..c]     (run:table[bounds])
/// L1: 1:4[a..b] 5[c..f] 6[g..z]
/// L2: 1:7[a..m] 8[p..z]
Shape shape() {
  return {.levels = {{{.id = 3, .tables = {facts_of(1, "a", "e")}},
                      {.id = 2, .tables = {facts_of(2, "d", "k")}},
                      {.id = 1, .tables = {facts_of(3, "a", "c")}}},
                     {{.id = 1, .tables = {facts_of(4, "a", "b"), facts_of(5, "c", "f"), facts_of(6, "g", "z")}}},
                     {{.id = 1, .tables = {facts_of(7, "a", "m"), facts_of(8, "p", "z")}}}}};
}

CompactionPlan plan(std::vector<CompactionInput> inputs, std::uint32_t level, std::uint64_t run) {
  return {.inputs = std::move(inputs), .output_level = level, .output_run = run, .is_move = false, .reason = "test"};
}
CompactionPlan move(CompactionInput input, std::uint32_t level, std::uint64_t run) {
  return {.inputs = {std::move(input)}, .output_level = level, .output_run = run, .is_move = true, .reason = "test"};
}

void expect_refused(const CompactionPlan& plan, std::string_view why) {
  ASSERT_TRUE(shape().check().ok());
  const Status status = check_plan(shape(), plan);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find(why), std::string_view::npos) << status.to_text();
}
void expect_good(const CompactionPlan& plan) {
  const Status status = check_plan(shape(), plan);
  EXPECT_TRUE(status.ok()) << status.to_text();
}

TEST(CheckPlan, AcceptsNeighboursInAge) {
  expect_good(plan({{0, 3, {1}}, {0, 2, {2}}, {0, 1, {3}}, {1, 1, {4, 5, 6}}}, 1, 1));
  expect_good(plan({{0, 2, {2}}, {0, 1, {3}}}, 0, 2));
  expect_good(plan({{0, 2, {2}}, {0, 1, {3}}}, 0, 1));
  expect_good(plan({{0, 1, {3}}, {1, 1, {4, 5}}}, 1, 1));
  expect_good(plan({{0, 1, {3}}}, 1, 2));  // A separate run, newer than the existing one.
  expect_good(plan({{1, 1, {5}}, {2, 1, {7}}}, 2, 1));
  expect_good(plan({{2, 1, {7, 8}}}, 5, 1));
}

TEST(CheckPlan, AcceptsARunInBetweenThatOverlapsNothing) {
  expect_good(plan({{0, 2, {2}}, {1, 1, {5, 6}}}, 1, 1));  // Run 1 of level 0 ends before d.
  expect_good(plan({{0, 3, {1}}, {0, 1, {3}}}, 0, 3));     // Table 3 passes table 2, upwards.
}

TEST(Rule16, PassingAnOlderRunThatOverlapsIsRefused) {
  expect_refused(plan({{0, 3, {1}}, {1, 1, {4, 5}}}, 1, 1), "pass table 2");
  expect_refused(plan({{0, 3, {1}}, {0, 1, {3}}}, 0, 1), "pass table 2");
}

TEST(Rule16, PassingALevelIsRefused) {
  expect_refused(plan({{0, 1, {3}}, {2, 1, {7}}}, 2, 1), "table 3 would pass table 4");
  expect_refused(move({1, 1, {6}}, 3, 1), "table 6 would pass table 7");
  expect_refused(move({0, 1, {3}}, 1, 1), "table 3 would pass table 4");
}

TEST(Rule16, BecomingNewerThanWhatOverlapsIsRefused) {
  expect_refused(plan({{2, 1, {7}}}, 0, 5), "pass");
  expect_refused(plan({{0, 1, {3}}, {1, 1, {4}}}, 0, 4), "pass");
}

TEST(CheckPlan, RefusesWhatStaysBetweenInputsInTheOutputRun) {
  expect_refused(plan({{1, 1, {4, 6}}}, 1, 1), "table 5 stays");
}

TEST(CheckPlan, AcceptsMovesThatOverlapNothing) {
  Shape gap = shape();
  gap.levels[2][0].tables = {facts_of(7, "a", "b"), facts_of(8, "g", "z")};
  EXPECT_TRUE(check_plan(gap, move({1, 1, {5}}, 2, 1)).ok());
  EXPECT_TRUE(check_plan(gap, move({1, 1, {5}}, 3, 1)).ok());
  EXPECT_FALSE(check_plan(gap, move({1, 1, {4, 5}}, 2, 1)).ok());
}

TEST(CheckPlan, RefusesMovesThatAreNone) {
  expect_refused(move({2, 1, {8}}, 2, 1), "goes down");
  expect_refused(move({2, 1, {8}}, 2, 2), "goes down");
  expect_refused(move({2, 1, {8}}, 1, 1), "goes down");
  CompactionPlan two = move({1, 1, {6}}, 2, 1);
  two.inputs.push_back({2, 1, {7, 8}});
  expect_refused(two, "one input");
}

TEST(CheckPlan, RefusesInputsThatAreNotThere) {
  expect_refused(plan({}, 1, 1), "no inputs");
  expect_refused(plan({{0, 3, {}}}, 0, 3), "no table");
  expect_refused(plan({{0, 4, {1}}}, 0, 3), "no run 4");
  expect_refused(plan({{9, 1, {1}}}, 0, 3), "no run 1 in level 9");
  expect_refused(plan({{1, 1, {4, 9}}}, 1, 1), "not all tables");
  expect_refused(plan({{1, 1, {4, 4}}}, 1, 1), "named twice");
  expect_refused(plan({{0, 2, {2}}, {0, 3, {1}}}, 0, 2), "newest first");
  expect_refused(plan({{0, 3, {1}}, {0, 3, {1}}}, 0, 3), "newest first");
  expect_refused(plan({{2, 1, {7, 8}}}, Shape::kMaxLevels, 1), "no level 8");
}

TEST(Rule17, OlderRunsAreThoseBehindTheLastInput) {
  const Shape all = shape();
  const auto older = [&](std::vector<CompactionInput> inputs) {
    std::string text;
    for (const auto* run : runs_older_than_inputs(all, plan(std::move(inputs), 2, 1))) {
      text += std::to_string(run->tables.front()->number);
    }
    return text;
  };
  EXPECT_EQ(older({{0, 3, {1}}}), "2347");
  EXPECT_EQ(older({{0, 3, {1}}, {0, 2, {2}}}), "347");
  EXPECT_EQ(older({{0, 1, {3}}}), "47");
  EXPECT_EQ(older({{0, 1, {3}}, {1, 1, {4}}}), "7");
  EXPECT_EQ(older({{1, 1, {4}}, {2, 1, {7}}}), "");
}

}  // namespace
}  // namespace tamis
