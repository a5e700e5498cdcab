#include "engine/lookup_weights.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>

#include "support/table_world.h"

namespace tamis {
namespace {

using test::TableWorld;

/// Tables of 500 keys, one after the other in key order.
struct AskedTables {
  explicit AskedTables(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) add(i, i + 1, 2, 1);
  }
  void add(std::size_t first, std::size_t end, std::uint32_t level, std::uint64_t run) {
    test::TableEntries entries;
    for (std::size_t part = first; part < end; ++part) {
      for (int key = 0; key < 500; ++key) entries.add(key_of(part, key), 1, "v");
    }
    const FilterChoice choice = {.kind = "sliced", .rate = 0x1p-12};
    const TableFacts facts = world.build(entries, choice, {.number = 100 + ++built});
    WeighedTable& added = tables.emplace_back();
    added.facts = std::make_shared<const TableFacts>(facts);
    added.table = std::make_shared<Table>(added.facts, world.context);
    added.level = level;
    added.run = run;
    count_keys();
  }
  void count_keys() {
    for (WeighedTable& weighed : tables) {
      weighed.keys_of_run = 0;
      for (const WeighedTable& other : tables) {
        if (other.level == weighed.level && other.run == weighed.run) weighed.keys_of_run += other.facts->keys;
      }
    }
  }
  static std::string key_of(std::size_t part, int key) { return fmt::format("{:03}/{:03}", part, key); }

  void ask(std::size_t table, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      const std::string key = key_of(table, static_cast<int>(i % 500)) + std::to_string(i);
      EXPECT_FALSE(*test::find_in(*tables[table].table, key, kMaxSequence));
    }
  }
  void find(std::size_t table, std::uint64_t times) {
    for (std::uint64_t i = 0; i < times; ++i) {
      EXPECT_TRUE(*test::find_in(*tables[table].table, key_of(table, static_cast<int>(i % 500)), kMaxSequence));
    }
  }
  /// Asks each table this often, which are all the gets there are.
  void interval(const std::vector<std::uint64_t>& times) {
    for (std::size_t i = 0; i < times.size(); ++i) ask(i, times[i]);
    weights.observe(tables, std::accumulate(times.begin(), times.end(), std::uint64_t{0}));
    weights.begin(tables);
  }

  TableWorld world;
  std::uint64_t built = 0;
  std::vector<WeighedTable> tables;
  LookupWeights weights;
};

TEST(LookupWeights, AreSharesOfTheKeysBeforeAnythingWasAsked) {
  AskedTables asked(4);
  const std::vector<double> weights = asked.weights.weights(asked.tables);
  for (const double weight : weights) EXPECT_NEAR(weight, 0.25, 1e-9);
}

TEST(LookupWeights, Rule46_AreTheSharesOfTheVainQuestionsHoweverManyColumnsAreInMemory) {
  for (const std::uint64_t columns : {0U, 2U, 12U}) {
    AskedTables asked(3);
    for (const WeighedTable& weighed : asked.tables) (void)weighed.table->plan_filter(columns, true);
    asked.weights.observe(asked.tables, 0);
    asked.weights.begin(asked.tables);
    for (int i = 0; i < 4; ++i) asked.interval({40'000, 8'000, 0});
    const std::vector<double> weights = asked.weights.weights(asked.tables);
    EXPECT_NEAR(weights[0], 5.0 / 6, 0.1) << columns;
    EXPECT_NEAR(weights[1], 1.0 / 6, 0.05) << columns;
    EXPECT_LT(weights[2], 0.01) << columns;
  }
}

TEST(LookupWeights, Rule46_KeysThatAreFoundAreNoVainQuestions) {
  AskedTables asked(2);
  asked.weights.observe(asked.tables, 0);
  asked.weights.begin(asked.tables);
  asked.find(0, 30'000);
  asked.ask(1, 10'000);
  asked.weights.observe(asked.tables, 40'000);
  const std::vector<double> weights = asked.weights.weights(asked.tables);
  EXPECT_LT(weights[0], 0.01);
  EXPECT_NEAR(weights[1], 0.25, 0.08);
}

TEST(LookupWeights, Rule46_FollowOnceOtherTablesAreAsked) {
  AskedTables asked(3);
  for (const WeighedTable& weighed : asked.tables) (void)weighed.table->plan_filter(3, true);
  asked.weights.observe(asked.tables, 0);
  asked.weights.begin(asked.tables);
  for (int i = 0; i < 20; ++i) asked.interval({16'000, 2'000, 2'000});
  asked.interval({1'000, 1'000, 18'000});
  asked.interval({1'000, 1'000, 18'000});
  const std::vector<double> weights = asked.weights.weights(asked.tables);
  EXPECT_LT(weights[0], 0.15);
  EXPECT_GT(weights[2], 0.7);
}

/// What a compaction writes begins with what its inputs were asked: the largest of the levels, by share of keys.
TEST(LookupWeights, Rule46_NewTablesInheritFromThoseThatTheyReplace) {
  AskedTables asked(4);
  asked.add(0, 4, 1, 7);  // One table above all four.
  asked.weights.observe(asked.tables, 0);
  asked.weights.begin(asked.tables);
  for (int i = 0; i < 5; ++i) asked.interval({20'000, 20'000, 0, 0});
  const std::vector<double> before = asked.weights.weights(asked.tables);
  asked.tables.clear();
  asked.add(0, 2, 2, 1);
  asked.add(2, 4, 2, 1);
  asked.weights.observe(asked.tables, 0);
  asked.weights.begin(asked.tables);
  const std::vector<double> weights = asked.weights.weights(asked.tables);
  EXPECT_NEAR(weights[0], before[0] + before[1], 0.1);
  EXPECT_LT(weights[1], 0.02);
}

TEST(LookupWeights, ATableThatReplacesNoneIsAskedAsItsRunIs) {
  AskedTables asked(2);
  asked.weights.observe(asked.tables, 0);
  asked.weights.begin(asked.tables);
  for (int i = 0; i < 3; ++i) asked.interval({20'000, 20'000});
  asked.add(5, 6, 2, 1);
  asked.weights.observe(asked.tables, 0);
  const std::vector<double> weights = asked.weights.weights(asked.tables);
  EXPECT_NEAR(weights[2], 0.5, 0.1);
}

}  // namespace
}  // namespace tamis
