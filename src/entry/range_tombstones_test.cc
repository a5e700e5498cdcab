#include "entry/range_tombstones.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "entry/drop_rule.h"

namespace tamis {
namespace {

RangeTombstone tombstone(std::string from, std::optional<std::string> to, std::uint64_t sequence) {
  return {{std::move(from), std::move(to)}, Sequence{sequence}};
}

/// Keys of up to two of a few letters.
std::vector<std::string> all_keys() {
  std::vector<std::string> keys = {""};
  for (std::size_t i = 0; keys[i].size() < 2; ++i) {
    for (const char letter : {'\0', 'a', 'b', 'c', '\xff'}) keys.push_back(keys[i] + letter);
  }
  return keys;
}

std::vector<RangeTombstone> random_tombstones(std::mt19937& random, std::size_t count) {
  const std::vector<std::string> keys = all_keys();
  const auto any_key = [&] { return keys[random() % keys.size()]; };
  std::vector<RangeTombstone> list;
  for (std::uint64_t sequence = 1; list.size() < count; ++sequence) {
    const std::string from = any_key();
    if (random() % 8 == 0) {
      list.push_back(tombstone(from, std::nullopt, sequence));
    } else if (const std::string to = any_key(); from < to) {
      list.push_back(tombstone(from, to, sequence));
    }
  }
  return list;
}

/// The answer by a look at every tombstone; 0 if there is none.
Sequence covering(std::span<const RangeTombstone> list, std::string_view key, Sequence moment) {
  Sequence newest = {};
  for (const RangeTombstone& each : list) {
    if (each.range.contains(key) && each.sequence <= moment) newest = std::max(newest, each.sequence);
  }
  return newest;
}

TEST(RangeTombstones, AnswerForEveryKeyAndMomentAsALookAtEachDoes) {
  std::mt19937 random(1);
  for (std::size_t count = 0; count < 40; ++count) {
    std::vector<RangeTombstone> list = random_tombstones(random, count);
    const Sequence last = list.empty() ? Sequence{} : list.back().sequence;
    std::ranges::shuffle(list, random);
    const RangeTombstones set(list);
    for (const std::string& key : all_keys()) {
      for (Sequence moment{}; moment <= last + 1; moment = moment + 1) {
        const RangeTombstone* const found = set.newest_covering(key, moment);
        ASSERT_EQ(found == nullptr ? Sequence{} : found->sequence, covering(list, key, moment));
      }
    }
  }
}

TEST(RangeTombstones, ThatAllOverlapTakeLittleMemory) {
  constexpr std::size_t kCount = 4096;
  std::vector<RangeTombstone> nested;
  for (std::size_t i = 0; i < kCount; ++i) {
    nested.push_back(tombstone(std::to_string(10'000 + i), std::to_string(90'000 - i), i + 1));
  }
  const RangeTombstones set(nested);
  EXPECT_LT(set.memory_bytes(), kCount * 400);
  EXPECT_EQ(set.newest_covering("12000", Sequence{kCount})->sequence, Sequence{2001});
  EXPECT_EQ(set.newest_covering("50000", Sequence{7})->sequence, Sequence{7});
}

TEST(RangeTombstones, OfAnEntryWithoutAValueHaveNoEnd) {
  EXPECT_EQ(range_tombstone_of({"a", "b", Sequence{7}, EntryKind::kRangeDelete}), tombstone("a", "b", 7));
  EXPECT_EQ(range_tombstone_of({"a", "", Sequence{7}, EntryKind::kRangeDelete}), tombstone("a", std::nullopt, 7));
}

TEST(RangeTombstones, FragmentsShowReadersTheSame) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    const std::vector<RangeTombstone> list = random_tombstones(random, random() % 12);
    const Sequence last = list.empty() ? Sequence{1} : list.back().sequence;
    std::vector<Sequence> snapshots;
    for (Sequence at{1}; at < last; at = at + 1) {
      if (random() % 4 == 0) snapshots.push_back(at);
    }
    snapshots.push_back(last);
    const std::vector<RangeTombstone> fragments = fragments_of(list, snapshots);
    // What a reader sees: whether an entry of any sequence is hidden from it.
    for (const std::string& key : all_keys()) {
      for (const Sequence snapshot : snapshots) {
        const Sequence before = covering(list, key, snapshot);
        const Sequence after = covering(fragments, key, snapshot);
        ASSERT_EQ(before, after) << round;
      }
    }
    for (std::size_t i = 1; i < fragments.size(); ++i) {
      const RangeTombstone& a = fragments[i - 1];
      const RangeTombstone& b = fragments[i];
      if (a.range == b.range) {
        ASSERT_GT(stripe_of(a.sequence, snapshots), stripe_of(b.sequence, snapshots));
      } else {
        ASSERT_TRUE(a.range.ends_before(b.range.from)) << "overlap in round " << round;
      }
    }
  }
}

TEST(RangeTombstones, FragmentsOfDeletesThatGrowAreOneWithoutSnapshots) {
  std::vector<RangeTombstone> list;
  for (std::uint64_t i = 1; i < 100; ++i) list.push_back(tombstone("a", std::to_string(1000 + i) + "z", i));
  for (std::uint64_t i = 1; i < 100; ++i) list[i - 1].range.from = "1";
  EXPECT_EQ(fragments_of(list, std::vector<Sequence>{Sequence{200}}),
            (std::vector<RangeTombstone>{tombstone("1", "1099z", 99)}));
}

TEST(RangeTombstones, FragmentsKeepASequenceForEachSnapshot) {
  const std::vector<RangeTombstone> list = {tombstone("a", "m", 5), tombstone("f", "z", 10), tombstone("f", "g", 7)};
  EXPECT_EQ(fragments_of(list, std::vector<Sequence>{Sequence{7}, Sequence{20}}),
            (std::vector<RangeTombstone>{tombstone("a", "f", 5), tombstone("f", "g", 10), tombstone("f", "g", 7),
                                         tombstone("g", "m", 10), tombstone("g", "m", 5), tombstone("m", "z", 10)}));
}

TEST(RangeTombstones, FragmentsAreCutAtBounds) {
  const std::vector<RangeTombstone> list = {tombstone("a", "f", 5), tombstone("f", std::nullopt, 10)};
  EXPECT_EQ(cut_fragments(list, {"c", "f"}), (std::vector<RangeTombstone>{tombstone("c", "f", 5)}));
  EXPECT_EQ(cut_fragments(list, {"c", "g"}),
            (std::vector<RangeTombstone>{tombstone("c", "f", 5), tombstone("f", "g", 10)}));
  EXPECT_EQ(cut_fragments(list, {"x", std::nullopt}), (std::vector<RangeTombstone>{tombstone("x", std::nullopt, 10)}));
  EXPECT_TRUE(cut_fragments(list, {"", "a"}).empty());
}

}  // namespace
}  // namespace tamis
