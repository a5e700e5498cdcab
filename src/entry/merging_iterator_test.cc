#include "entry/merging_iterator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "support/entry_sets.h"

namespace tamis {
namespace {

using test::EntrySets;

/// The expected position of an iterator over these entries; either end is the number of entries.
class Model {
 public:
  explicit Model(std::vector<Entry> entries) : entries_(std::move(entries)), at_(entries_.size()) {}

  [[nodiscard]] bool valid() const { return at_ < entries_.size(); }
  [[nodiscard]] const Entry& entry() const { return entries_[at_]; }
  void seek(EntryPosition target) {
    at_ = 0;
    while (valid() && entry().position() < target) ++at_;
  }
  void seek_backwards(EntryPosition target) {
    seek_to_last();
    while (valid() && entry().position() > target) previous();
  }
  void seek_to_first() { at_ = 0; }
  void seek_to_last() { at_ = entries_.empty() ? 0 : entries_.size() - 1; }
  void next() { ++at_; }
  void previous() { at_ = at_ == 0 ? entries_.size() : at_ - 1; }

 private:
  std::vector<Entry> entries_;
  std::size_t at_;
};

/// One random move of both; steps are four times as likely as seeks, so that the direction changes everywhere.
void move_both(std::mt19937_64& random, const EntrySets& sets, Model& model, EntryIterator& iterator) {
  const std::string key = sets.some_key(random);
  const EntryPosition target{key, random() % 4 == 0 ? kMaxSequence : Sequence{random() % 22}};
  switch (model.valid() ? random() % 20 : 16 + random() % 4) {
    case 16: return model.seek(target), iterator.seek(target);
    case 17: return model.seek_backwards(target), iterator.seek_backwards(target);
    case 18: return model.seek_to_first(), iterator.seek_to_first();
    case 19: return model.seek_to_last(), iterator.seek_to_last();
    default: break;
  }
  switch (random() % 4) {
    case 0: return model.next(), iterator.next();
    case 1: return model.next(), iterator.step();
    default: break;
  }
  return model.previous(), iterator.previous();
}

void walk(std::uint64_t seed, const EntrySets& sets, EntryIterator& iterator, int moves) {
  std::mt19937_64 random(seed);
  Model model(sets.merged());
  EXPECT_FALSE(iterator.valid());
  for (int move = 0; move < moves; ++move) {
    move_both(random, sets, model, iterator);
    ASSERT_EQ(iterator.valid(), model.valid()) << "seed " << seed << ", move " << move;
    ASSERT_TRUE(iterator.status().ok());
    ASSERT_TRUE(!model.valid() || iterator.entry() == model.entry()) << "seed " << seed << ", move " << move;
  }
}

EntrySets::Shape shape_of(std::uint64_t seed) {
  return {.runs = seed % 10, .entries = 1 + seed % 41, .keys = 1 + seed % 13, .sequences = 1 + seed % 20};
}

TEST(MergingIterator, WalksAsOneSortedListWhateverTheMoves) {
  for (std::uint64_t seed = 1; seed <= 3000 && !HasFatalFailure(); ++seed) {
    const EntrySets sets(seed, shape_of(seed));
    walk(seed, sets, *make_merging_iterator(sets.iterators()), 120);
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
    walk(seed, sets, *make_merging_iterator(std::move(merges)), 120);
  }
}

TEST(VectorIterator, WalksAsTheVectorItIsMadeOf) {
  for (std::uint64_t seed = 1; seed <= 300 && !HasFatalFailure(); ++seed) {
    const EntrySets sets(seed, {.runs = 1});
    VectorIterator iterator(sets.runs[0]);
    walk(seed, sets, iterator, 120);
  }
}

TEST(MergingIterator, OfManyRunsShowsEveryEntryOnce) {
  for (const std::size_t runs : {2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 100, 200}) {
    const EntrySets sets(runs, {.runs = runs, .entries = 40, .keys = 50, .sequences = 100});
    const std::vector<Entry> expected = sets.merged();
    const auto iterator = make_merging_iterator(sets.iterators());
    std::vector<Entry> seen;
    for (iterator->seek_to_first(); iterator->valid(); iterator->next()) seen.push_back(iterator->entry());
    EXPECT_EQ(seen, expected);
    seen.clear();
    for (iterator->seek_to_last(); iterator->valid(); iterator->previous()) seen.push_back(iterator->entry());
    std::ranges::reverse(seen);
    EXPECT_EQ(seen, expected);
  }
}

TEST(MergingIterator, OfNothingIsAtBothEnds) {
  for (const std::size_t runs : {0, 1, 3}) {
    const EntrySets sets(1, {.runs = runs, .entries = 0});
    const auto iterator = make_merging_iterator(sets.iterators());
    EXPECT_FALSE(iterator->valid());
    iterator->seek_to_first();
    EXPECT_FALSE(iterator->valid());
    iterator->seek_to_last();
    EXPECT_FALSE(iterator->valid());
    iterator->seek({"a", Sequence{1}});
    EXPECT_FALSE(iterator->valid());
    EXPECT_TRUE(iterator->status().ok());
  }
}

/// The runs fail at move number `fail_at`; until the error shows, every answer is right; a seek starts afresh.
void walk_into_failure(std::uint64_t seed, int fail_at) {
  const EntrySets sets(seed, {.runs = 4, .entries = 20, .keys = 8});
  int moves_left = fail_at;
  const auto iterator = make_merging_iterator(test::failing(sets.iterators(), &moves_left, true));
  std::mt19937_64 random(seed);
  Model model(sets.merged());
  int failures = 0;
  for (int move = 0; move < 60; ++move) {
    move_both(random, sets, model, *iterator);
    if (!iterator->status().ok()) {
      ++failures;
      ASSERT_FALSE(iterator->valid());
      ASSERT_EQ(iterator->status().message(), "the disk is gone");
      model.seek_to_first();
      iterator->seek_to_first();
    }
    ASSERT_EQ(iterator->valid(), model.valid()) << "seed " << seed << ", failure at " << fail_at << ", move " << move;
    ASSERT_TRUE(!model.valid() || iterator->entry() == model.entry());
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
