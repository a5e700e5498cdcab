// Rule 14: the run index may cost time, but never changes an answer.
#include "tree/run_index.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "base/epoch.h"
#include "support/tree_world.h"
#include "tree/version.h"

namespace tamis {
namespace {

using test::ask;
using test::owned;
using test::OwnedAnswer;
using test::TableEntries;

bool never() { return false; }

/// Runs of many distinct keys over several levels, newest first.
struct ManyRuns : test::TreeWorld {
  ManyRuns(std::uint64_t seed, std::size_t runs, std::size_t keys_per_run)
      : TreeWorld(seed, runs, keys_per_run, {.levels = 3, .customers = 2000, .has_long_keys = true}) {}
};

std::vector<const Run*> runs_of(const Shape& shape) {
  std::vector<const Run*> runs;
  for (const std::vector<Run>& level : shape.levels) {
    for (const Run& run : level) runs.push_back(&run);
  }
  return runs;
}

std::vector<std::uint64_t> numbers_of(const Run& run) {
  std::vector<std::uint64_t> numbers;
  for (const auto& table : run.tables) numbers.push_back(table->number);
  return numbers;
}

std::shared_ptr<const RunColumn> column_of(const Version& version, const Run& run,
                                           const std::shared_ptr<RunMatrix>& matrix) {
  return RunColumn::fill(matrix, numbers_of(run), *version.iterate_tables(numbers_of(run)), test::example_hasher(),
                         never);
}

RunMatrixPlan plan_for(const Shape& shape) {
  std::vector<std::uint64_t> keys;
  for (const Run* run : runs_of(shape)) keys.push_back(run->keys());
  return plan_run_matrix(keys, 1U << 20);
}

/// With a column for every run that `is_wanted`.
template <typename Wanted>
RunColumns columns_of(const Version& version, const std::shared_ptr<RunMatrix>& matrix, Wanted is_wanted) {
  RunColumns columns;
  const std::vector<const Run*> runs = runs_of(version.shape());
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!is_wanted(i)) continue;
    columns.push_back(column_of(version, *runs[i], matrix));
    EXPECT_NE(columns.back(), nullptr);
  }
  return columns;
}

/// A version, and the same with a column for every run that `is_wanted`.
struct Indexed {
  template <typename Wanted>
  Indexed(ManyRuns& many, Wanted is_wanted)
      : plain(many.shape(), nullptr, many.world.context),
        matrix(RunMatrix::make(plan_for(plain.shape()), many.world.filter_budget)),
        version(plain.shape(), &plain, many.world.context, columns_of(plain, matrix, is_wanted)) {}

  const Version plain;
  const std::shared_ptr<RunMatrix> matrix;
  const Version version;
};

/// A run of two tables, "a" and "m", with a column.
struct TwoTables : ManyRuns {
  TwoTables() : ManyRuns(7, 1, 1) {
    edit = {};
    for (const char* key : {"a", "m"}) add_table(key);
    both = shape();
    first.emplace(both, nullptr, world.context);
    const RunMatrixPlan plan{.rows = 512, .lines = 4, .width = 32, .probes = 8, .gate_probes = 4, .runs = 12};
    const auto matrix = RunMatrix::make(plan, world.filter_budget);
    indexed.emplace(both, &*first, world.context, RunColumns{column_of(*first, both.levels[1][0], matrix)});
  }
  void add_table(const char* key) {
    TableEntries entries;
    entries.add(key, 1, "1");
    finish(1, 1, entries);
  }

  Shape both;
  std::optional<Version> first;
  std::optional<Version> indexed;
};

/// What `peek` returns, which must be true unless it is unknown.
void expect_peek(const Version& version, std::string_view key, Sequence at, const std::optional<OwnedAnswer>& wanted) {
  const EpochGuard guard;
  StagedLookup staged = test::staged_lookup(key, at);
  NoSteps none;
  version.peek(staged, none);
  if (staged.answer == LookupAnswer::kUnknown) return;
  ASSERT_EQ(test::answer_of(staged), wanted) << key;
}

TEST(RunIndex, Rule14_NeverRulesOutARunThatHoldsTheKey) {
  for (const std::size_t runs : {4U, 9U, 33U, 64U, 65U, 128U, 256U}) {
    SCOPED_TRACE(fmt::format("{} runs", runs));
    ManyRuns many(runs, runs, 40);
    const Indexed indexed(many, [](std::size_t) { return true; });
    const Version& version = indexed.version;
    ASSERT_GE(indexed.matrix->plan().width, runs);
    ASSERT_EQ(version.run_index().columns().size(), runs);
    std::uint64_t strangers = 0;
    std::uint64_t ruled_out = 0;
    for (int i = 0; i < (runs > 128 ? 500 : 3000); ++i) {
      const std::string key = many.some_key();
      const RunSet possible = version.run_index().possible(test::example_hasher()(key));
      for (std::size_t run = 0; run < runs; ++run) {
        if (many.held[run].contains(key)) {
          ASSERT_TRUE(possible.contains(run)) << key << " of run " << run;
        } else {
          ++strangers;
          ruled_out += possible.contains(run) ? 0U : 1U;
        }
      }
      const Sequence at = i % 3 == 0 ? kMaxSequence : Sequence{many.random() % (1000 * runs + 1100)};
      const std::optional<OwnedAnswer> wanted = owned(many.everything.find(key, at));
      ASSERT_EQ(ask(version, key, at), wanted) << key;
      expect_peek(version, key, at, wanted);
    }
    EXPECT_GE(ruled_out, strangers * 97 / 100);
  }
}

TEST(RunIndex, Rule14_RunsWithoutAColumnAreAlwaysPossible) {
  ManyRuns many(5, 40, 30);
  const Indexed indexed(many, [](std::size_t run) { return run % 3 == 0; });
  const Version& version = indexed.version;
  for (int i = 0; i < 2000; ++i) {
    const std::string key = many.some_key();
    const RunSet possible = version.run_index().possible(test::example_hasher()(key));
    for (std::size_t run = 0; run < 40; ++run) {
      ASSERT_EQ(version.run_index().has_column(run), run % 3 == 0);
      if (run % 3 != 0 || many.held[run].contains(key)) {
        ASSERT_TRUE(possible.contains(run));
      }
    }
    ASSERT_EQ(ask(version, key, kMaxSequence), owned(many.everything.find(key, kMaxSequence)));
  }
}

/// More runs than columns, and more than a RunSet has positions.
TEST(RunIndex, Rule14_RunsBeyondTheLastPlaceAreAlwaysPossible) {
  constexpr std::size_t kRuns = RunSet::kPlaces + 20;
  ManyRuns many(6, kRuns, 5);
  const Indexed indexed(many, [](std::size_t run) { return run < 60 || run >= kRuns - 60; });
  const Version& version = indexed.version;
  EXPECT_EQ(version.run_index().columns().size(), 100U);
  for (int i = 0; i < 2000; ++i) {
    const std::string key = many.some_key();
    ASSERT_TRUE(version.run_index().possible(test::example_hasher()(key)).contains(RunSet::kPlaces));
    ASSERT_EQ(ask(version, key, kMaxSequence), owned(many.everything.find(key, kMaxSequence))) << key;
  }
}

TEST(RunIndex, Rule14_AColumnServesARunThatLostTablesButNotOneThatGotSome) {
  TwoTables many;
  EXPECT_FALSE(many.indexed->run_index().possible(test::example_hasher()("b")).contains(0));

  const Shape fewer = *many.both.with({.removed = {many.next_number - 1}, .added = {}});
  const Version lost(fewer, &*many.indexed, many.world.context);
  EXPECT_TRUE(lost.run_index().has_column(0));
  EXPECT_TRUE(lost.run_index().possible(test::example_hasher()("a")).contains(0));

  many.edit = {};
  many.add_table("z");
  const Version grown(*many.both.with(many.edit), &*many.indexed, many.world.context);
  EXPECT_FALSE(grown.run_index().has_column(0));
  EXPECT_TRUE(grown.run_index().possible(test::example_hasher()("z")).contains(0));
  EXPECT_TRUE(ask(grown, "z", kMaxSequence).has_value());
}

/// One bit cannot distinguish the two halves of a split run: one of them goes without.
TEST(RunIndex, Rule14_AColumnSpeaksForOneRunOnly) {
  TwoTables many;
  const ShapeEdit apart{.removed = {many.next_number - 1}, .added = {{2, 9, many.both.levels[1][0].tables[1]}}};
  const Version moved(*many.both.with(apart), &*many.indexed, many.world.context);
  EXPECT_TRUE(ask(moved, "a", kMaxSequence).has_value());
  EXPECT_TRUE(ask(moved, "m", kMaxSequence).has_value());
  EXPECT_EQ(moved.run_index().columns().size(), 1U);
}

/// Keys are hashed when they are read, with the store's hash: the hash of a table's own filter does not matter.
TEST(RunIndex, Rule14_TablesOfAnotherHashAreIndexedByTheStores) {
  ManyRuns many(9, 1, 1);
  many.edit = {};
  many.held.clear();
  many.everything = {};
  many.identity.hash_key[0] = std::byte{0x77};
  for (std::size_t run = 0; run < 20; ++run) many.add_run(0, 100 - run, 1000 * (100 - run), 30);
  many.everything.sort();
  const Indexed indexed(many, [](std::size_t) { return true; });
  for (int i = 0; i < 1000; ++i) {
    const std::string key = many.some_key();
    ASSERT_EQ(ask(indexed.version, key, kMaxSequence), owned(many.everything.find(key, kMaxSequence))) << key;
  }
}

TEST(RunIndex, Rule14_ARunThatCannotBeReadToItsEndGetsNoColumn) {
  ManyRuns many(10, 14, 30);
  const Version plain(many.shape(), nullptr, many.world.context);
  const tamis::Run& run = *runs_of(plain.shape())[0];
  const auto matrix = RunMatrix::make(plan_for(plain.shape()), many.world.filter_budget);
  const std::uint64_t number = run.tables.front()->number;
  many.world.overwrite(100, "damage", number);
  EXPECT_EQ(column_of(plain, run, matrix), nullptr);
  EXPECT_EQ(matrix->free_columns(), matrix->plan().width);

  const auto cancelled = [] { return true; };
  const tamis::Run& whole = *runs_of(plain.shape())[1];
  EXPECT_EQ(RunColumn::fill(matrix, numbers_of(whole), *plain.iterate_tables(numbers_of(whole)), test::example_hasher(),
                            cancelled),
            nullptr);
  EXPECT_EQ(matrix->free_columns(), matrix->plan().width);
}

TEST(RunIndex, Rule14_ExplainSaysWhichRunsItRuledOut) {
  ManyRuns many(11, 30, 60);
  const Indexed indexed(many, [](std::size_t run) { return run != 4; });
  std::uint64_t said = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string key = many.some_key();
    RecordedSteps without;
    RecordedSteps with;
    ASSERT_EQ(ask(indexed.plain, key, kMaxSequence, without), ask(indexed.version, key, kMaxSequence, with));
    // The same tables in the same order; only what ruled them out differs.
    ASSERT_EQ(with.steps.size(), without.steps.size());
    for (std::size_t step = 0; step < with.steps.size(); ++step) {
      ASSERT_EQ(with.steps[step].table, without.steps[step].table);
      if (with.steps[step].verdict != FilterVerdict::kNoByRunIndex) {
        ASSERT_EQ(with.steps[step].outcome, without.steps[step].outcome);
        continue;
      }
      ++said;
      ASSERT_EQ(with.steps[step].outcome, TableOutcome::kRuledOut);
      ASSERT_NE(without.steps[step].outcome, TableOutcome::kFound);
      ASSERT_NE(without.steps[step].outcome, TableOutcome::kDeleted);
    }
  }
  EXPECT_GT(said, 1000U);
}

}  // namespace
}  // namespace tamis
