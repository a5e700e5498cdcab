#include "entry/entry.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tamis {
namespace {

using namespace std::string_view_literals;

TEST(EntryPosition, StandsBytewiseAscendingThenNewestFirst) {
  const std::vector<EntryPosition> in_order = {
      {""sv, kMaxSequence},    {""sv, Sequence{0}},        {"\0"sv, Sequence{9}},   {"a"sv, kMaxSequence},
      {"a"sv, Sequence{7}},    {"a"sv, Sequence{6}},       {"a"sv, Sequence{0}},    {"a\0"sv, Sequence{9}},
      {"b"sv, Sequence{1}},    {"\x7f"sv, Sequence{1}},    {"\x80"sv, Sequence{1}}, {"\xff"sv, Sequence{2}},
      {"\xff"sv, Sequence{1}}, {"\xff\xff"sv, Sequence{3}}};
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    for (std::size_t j = 0; j < in_order.size(); ++j) {
      EXPECT_EQ(in_order[i] <=> in_order[j], i <=> j) << i << " and " << j;
      EXPECT_EQ(in_order[i] == in_order[j], i == j);
    }
  }
}

TEST(KeyHead, NeverContradictsTheOrderOfTheKeys) {
  std::mt19937_64 random(1);
  std::vector<std::string> keys = {""};
  for (int i = 0; i < 600; ++i) {  // Few letters and lengths: many equal heads, many that differ by a zero byte.
    std::string key;
    for (std::uint64_t left = random() % 12; left > 0; --left) key.push_back("\x00\x01\x7f\x80\xff"[random() % 5]);
    keys.push_back(key);
  }
  for (const std::string& a : keys) {
    for (const std::string& b : keys) {
      ASSERT_TRUE(key_head(a) >= key_head(b) || a < b);
      ASSERT_TRUE(key_head(a) == key_head(b) || a.substr(0, 8) != b.substr(0, 8));
    }
  }
}

TEST(KeyHead, IsTheFirstEightBytesWithZerosBehind) {
  const std::string key = "\x01\x02\x03\x04\x05\x06\x07\x08\x09";
  for (std::size_t size = 0; size <= key.size(); ++size) {
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < 8; ++i) expected = expected << 8 | (i < size ? static_cast<std::uint64_t>(i + 1) : 0);
    EXPECT_EQ(key_head(std::string_view(key).substr(0, size)), expected);
  }
}

TEST(EntryKind, RangeDeletesAreInBatchesAloneAndPointersInBlocksAlone) {
  for (int number = 0; number < 256; ++number) {
    const bool is_in_both = number == 1 || number == 2 || number == 3 || number == 9;
    EXPECT_EQ(is_batch_kind(static_cast<std::uint8_t>(number)), is_in_both || number == 4);
    EXPECT_EQ(is_entry_kind(static_cast<std::uint8_t>(number)), is_in_both || number == 17 || number == 25);
  }
}

TEST(EntryKind, SaysWhatAnUnknownOneIs) {
  const std::string known = ", which this build does not know; use a newer tamis";
  EXPECT_EQ(unknown_kind_text(3), "entry kind 3: a merge operand" + known);
  EXPECT_EQ(unknown_kind_text(4), "entry kind 4: a range delete" + known);
  EXPECT_EQ(unknown_kind_text(9), "entry kind 9: a put that expires" + known);
  EXPECT_EQ(unknown_kind_text(17), "entry kind 17: a put with its value apart" + known);
  EXPECT_EQ(unknown_kind_text(25), "entry kind 25: a put that expires and has its value apart" + known);
  EXPECT_EQ(unknown_kind_text(11), "entry kind 11: a merge operand that expires" + known);
  for (const int kind : {0, 5, 6, 7, 33, 255}) {
    EXPECT_EQ(unknown_kind_text(static_cast<std::uint8_t>(kind)), "entry kind " + std::to_string(kind) + known);
  }
}

}  // namespace
}  // namespace tamis
