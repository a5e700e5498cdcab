#include "entry/empty_ranges.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tamis {
namespace {

constexpr KeyspaceId kHere{3};
const KeyRange kAll = {};

EmptyRange empty(std::string from, std::optional<std::string> to, std::uint64_t sequence, std::uint64_t time = 0) {
  return {kHere, {std::move(from), std::move(to)}, {Sequence{sequence}, time}};
}

/// As "from-to@sequence", of all that a reader of this moment knows.
std::vector<std::string> known(const EmptyRanges& ranges, std::uint64_t sequence, std::uint64_t time = 0,
                               KeyspaceId keyspace = kHere) {
  std::vector<std::string> texts;
  for (const auto& range : ranges.known(keyspace, kAll, {Sequence{sequence}, time})) {
    texts.push_back(range->range().from + "-" + range->range().to.value_or("") + "@" +
                    std::to_string(number_of(range->moment.sequence)));
  }
  return texts;
}
using Texts = std::vector<std::string>;

TEST(EmptyRanges, AreKnownToReadersOfTheirMomentAndLaterOnes) {
  EmptyRanges ranges;
  EXPECT_TRUE(ranges.empty());
  ranges.add(empty("a", "c", 10, 500));
  EXPECT_FALSE(ranges.empty());
  EXPECT_EQ(known(ranges, 9, 500), Texts());
  EXPECT_EQ(known(ranges, 10, 499), Texts()) << "what had expired by then may be there at an earlier time";
  EXPECT_EQ(known(ranges, 10, 500), Texts({"a-c@10"}));
  EXPECT_EQ(known(ranges, 11, 501), Texts({"a-c@10"}));
  EXPECT_EQ(known(ranges, 11, 501, KeyspaceId{4}), Texts());
}

TEST(EmptyRanges, AreThoseOfTheRangeThatIsRead) {
  EmptyRanges ranges;
  ranges.add(empty("e", "g", 1));
  ranges.add(empty("a", "c", 1));
  const auto names = [&](KeyRange range) {
    std::string all;
    for (const auto& found : ranges.known(kHere, range, {})) all += found->range().from;
    return all;
  };
  EXPECT_EQ(names(kAll), "ae");
  EXPECT_EQ(names({"b", "c"}), "a");
  EXPECT_EQ(names({"c", "e"}), "");
  EXPECT_EQ(names({"c", std::nullopt}), "e");
}

TEST(EmptyRanges, ReplaceWhatWasKnownAboutTheSameKeys) {
  EmptyRanges ranges;
  ranges.add(empty("b", "f", 10));
  ranges.add(empty("c", "d", 20));
  EXPECT_EQ(known(ranges, 30), Texts({"b-c@10", "c-d@20", "d-f@10"}));
  ranges.add(empty("a", "e", 30));
  EXPECT_EQ(known(ranges, 30), Texts({"a-e@30", "e-f@10"}));
  ranges.add(empty("", std::nullopt, 40));
  EXPECT_EQ(known(ranges, 40), Texts({"-@40"}));
  ranges.add(empty("m", "n", 41));
  EXPECT_EQ(known(ranges, 41), Texts({"-m@40", "m-n@41", "n-@40"}));
}

TEST(EmptyRanges, Rule25_ARewriteKeepsTheSequencesAfterTheirMoments) {
  EmptyRanges ranges;
  ranges.add(empty("a", "c", 10));
  ranges.add(empty("e", "g", 20));
  EXPECT_EQ(ranges.begin_rewrite(kHere, kAll, Sequence{30}), Sequence{10});
  EXPECT_EQ(ranges.begin_rewrite(KeyspaceId{4}, kAll, Sequence{30}), Sequence{30});
}

TEST(EmptyRanges, Rule25_ARewriteOfOtherKeysKeepsNoSequences) {
  EmptyRanges ranges;
  ranges.add(empty("a", "c", 10));
  EXPECT_EQ(ranges.begin_rewrite(kHere, {"c", std::nullopt}, Sequence{30}), Sequence{30});
}

TEST(EmptyRanges, Rule25_WhatWasFoundBeforeARewriteBeganIsNotKept) {
  EmptyRanges ranges;
  EXPECT_EQ(ranges.begin_rewrite(kHere, kAll, Sequence{30}), Sequence{30});
  ranges.add(empty("a", "c", 29));
  EXPECT_TRUE(ranges.empty()) << "an entry of sequence 30 may be written with sequence 0";
  ranges.add(empty("a", "c", 30));
  EXPECT_EQ(known(ranges, 30), Texts({"a-c@30"}));
}

TEST(EmptyRanges, AreForgottenIfTwoRewritesPassWithoutThem) {
  EmptyRanges ranges;
  ranges.add(empty("a", "c", 10));
  EXPECT_EQ(ranges.begin_rewrite(kHere, kAll, Sequence{20}), Sequence{10});
  ranges.add(empty("a", "c", 15));  // Found again.
  EXPECT_EQ(ranges.begin_rewrite(kHere, kAll, Sequence{20}), Sequence{15});
  EXPECT_EQ(ranges.begin_rewrite(kHere, kAll, Sequence{20}), Sequence{20});
  EXPECT_TRUE(ranges.empty());
}

/// Such as a compaction of each part of a level.
TEST(EmptyRanges, AreKeptBesideTheKeysOfTwoRewrites) {
  EmptyRanges ranges;
  ranges.add(empty("a", "g", 10));
  EXPECT_EQ(ranges.begin_rewrite(kHere, {"a", "c"}, Sequence{20}), Sequence{10});
  EXPECT_EQ(ranges.begin_rewrite(kHere, {"c", "e"}, Sequence{20}), Sequence{10});
  EXPECT_EQ(known(ranges, 20), Texts({"a-e@10", "e-g@10"}));
  EXPECT_EQ(ranges.begin_rewrite(kHere, {"b", "d"}, Sequence{20}), Sequence{20});
  EXPECT_EQ(known(ranges, 20), Texts({"a-b@10", "d-e@10", "e-g@10"}));
}

TEST(EmptyRanges, AreNotDividedIntoTooMany) {
  EmptyRanges ranges;
  ranges.add(empty("a", "z", 10));
  for (std::size_t i = 0; i < 2 * EmptyRanges::kMaxRanges; ++i) {
    const std::string from = "b" + std::to_string(1000 + 2 * i);
    (void)ranges.begin_rewrite(kHere, {from, from + "x"}, Sequence{20});
    EXPECT_LE(known(ranges, 20).size(), EmptyRanges::kMaxRanges);
  }
}

TEST(EmptyRanges, AreFewAndShort) {
  EmptyRanges ranges;
  for (std::uint64_t i = 0; i < 2 * EmptyRanges::kMaxRanges; ++i) {
    const std::string key = std::to_string(1000 + i);
    ranges.add(empty(key, key + "x", i + 1));
  }
  EXPECT_EQ(known(ranges, 1000).size(), EmptyRanges::kMaxRanges);
  EXPECT_EQ(known(ranges, 1000).front(), "1064-1064x@65") << "the oldest ones go first";
  EmptyRanges none;
  none.add(empty("a", std::string(EmptyRanges::kMaxKeyBytes + 1, 'b'), 1));
  none.add(empty("b", "a", 1));
  EXPECT_TRUE(none.empty());
}

}  // namespace
}  // namespace tamis
