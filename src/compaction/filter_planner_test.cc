#include "compaction/filter_planner.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/table_facts.h"

namespace tamis {
namespace {

constexpr std::uint64_t kPlenty = std::uint64_t{1} << 40;
const FilterPlanOptions kAuto = {.kind = "auto", .memory_bytes = {}, .most_bytes = kPlenty};

FilterPlanOptions fixed(std::string kind) {
  return {.kind = std::move(kind), .memory_bytes = {}, .most_bytes = kPlenty};
}

std::shared_ptr<const TableFacts> table(std::uint64_t number, std::uint64_t keys) {
  auto facts = test::facts_of(number, "a", "z");
  facts->entries = facts->keys = keys;
  return facts;
}

/// One run per level, from level 0.
Shape one_run_per_level(const std::vector<std::uint64_t>& keys) {
  Shape shape;
  for (const std::uint64_t count : keys) {
    shape.levels.emplace_back();
    if (count > 0) shape.levels.back().push_back({.id = 1, .tables = {table(shape.levels.size(), count)}});
  }
  return shape;
}

Shape flushed_runs(std::size_t runs, std::uint64_t keys) {
  Shape shape;
  shape.levels.emplace_back();
  for (std::size_t i = 0; i < runs; ++i) shape.levels[0].push_back({.id = runs - i, .tables = {table(i + 1, keys)}});
  return shape;
}

TEST(FilterPlan, TenBitsOverAHundredEqualRunsWasteAtMostOnePointTwoProbes) {
  const StoreFilterPlan plan = plan_filters(flushed_runs(100, 100'000), kAuto);
  EXPECT_LE(plan.wasted_probes_uniform, 1.2);
  EXPECT_LE(plan.wasted_probes, 1.2);
  EXPECT_GT(plan.wasted_probes, 0.5);  // A line filter of 10 bits cannot be much better; checks that this is its rate.
  EXPECT_NEAR(static_cast<double>(plan.memory_bytes), 10 * 100 * 100'000 / 8, 1'000'000);
  for (const PlannedRunFilter& run : plan.runs) EXPECT_EQ(run.kind, "line");
}

// By the formula, 2^H / 3 with H the entropy of the sizes: 0.475 of uniform, for every kind. The plan's own choice of
// kinds is better, because the smallest runs become ribbons.
TEST(FilterPlan, OneToTenToHundredWastesAtMostAThirdOfUniform) {
  const std::vector<PlannedRun> runs = {{.keys = 1e4}, {.keys = 1e5}, {.keys = 1e6}};
  const double formula =
      filter_plan(runs, 1.11e7, 1.5).wasted_probes / uniform_filter_plan(runs, 1.11e7, 1.5).wasted_probes;
  EXPECT_NEAR(formula, 0.475, 0.005);

  for (const std::string kind : {"auto", "line", "bloom", "ribbon"}) {
    const StoreFilterPlan plan = plan_filters(one_run_per_level({10'000, 100'000, 1'000'000}), fixed(kind));
    const double most = kind == "auto" ? 0.35 : 0.5;
    EXPECT_LE(plan.wasted_probes, most * plan.wasted_probes_uniform) << kind;
    EXPECT_LE(static_cast<double>(plan.memory_bytes), 1.01 * 1.11e7 / 8) << kind;
    EXPECT_GE(static_cast<double>(plan.memory_bytes), 0.85 * 1.11e7 / 8) << kind;
  }
}

// Two columns fit where 1.9 are planned. Whole lines make the others' filters a few bytes larger than planned. That
// must not prevent it, or the last level has no filter at all.
TEST(FilterPlan, TheLastLevelHasTwoColumnsAsSoonAsTheyFit) {
  const std::vector<std::uint64_t> keys = {1000, 10'000, 100'000, 1'000'000};
  const StoreFilterPlan plan =
      plan_filters(one_run_per_level(keys), {.kind = "auto", .memory_bytes = 1'111'000 * 5 / 16});
  EXPECT_EQ(plan.runs.back().kind, "sliced");
  EXPECT_LE(plan.wasted_probes, 0.35);
  EXPECT_LE(static_cast<double>(plan.memory_bytes), 1.001 * 1'111'000 * 2.5 / 8);
}

TEST(FilterPlan, MoreMemoryWastesNoMore) {
  const Shape shape = one_run_per_level({1000, 10'000, 100'000, 1'000'000});
  double before = 4;
  for (std::uint64_t tenths = 0; tenths <= 160; ++tenths) {
    const std::uint64_t bytes = 1'111'000 * tenths / 80;
    const double wasted = plan_filters(shape, {.kind = "auto", .memory_bytes = bytes}).wasted_probes;
    EXPECT_LE(wasted, before + 0.05) << tenths << " tenths of a bit per key: columns are whole";
    before = wasted;
  }
}

TEST(FilterPlan, OneRunAtTenBitsWastesAtMostOneInTwoHundred) {
  const StoreFilterPlan plan = plan_filters(one_run_per_level({0, 1'000'000}), kAuto);
  ASSERT_EQ(plan.runs.size(), 1U);
  EXPECT_EQ(plan.runs[0].kind, "sliced");
  EXPECT_LE(plan.wasted_probes, 0.005);
  EXPECT_LE(plan.runs[0].bits_per_key, 10.01);
}

TEST(FilterPlan, TakesLineAboveTheLastLevelAndSlicesWhereManyBitsAreDue) {
  const StoreFilterPlan plan = plan_filters(one_run_per_level({1'000'000, 1'000'000, 2'000'000}), kAuto);
  ASSERT_EQ(plan.runs.size(), 3U);
  EXPECT_EQ(plan.runs[0].kind, "line");
  EXPECT_EQ(plan.runs[1].kind, "line");
  EXPECT_EQ(plan.runs[2].kind, "sliced");
  const StoreFilterPlan steep = plan_filters(one_run_per_level({1000, 100'000, 10'000'000}), kAuto);
  EXPECT_EQ(steep.runs[0].kind, "sliced");
  EXPECT_GT(steep.runs[0].bits_per_key, 16);
  EXPECT_LT(steep.runs[0].rate, steep.runs[2].rate);
}

TEST(FilterPlan, GivesNothingToARunWhoseFilterWouldBeWorthLittle) {
  FilterPlanOptions options = kAuto;
  options.memory_bytes = 20'000;
  const StoreFilterPlan plan = plan_filters(one_run_per_level({10'000, 10'000'000}), options);
  EXPECT_EQ(plan.runs[0].kind, "line");
  EXPECT_LT(plan.runs[0].rate, 0.01);
  EXPECT_EQ(plan.runs[1].kind, "");
  EXPECT_EQ(plan.runs[1].rate, 1);
  EXPECT_LE(plan.memory_bytes, 20'400U);
}

TEST(FilterPlan, KeepsToItsMemory) {
  for (const std::uint64_t bytes : {std::uint64_t{0}, std::uint64_t{100}, std::uint64_t{10'000}, std::uint64_t{500'000},
                                    std::uint64_t{5'000'000}}) {
    for (const char* kind : {"auto", "line", "ribbon", "bloom", "split"}) {
      FilterPlanOptions options = fixed(kind);
      options.memory_bytes = bytes;
      const StoreFilterPlan plan = plan_filters(one_run_per_level({10'000, 100'000, 0, 1'000'000}), options);
      EXPECT_LE(static_cast<double>(plan.memory_bytes), 1.02 * static_cast<double>(bytes) + 200)
          << kind << " " << bytes;
      EXPECT_LE(plan.wasted_probes, 3) << kind << " " << bytes;
    }
  }
}

TEST(FilterPlan, DefaultMemoryIsTenBitsAKeyAndAtMostWhatIsAllowed) {
  const Shape shape = one_run_per_level({10'000, 100'000, 1'000'000});
  FilterPlanOptions options = kAuto;
  EXPECT_LE(plan_filters(shape, options).memory_bytes, 1'110'000U * 10 / 8 + 20'000);
  options.most_bytes = 300'000;
  const StoreFilterPlan plan = plan_filters(shape, options);
  EXPECT_LE(plan.memory_bytes, 310'000U);
  EXPECT_GT(plan.memory_bytes, 100'000U);
}

TEST(FilterPlan, NoneIsNone) {
  const StoreFilterPlan plan = plan_filters(flushed_runs(5, 1000), fixed("none"));
  EXPECT_EQ(plan.wasted_probes, 5);
  EXPECT_EQ(plan.memory_bytes, 0U);
  for (const PlannedRunFilter& run : plan.runs) EXPECT_EQ(run.kind, "");
}

TEST(FilterPlan, OfAFixedKindAllRunsHaveThat) {
  for (const FilterKindInfo& kind : filter_kinds()) {
    const StoreFilterPlan plan = plan_filters(flushed_runs(3, 20'000), fixed(std::string(kind.name)));
    for (const PlannedRunFilter& run : plan.runs) {
      EXPECT_EQ(run.kind, kind.name);
      EXPECT_GT(run.bits_per_key, 0);
      EXPECT_LT(run.rate, 0.5) << kind.name;
    }
    EXPECT_LT(plan.wasted_probes, 1.5) << kind.name;
  }
}

TEST(FilterPlan, TakesEmptyShapesAndRunsOfOneKey) {
  EXPECT_EQ(plan_filters({}, kAuto).wasted_probes, 0);
  EXPECT_TRUE(plan_filters({}, kAuto).runs.empty());
  EXPECT_LE(plan_filters(one_run_per_level({1}), kAuto).wasted_probes, 1);
  EXPECT_LE(plan_filters(one_run_per_level({0, 1}), kAuto).wasted_probes, 1);
  const StoreFilterPlan steep = plan_filters(one_run_per_level({1, 1'000'000'000}), kAuto);
  EXPECT_LE(steep.wasted_probes, 0.01);
}

TEST(FilterPlanner, DecidesByTheShapeAsItWillBe) {
  // Merges four flushed runs of 10,000 into a level 1 of 100,000.
  Shape shape = flushed_runs(4, 10'000);
  shape.levels.push_back({{.id = 1, .tables = {table(10, 100'000)}}});
  const FilterPlanner planner(shape, {1, 2, 3, 4, 10}, 1, 1, 140'000, kAuto);
  const FilterChoice choice = planner.choose(140'000, 0);
  EXPECT_EQ(choice.kind, "sliced");  // It is the only run, so it gets all ten bits.
  const StoreFilterPlan after = plan_filters(one_run_per_level({0, 140'000}), kAuto);
  EXPECT_NEAR(choice.bits_per_key, after.runs[0].bits_per_key, 0.1);

  // A fifth flush stays beside them.
  const FilterPlanner flush(shape, {}, 0, 5, 10'000, kAuto);
  const FilterChoice small = flush.choose(10'000, 0);
  EXPECT_GT(small.bits_per_key, 10);
}

TEST(FilterPlanner, CountsWhatStaysInTheRun) {
  Shape shape;
  shape.levels = {{}, {{.id = 1, .tables = {table(1, 1000)}}}, {{.id = 1, .tables = {table(2, 1'000'000)}}}};
  const FilterPlanner planner(shape, {}, 2, 1, 1000, kAuto);  // Joins the large run.
  EXPECT_LT(planner.choose(1000, 0).bits_per_key, 12);
}

TEST(FilterPlanner, GivesTablesOfAnySizeTheRateOfTheirRun) {
  const FilterPlanner planner({}, {}, 1, 1, 1'000'000, kAuto);
  for (const std::uint64_t keys : {1000ULL, 5000ULL, 100'000ULL, 1'000'000ULL}) {
    const FilterChoice choice = planner.choose(keys, 0);
    ASSERT_EQ(choice.kind, "sliced");
    const auto size = filter_size(choice.kind, keys, {SizeTarget::Measure::kBitsPerKey, choice.bits_per_key});
    ASSERT_TRUE(size.ok());
    EXPECT_EQ(size->rate, std::exp2(-9)) << keys;
  }
}

TEST(FilterPlanner, ChoosesNothingForNoKeysOrNoMemory) {
  EXPECT_EQ(FilterPlanner({}, {}, 0, 1, 0, kAuto).choose(0, 0).kind, "");
  EXPECT_EQ(FilterPlanner({}, {}, 0, 1, 1000, fixed("none")).choose(1000, 0).kind, "");
  FilterPlanOptions options = kAuto;
  options.memory_bytes = 0;
  EXPECT_EQ(FilterPlanner({}, {}, 0, 1, 1000, options).choose(1000, 0).kind, "");
}

/// A kind with a min size would take thousands of bits for one key. It may be rejected, but not as an error: that would
/// fail the flush.
TEST(FilterPlanner, ChoosesWhatCanBeBuiltAndAsksForNothingImpossibleWhenKeysAreFew) {
  for (const FilterKindInfo& kind : filter_kinds()) {
    for (const std::uint64_t keys : {1ULL, 2ULL, 3ULL, 7ULL, 20ULL, 100ULL, 1000ULL, 20'000ULL}) {
      for (const std::uint64_t keys_of_run : {keys, std::uint64_t{20'000}}) {
        SCOPED_TRACE(fmt::format("{} {} of {}", kind.name, keys, keys_of_run));
        const FilterPlanner planner({}, {}, 0, 1, keys_of_run, fixed(std::string(kind.name)));
        const FilterChoice choice = planner.choose(keys, 0);
        EXPECT_TRUE(choice.kind == kind.name || keys_of_run < 1000);
        if (choice.kind.empty()) continue;
        const auto size = filter_size(choice.kind, keys, {SizeTarget::Measure::kBitsPerKey, choice.bits_per_key});
        EXPECT_TRUE(size.ok() || (keys < 1000 && size.status().code() == StatusCode::kNotSupported))
            << size.status().to_text();
      }
    }
  }
}

}  // namespace
}  // namespace tamis
