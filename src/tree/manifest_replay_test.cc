#include "tree/manifest_replay.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"

namespace tamis {
namespace {

std::shared_ptr<const TableFacts> table(std::uint64_t number, const std::string& smallest, const std::string& largest) {
  auto facts = std::make_shared<TableFacts>();
  facts->number = number;
  facts->smallest_key = smallest;
  facts->largest_key = largest;
  return facts;
}

ShapeEdit::Added added(std::uint32_t level, std::uint64_t run, std::uint64_t number, const std::string& key) {
  return {.level = level, .run = run, .facts = table(number, key, key)};
}

std::vector<std::uint64_t> numbers_of(const Shape& shape) {
  std::vector<std::uint64_t> numbers;
  for (const auto& level : shape.levels) {
    for (const Run& run : level) {
      for (const auto& one : run.tables) numbers.push_back(one->number);
    }
  }
  return numbers;
}

/// Adds, removes and moves some tables; the keys of a run are its tables' numbers, so none overlap.
ManifestEdit random_edit(SplitMix64& random, const ManifestState& state, std::uint64_t& next) {
  ManifestEdit edit;
  for (const std::uint64_t number : numbers_of(state.shape)) {
    if (random.below(4) == 0) edit.shape.removed.push_back(number);
  }
  for (std::uint64_t i = random.below(6); i > 0; --i) {
    edit.shape.added.push_back(added(static_cast<std::uint32_t>(random.below(Shape::kMaxLevels)), 1 + random.below(3),
                                     next, std::to_string(next)));
    ++next;
  }
  if (!edit.shape.removed.empty() && random.coin()) {  // A table that moves.
    const std::uint64_t moved = edit.shape.removed.front();
    edit.shape.added.push_back({.level = static_cast<std::uint32_t>(random.below(Shape::kMaxLevels)),
                                .run = 1 + random.below(3),
                                .facts = *state.shape.find_table(moved)->facts});
  }
  if (random.coin()) edit.flushed_sequence = state.flushed_sequence + random.below(9);
  if (random.coin()) edit.first_journal = state.first_journal + random.below(9);
  if (random.coin()) edit.reserved_numbers = state.reserved_numbers + random.below(9);
  return edit;
}

TEST(ManifestReplay, EndsWhereOneEditAfterTheOtherEnds) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SplitMix64 random(seed);
    ManifestState state;
    state.identity.store_id.fill(std::byte{7});
    ManifestReplay replay(state.identity);
    std::uint64_t next = 1;
    for (std::uint64_t edits = random.below(60); edits > 0; --edits) {
      const ManifestEdit edit = random_edit(random, state, next);
      Result<ManifestState> after = with_edit(state, edit);
      ASSERT_TRUE(after.ok()) << "seed " << seed << ": " << after.status().to_text();
      state = *std::move(after);
      const Status applied = replay.apply(edit);
      ASSERT_TRUE(applied.ok()) << "seed " << seed << ": " << applied.to_text();
    }
    const Result<ManifestState> replayed = replay.finish();
    ASSERT_TRUE(replayed.ok()) << "seed " << seed << ": " << replayed.status().to_text();
    EXPECT_EQ(replayed->shape.to_text(), state.shape.to_text()) << "seed " << seed;
    EXPECT_EQ(numbers_of(replayed->shape), numbers_of(state.shape)) << "seed " << seed;
    EXPECT_EQ(replayed->shape.levels.size(), state.shape.levels.size()) << "seed " << seed;
    EXPECT_EQ(replayed->identity, state.identity);
    EXPECT_EQ(replayed->flushed_sequence, state.flushed_sequence) << "seed " << seed;
    EXPECT_EQ(replayed->first_journal, state.first_journal) << "seed " << seed;
    EXPECT_EQ(replayed->reserved_numbers, state.reserved_numbers) << "seed " << seed;
  }
}

TEST(ManifestReplay, RefusesWhatASingleEditRefuses) {
  const ManifestEdit first{.shape = {.removed = {}, .added = {added(1, 1, 5, "k")}}, .flushed_sequence = 7};
  const std::vector<ManifestEdit> bad = {
      {.shape = {.removed = {6}, .added = {}}},
      {.shape = {.removed = {5, 5}, .added = {}}},
      {.shape = {.removed = {}, .added = {added(2, 1, 5, "z")}}},
      {.shape = {.removed = {}, .added = {{.level = 1, .run = 1, .facts = nullptr}}}},
      {.flushed_sequence = 6},
  };
  const ManifestState state = *with_edit({}, first);
  for (const ManifestEdit& edit : bad) {
    ManifestReplay replay({});
    ASSERT_TRUE(replay.apply(first).ok());
    const Status refused = replay.apply(edit);
    EXPECT_EQ(refused.code(), StatusCode::kCorruption);
    EXPECT_EQ(refused.message(), with_edit(state, edit).status().message());
  }
}

TEST(ManifestReplay, RefusesAShapeThatCannotBe) {
  for (const ShapeEdit::Added& bad : {added(1, 1, 6, "k"), added(Shape::kMaxLevels, 1, 6, "z")}) {
    ManifestReplay replay({});
    ASSERT_TRUE(replay.apply({.shape = {.removed = {}, .added = {added(1, 1, 5, "k")}}}).ok());
    ASSERT_TRUE(replay.apply({.shape = {.removed = {}, .added = {bad}}}).ok());
    EXPECT_EQ(replay.finish().status().code(), StatusCode::kCorruption);
  }
}

TEST(ManifestReplay, OfNothingIsAnEmptyState) {
  const Result<ManifestState> state = ManifestReplay({}).finish();
  ASSERT_TRUE(state.ok());
  EXPECT_TRUE(state->shape.levels.empty());
}

}  // namespace
}  // namespace tamis
