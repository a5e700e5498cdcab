#include <gtest/gtest.h>
#include <tamis/ordered.h>

#include <bit>
#include <cmath>
#include <compare>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include "base/random.h"

namespace tamis {
namespace {

template <typename Number>
std::vector<Number> numbers(SplitMix64& random) {
  using Limits = std::numeric_limits<Number>;
  std::vector<Number> all = {Limits::lowest(), Limits::max(), Number{0}, Number{1}};
  if constexpr (std::is_signed_v<Number>) all.push_back(static_cast<Number>(-1));
  if constexpr (std::is_floating_point_v<Number>) {
    all.insert(all.end(), {Limits::infinity(), -Limits::infinity(), Limits::denorm_min(), -Limits::min()});
  }
  while (all.size() < 200) {
    if constexpr (std::is_floating_point_v<Number>) {
      using Bits = std::conditional_t<sizeof(Number) == 4, std::uint32_t, std::uint64_t>;
      const auto drawn = std::bit_cast<Number>(static_cast<Bits>(random.next()));
      if (!std::isnan(drawn)) all.push_back(drawn);
    } else {
      all.push_back(static_cast<Number>(random.next() >> random.below(64)));
    }
  }
  return all;
}

/// Short strings over few bytes: many share prefixes, and many hold what the encoding escapes.
std::string text(SplitMix64& random) {
  constexpr char kBytes[] = {'\0', '\1', 'a', '\xff'};
  std::string text(random.below(5), ' ');
  for (char& byte : text) byte = kBytes[random.below(4)];
  return text;
}

template <typename Value>
void expect_ordered(const std::vector<Value>& values) {
  for (const Value& a : values) {
    const auto back = unpack_key<Value>(pack_key(a));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(std::get<0>(*back), a);
    for (const Value& b : values) EXPECT_EQ(pack_key(a) < pack_key(b), a < b);
  }
}

template <typename Number>
class OrderedNumbers : public testing::Test {};
using Numbers = testing::Types<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t, std::int32_t,
                               std::uint64_t, std::int64_t, float, double>;
TYPED_TEST_SUITE(OrderedNumbers, Numbers);

TYPED_TEST(OrderedNumbers, KeepTheirOrderAndComeBack) {
  SplitMix64 random(1);
  expect_ordered(numbers<TypeParam>(random));
}

TEST(Ordered, StringsKeepTheirOrderAndComeBack) {
  SplitMix64 random(2);
  std::vector<std::string> texts;
  for (int i = 0; i < 400; ++i) texts.push_back(text(random));
  expect_ordered(texts);
}

TEST(Ordered, TuplesOrderByTheirFirstDifference) {
  SplitMix64 random(3);
  using Tuple = std::tuple<std::string, std::int32_t, std::string, double, bool>;
  std::vector<Tuple> tuples;
  for (int i = 0; i < 400; ++i) {
    tuples.emplace_back(text(random), static_cast<std::int32_t>(random.below(3)) - 1, text(random),
                        static_cast<double>(random.below(3)) - 1.5, random.below(2) == 1);
  }
  const auto packed = [](const Tuple& tuple) {
    return std::apply([](const auto&... values) { return pack_key(values...); }, tuple);
  };
  for (const Tuple& a : tuples) {
    const auto back = unpack_key<std::string, std::int32_t, std::string, double, bool>(packed(a));
    ASSERT_TRUE(back.has_value());
    EXPECT_EQ(*back, a);
    EXPECT_TRUE(packed(a).starts_with(pack_key(std::get<0>(a), std::get<1>(a))));
    for (const Tuple& b : tuples) EXPECT_EQ(packed(a) < packed(b), a < b);
  }
}

TEST(Ordered, ZerosAndNansHaveTheirPlaces) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_LT(pack_key(-0.0), pack_key(0.0));
  EXPECT_LT(pack_key(infinity), pack_key(std::copysign(nan, 1.0)));
  EXPECT_LT(pack_key(std::copysign(nan, -1.0)), pack_key(-infinity));
  EXPECT_TRUE(std::signbit(std::get<0>(*unpack_key<double>(pack_key(-0.0)))));
}

TEST(Ordered, WhatPackKeyDidNotMakeIsRefused) {
  using namespace std::string_literals;
  EXPECT_FALSE(unpack_key<std::uint32_t>("abc"));
  EXPECT_FALSE(unpack_key<std::uint32_t>("abcde"));
  EXPECT_FALSE(unpack_key<bool>("\2"));
  EXPECT_FALSE(unpack_key<std::string>("no end"));
  EXPECT_FALSE(unpack_key<std::string>("zero\0"s));
  EXPECT_FALSE(unpack_key<std::string>("bad\0x"s));
  EXPECT_FALSE(unpack_key<std::string>("behind\0\1x"s));
  EXPECT_TRUE(unpack_key<>(""));
}

}  // namespace
}  // namespace tamis
