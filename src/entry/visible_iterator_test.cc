#include "entry/visible_iterator.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "entry/merging_iterator.h"
#include "entry/vector_iterator.h"
#include "support/entry_sets.h"

namespace tamis {
namespace {

using test::EntrySets;
using View = std::map<std::string, std::string, std::less<>>;

/// What should be visible, by brute force: examines every entry for every key.
View view_of(const std::vector<Entry>& entries, Sequence snapshot, const KeyRange& range) {
  View view;
  for (const Entry& one : entries) {
    const Entry* newest = nullptr;
    for (const Entry& other : entries) {
      if (other.key != one.key || other.sequence > snapshot) continue;
      if (newest == nullptr || other.sequence > newest->sequence) newest = &other;
    }
    const bool in_range = one.key >= range.from && (!range.to || one.key < *range.to);
    if (in_range && newest != nullptr && newest->kind == EntryKind::kPut) view[std::string(one.key)] = newest->value;
  }
  return view;
}

/// Moves a model and an iterator alike; the map's end stands for both ends.
class Walk {
 public:
  Walk(const EntrySets& sets, const View& view, VisibleIterator& iterator, std::uint64_t seed)
      : sets_(sets), view_(view), at_(view.end()), iterator_(iterator), random_(seed) {}

  void move() {
    const std::string key = sets_.some_key(random_);
    switch (at_ != view_.end() ? random_() % 21 : 15 + random_() % 6) {
      case 15: return at_ = view_.lower_bound(key), iterator_.seek(key);
      case 16: return at_ = before(view_.lower_bound(key)), iterator_.seek_before(key);
      case 17: return at_ = view_.begin(), iterator_.seek_to_first();
      case 18: return at_ = before(view_.end()), iterator_.seek_to_last();
      case 19: return seek_to_shown();
      case 20: return at_ = before(view_.upper_bound(key)), iterator_.seek_at_or_before(key);
      default: break;
    }
    if (random_() % 2 == 0) return static_cast<void>(++at_), iterator_.next();
    at_ = before(at_);
    iterator_.previous();
  }

  [[nodiscard]] bool agrees() const {
    if (at_ == view_.end()) return !iterator_.valid() && iterator_.status().ok();
    return iterator_.valid() && iterator_.key() == at_->first && iterator_.value() == at_->second;
  }

  void restart() {
    at_ = view_.begin();
    iterator_.seek_to_first();
  }

 private:
  [[nodiscard]] View::const_iterator before(View::const_iterator at) const {
    return at == view_.begin() ? view_.end() : std::prev(at);
  }
  /// The target is a view of the iterator's own key.
  void seek_to_shown() {
    if (at_ == view_.end()) return restart();
    if (random_() % 2 == 0) return iterator_.seek(iterator_.key());
    if (random_() % 2 == 0) return iterator_.seek_at_or_before(iterator_.key());
    at_ = before(at_);
    iterator_.seek_before(iterator_.key());
  }

  const EntrySets& sets_;
  const View& view_;
  View::const_iterator at_;
  VisibleIterator& iterator_;
  std::mt19937_64 random_;
};

KeyRange random_range(const EntrySets& sets, std::mt19937_64& random) {
  KeyRange range;
  if (random() % 2 == 0) range.from = sets.some_key(random);
  if (random() % 2 == 0) range.to = sets.some_key(random);  // May lie before `from`: an empty range.
  return range;
}

TEST(VisibleIterator, ShowsWhatASnapshotSeesWhateverTheMoves) {
  for (std::uint64_t seed = 1; seed <= 250; ++seed) {
    const EntrySets sets(seed,
                         {.runs = 1 + seed % 6, .entries = 1 + seed % 37, .keys = 1 + seed % 11, .sequences = 12});
    std::mt19937_64 random(seed);
    for (std::uint64_t snapshot = 0; snapshot <= 13; ++snapshot) {
      const Sequence sequence = snapshot == 13 ? kMaxSequence : Sequence{snapshot};
      const KeyRange range = random_range(sets, random);
      const View view = view_of(sets.merged(), sequence, range);
      VisibleIterator iterator(make_merging_iterator(sets.iterators()), Moment{sequence}, range);
      ASSERT_FALSE(iterator.valid());
      Walk walk(sets, view, iterator, seed);
      for (int move = 0; move < 100; ++move) {
        walk.move();
        ASSERT_TRUE(walk.agrees()) << "seed " << seed << ", snapshot " << snapshot << ", move " << move;
      }
    }
  }
}

std::vector<std::string> keys_seen(VisibleIterator& iterator) {
  std::vector<std::string> keys;
  for (iterator.seek_to_first(); iterator.valid(); iterator.next()) keys.emplace_back(iterator.key());
  return keys;
}

TEST(VisibleIterator, Rule18_KeepsEverySeekInsideItsRange) {
  const std::vector<Entry> entries = {{"a", "1", Sequence{1}},
                                      {"b", "2", Sequence{2}},
                                      {"c", "3", Sequence{3}},
                                      {"d", "4", Sequence{4}},
                                      {"e", "5", Sequence{5}}};
  VisibleIterator iterator(std::make_unique<VectorIterator>(entries), Moment{}, {.from = "b", .to = "d"});
  EXPECT_EQ(keys_seen(iterator), (std::vector<std::string>{"b", "c"}));
  iterator.seek("");
  EXPECT_EQ(iterator.key(), "b");
  iterator.previous();
  EXPECT_FALSE(iterator.valid());
  iterator.seek("d");
  EXPECT_FALSE(iterator.valid());
  iterator.seek_before("zebra");
  EXPECT_EQ(iterator.key(), "c");
  iterator.next();
  EXPECT_FALSE(iterator.valid());
  iterator.seek_before("b");
  EXPECT_FALSE(iterator.valid());
  iterator.seek_at_or_before("b");
  EXPECT_EQ(iterator.key(), "b");
  iterator.seek_at_or_before("azure");
  EXPECT_FALSE(iterator.valid());
  iterator.seek_at_or_before("d");
  EXPECT_EQ(iterator.key(), "c");
  iterator.seek_to_last();
  EXPECT_EQ(iterator.key(), "c");
}

TEST(VisibleIterator, FindsItsWayThroughThousandsOfVersionsAndDeletes) {
  std::vector<Entry> entries;
  for (std::uint64_t i = 5000; i > 0; --i) entries.push_back({"hot", "v", Sequence{2 * i}});
  for (std::uint64_t i = 5000; i > 0; --i) entries.push_back({"lost", "", Sequence{2 * i + 1}, EntryKind::kDelete});
  VisibleIterator iterator(std::make_unique<VectorIterator>(entries), Moment{Sequence{4000}}, {});
  EXPECT_EQ(keys_seen(iterator), (std::vector<std::string>{"hot"}));
  iterator.seek_to_last();
  EXPECT_EQ(iterator.key(), "hot");
  iterator.previous();
  EXPECT_FALSE(iterator.valid());
}

/// If one move of the source fails, a step may end early with the error, but never shows a wrong entry.
void walk_into_failure(std::uint64_t seed, int fail_at) {
  const EntrySets sets(seed, {.runs = 3, .entries = 20, .keys = 6, .sequences = 9});
  const Sequence snapshot{seed % 10};
  const View view = view_of(sets.merged(), snapshot, {});
  int moves_left = fail_at;
  VisibleIterator iterator(make_merging_iterator(test::failing(sets.iterators(), &moves_left, true)), Moment{snapshot},
                           {});
  Walk walk(sets, view, iterator, seed);
  int failures = 0;
  for (int move = 0; move < 40; ++move) {
    walk.move();
    if (!iterator.status().ok()) {
      ++failures;
      ASSERT_FALSE(iterator.valid());
      walk.restart();
    }
    ASSERT_TRUE(walk.agrees()) << "seed " << seed << ", failure at " << fail_at << ", move " << move;
    ASSERT_EQ(failures, moves_left < 0 ? 1 : 0) << "a failure was passed over";
  }
}

TEST(VisibleIterator, NeverShowsAnOlderVersionBecauseANewerOneCouldNotBeRead) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    for (int fail_at = 0; fail_at < 120 && !HasFatalFailure(); ++fail_at) walk_into_failure(seed, fail_at);
  }
}

TEST(VisibleIterator, ForgetsAnErrorWhenASeekEndsOutsideTheRange) {
  const EntrySets sets(1, {.runs = 2});
  int moves_left = 0;
  VisibleIterator iterator(make_merging_iterator(test::failing(sets.iterators(), &moves_left, false)), Moment{},
                           {.to = "b"});
  iterator.seek_to_first();
  EXPECT_EQ(iterator.status().code(), StatusCode::kIoError);
  iterator.seek("c");
  EXPECT_FALSE(iterator.valid());
  EXPECT_TRUE(iterator.status().ok());
}

TEST(VisibleIterator, PassesThousandsOfOldVersionsWithoutLookingAtEach) {
  constexpr std::uint64_t kVersions = 10'000;
  for (const EntryKind newest : {EntryKind::kPut, EntryKind::kDelete}) {
    std::vector<Entry> entries = {{"a", "first", Sequence{1}, EntryKind::kPut}};
    entries.push_back({"b", "", Sequence{kVersions}, newest});
    for (std::uint64_t i = kVersions - 1; i > 1; --i) entries.push_back({"b", "old", Sequence{i}, EntryKind::kPut});
    entries.push_back({"c", "last", Sequence{1}, EntryKind::kPut});
    int moves_left = kVersions;
    auto counted =
        std::make_unique<test::FailingIterator>(std::make_unique<VectorIterator>(entries), &moves_left, true);
    VisibleIterator iterator(std::move(counted), Moment{Sequence{kVersions}}, {});
    std::string keys;
    for (iterator.seek_to_first(); iterator.valid(); iterator.next()) keys += iterator.key();
    EXPECT_EQ(keys, newest == EntryKind::kPut ? "abc" : "ac");
    EXPECT_GT(moves_left, static_cast<int>(kVersions) - 100);
  }
}

/// A source that shows each entry alone, as a merge of runs does, or all of them ready.
TEST(VisibleIterator, Rule31_ShowsTheFoldOfOperandsInBothDirections) {
  const MergeOperator append{"append", [](std::string_view older, std::string_view newer, std::string& result) {
                               result.append(older).append(newer);
                               return true;
                             }};
  const auto entry = [](std::string_view key, std::uint64_t sequence, EntryKind kind, std::string_view value) {
    return Entry{key, value, Sequence{sequence}, kind};
  };
  const std::vector<Entry> entries = {entry("a", 9, EntryKind::kMerge, "3"), entry("a", 8, EntryKind::kMerge, "2"),
                                      entry("a", 7, EntryKind::kPut, "1"),   entry("a", 6, EntryKind::kPut, "old"),
                                      entry("b", 5, EntryKind::kPut, "b"),   entry("c", 9, EntryKind::kMerge, "y"),
                                      entry("c", 4, EntryKind::kDelete, ""), entry("c", 3, EntryKind::kPut, "old"),
                                      entry("d", 9, EntryKind::kDelete, ""), entry("d", 8, EntryKind::kMerge, "d"),
                                      entry("e", 2, EntryKind::kMerge, "v"), entry("e", 1, EntryKind::kMerge, "u")};
  const std::map<std::uint64_t, std::string> expected = {
      {9, "a=123 b=b c=y e=uv "}, {8, "a=12 b=b d=d e=uv "}, {6, "a=old b=b e=uv "}, {1, "e=u "}};
  for (const auto& [sequence, text] : expected) {
    VisibleIterator at(std::make_unique<VectorIterator>(entries), {Sequence{sequence}, 0}, {}, nullptr, &append);
    const auto shown = [&] { return std::string(at.key()) + "=" + std::string(at.value()) + " "; };
    std::string forwards;
    for (at.seek_to_first(); at.valid(); at.next()) forwards += shown();
    std::string backwards;
    for (at.seek_to_last(); at.valid(); at.previous()) backwards.insert(0, shown());
    EXPECT_EQ(forwards, text);
    EXPECT_EQ(backwards, text);
    std::string turning;  // Each step forwards after one back.
    for (at.seek_to_first(); at.valid(); at.next()) {
      turning += shown();
      const std::string key(at.key());
      at.previous();
      at.seek(key);
    }
    EXPECT_EQ(turning, text);
    EXPECT_TRUE(at.status().ok());
  }
  VisibleIterator at(std::make_unique<VectorIterator>(entries), {Sequence{9}, 0}, {}, nullptr, &append);
  at.seek("a");
  at.next();
  at.previous();
  EXPECT_EQ(at.value(), "123");
  at.next();
  at.next();
  at.previous();
  EXPECT_EQ(at.value(), "b");
  at.next();
  EXPECT_EQ(at.value(), "y");
  at.previous();
  at.previous();
  EXPECT_EQ(at.value(), "123");
}

}  // namespace
}  // namespace tamis
