#include "entry/merging_iterator.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "support/entry_sets.h"
#include "support/iterator_check.h"

namespace tamis {
namespace {

using test::EntrySets;
using test::IteratorCheck;

void expect_moves(std::uint64_t seed, const EntrySets& sets, EntryIterator& iterator) {
  SCOPED_TRACE(seed);
  EXPECT_FALSE(iterator.valid());
  IteratorCheck(iterator, sets.merged(), seed).moves(120, [&](std::mt19937_64& random) {
    return sets.some_key(random);
  });
}

EntrySets::Shape shape_of(std::uint64_t seed) {
  return {.runs = seed % 10, .entries = 1 + seed % 41, .keys = 1 + seed % 13, .sequences = 1 + seed % 20};
}

TEST(MergingIterator, WalksAsOneSortedListWhateverTheMoves) {
  for (std::uint64_t seed = 1; seed <= 3000 && !HasFatalFailure(); ++seed) {
    const EntrySets sets(seed, shape_of(seed));
    expect_moves(seed, sets, *make_merging_iterator(sets.iterators()));
  }
}

TEST(MergingIterator, OfMergesWalksAsOneSortedList) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFatalFailure(); ++seed) {
    const EntrySets sets(seed, {.runs = 6, .entries = 20, .keys = 3, .sequences = 5});
    std::vector<std::unique_ptr<EntryIterator>> all = sets.iterators();
    std::vector<std::unique_ptr<EntryIterator>> merges;
    for (std::size_t first : {0, 2, 4}) {
      std::vector<std::unique_ptr<EntryIterator>> two;
      two.push_back(std::move(all[first]));
      two.push_back(std::move(all[first + 1]));
      merges.push_back(make_merging_iterator(std::move(two)));
    }
    expect_moves(seed, sets, *make_merging_iterator(std::move(merges)));
  }
}

TEST(VectorIterator, WalksAsTheVectorItIsMadeOf) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFatalFailure(); ++seed) {
    const EntrySets sets(seed, {.runs = 1});
    VectorIterator iterator(sets.runs[0]);
    expect_moves(seed, sets, iterator);
  }
}

TEST(MergingIterator, OfManyRunsShowsEveryEntryOnce) {
  for (const std::size_t runs : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100, 200}) {
    const EntrySets sets(runs, {.runs = runs, .entries = 40, .keys = 50, .sequences = 100});
    const auto iterator = make_merging_iterator(sets.iterators());
    IteratorCheck(*iterator, sets.merged()).walk();
  }
}

/// The runs fail at move number `fail_at`; until the error shows, every answer is right; a seek starts afresh.
void walk_into_failure(std::uint64_t seed, int fail_at) {
  const EntrySets sets(seed, {.runs = 4, .entries = 20, .keys = 8});
  int moves_left = fail_at;
  const auto iterator = make_merging_iterator(test::failing(sets.iterators(), &moves_left, true));
  IteratorCheck check(*iterator, sets.merged(), seed);
  int failures = 0;
  for (int move = 0; move < 60; ++move) {
    check.move([&](std::mt19937_64& random) { return sets.some_key(random); });
    if (!iterator->status().ok()) {
      ++failures;
      ASSERT_FALSE(iterator->valid());
      ASSERT_EQ(iterator->status().message(), "the disk is gone");
      check.seek_to_first();
    }
    ASSERT_TRUE(check.agrees()) << "seed " << seed << ", failure at " << fail_at << ", move " << move;
    ASSERT_EQ(failures, moves_left < 0 ? 1 : 0) << "a failure was passed over";
  }
}

TEST(MergingIterator, StopsWithTheStatusOfTheRunThatFailedAndRecoversBySeeking) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    for (int fail_at = 0; fail_at < 100 && !HasFatalFailure(); ++fail_at) walk_into_failure(seed, fail_at);
  }
}

}  // namespace
}  // namespace tamis
