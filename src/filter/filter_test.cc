// What the public API promises beyond the contract of the kinds: seeds, prefixes, tiny sets, counted targets.
#include "tamis/filter.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>
#include <string>

#include "filter/filter_format.h"
#include "support/filter_rate.h"
#include "support/filter_sets.h"

namespace tamis {
namespace {

using test::build_filter;
using test::HashSet;

TEST(LineFilter, ReachesTheCountedRates) {
  for (const auto& [bits, most] : {std::pair{10.0, 0.0097}, std::pair{16.0, 0.00086}}) {
    const HashSet source(50);
    const Filter filter = build_filter({.kind = "line", .bits_per_key = bits}, source.members(1'000'000));
    constexpr std::uint64_t kProbes = 16'000'000;
    EXPECT_LE(static_cast<double>(test::count_maybe(filter, source.strangers(kProbes))) / kProbes, most)
        << bits << " bits";
    EXPECT_LE(static_cast<double>(filter.info().bits) / 1e6, bits * 1.0001);
  }
}

TEST(TinySets, TakeSixteenBitsAKeyAtATenthOfAPercent) {
  for (const char* kind : {"line", "fuse", "ribbon"}) {
    for (const std::uint64_t keys : {1, 5, 10, 33, 64}) {
      const Filter filter = build_filter({.kind = kind, .target_rate = 0.001}, HashSet(keys).members(keys));
      EXPECT_LE(static_cast<double>(filter.info().bits) / static_cast<double>(keys), 17) << kind << " " << keys;
      EXPECT_EQ(filter.info().kind, kind);
      const std::uint64_t wrong = test::count_maybe(filter, HashSet(keys).strangers(1'000'000));
      EXPECT_LE(static_cast<double>(wrong) / 1e6, 0.00112) << kind << " " << keys;
    }
  }
}

TEST(TinySets, AreListsOnlyWhereThatIsSmaller) {
  EXPECT_EQ(build_filter({.kind = "line", .target_rate = 0.001}, HashSet(1).members(20)).info().layout, "list");
  EXPECT_EQ(build_filter({.kind = "line", .target_rate = 0.5}, HashSet(1).members(64)).info().layout, "");
  EXPECT_EQ(build_filter({.kind = "line", .target_rate = 0.0001}, HashSet(1).members(60)).info().layout, "")
      << "a list of 60 would be wrong once in a thousand";
}

TEST(FilterSeed, DecidesTheHash) {
  const auto hash_with = [](FilterSeed seed) { return FilterBuilder({.seed = seed}).hash("zebra"); };
  std::array<std::byte, 16> key = {};
  std::set<std::uint64_t> hashes = {hash_with({.seed = 0}), hash_with({.seed = 1}), hash_with({.key = key})};
  key[15] = std::byte{1};
  hashes.insert(hash_with({.key = key}));
  EXPECT_EQ(hashes.size(), 4U);
  EXPECT_EQ(hash_with({.seed = 0}), 0x87efcdb6ed1bce67U) << "seed 0 is plain XXH3-64, for ever";
}

/// The bytes of a filter must not depend on the order in which a prediction adds its terms.
TEST(FilterFormat, RatesAreStoredWithTwentyBits) {
  for (const double rate : {1e-18, 3.7e-7, 0.0083766, 0.01, 0.3, 0.999}) {
    const double stored = rate_in_header(rate);
    EXPECT_LE(stored, rate);
    EXPECT_GT(stored, rate * (1 - 0x1p-18));
    EXPECT_EQ(std::bit_cast<std::uint64_t>(stored) % (std::uint64_t{1} << 33), 0U);
    EXPECT_EQ(rate_in_header(stored), stored);
  }
  for (const double rate : {0x1p-60, 0.0078125, 0.25, 0.75, 1.0}) {
    EXPECT_EQ(rate_in_header(rate), rate);
    EXPECT_EQ(rate_in_header(rate * (1 - 1e-13)), rate) << "short by rounding";
  }
  EXPECT_EQ(rate_in_header(0), 0);
  const Filter filter = build_filter({.kind = "line", .bits_per_key = 10.0}, HashSet(1).members(150));
  EXPECT_EQ(filter.info().designed_rate, rate_in_header(filter.info().designed_rate));
  const Result<MutableFilter> changed = MutableFilter::create({.kind = "bloom", .capacity = 150});
  EXPECT_EQ(changed->info().designed_rate, rate_in_header(changed->info().designed_rate));
}

TEST(FilterBuilder, RefusesUnknownKindsAndDoubleMeasures) {
  EXPECT_EQ(FilterBuilder({.kind = "blom"}).finish().status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FilterBuilder({.target_rate = 0.1, .bits_per_key = 10.0}).finish().status().code(),
            StatusCode::kInvalidArgument);
}

TEST(FilterBuilder, SizesByMemoryWithTheHeaderIncluded) {
  for (const char* kind : {"line", "bloom", "split", "cuckoo", "counting", "scalable"}) {
    const Filter filter = build_filter({.kind = kind, .memory_bytes = 50'000}, HashSet(1).members(10'000));
    EXPECT_LE(filter.bytes().size(), 50'000U) << kind;
    EXPECT_GE(filter.bytes().size(), 40'000U) << kind;
  }
}

TEST(FilterBuilder, CountsEqualNeighboursOnce) {
  FilterBuilder builder;
  for (int i = 0; i < 10; ++i) builder.add("same");
  builder.add("other");
  EXPECT_EQ(builder.keys(), 2U);
}

TEST(Filter, AnswersManyKeysAsOne) {
  FilterBuilder builder({.target_rate = 0.1});
  std::vector<std::string> names;
  for (int i = 0; i < 1000; ++i) names.push_back("name" + std::to_string(i));
  for (int i = 0; i < 500; ++i) builder.add(names[static_cast<std::size_t>(i)]);
  const Filter filter = *builder.finish();
  const std::vector<std::string_view> views(names.begin(), names.end());
  std::vector<std::uint64_t> answers(16);
  filter.may_contain_many(views, answers.data());
  for (std::size_t i = 0; i < views.size(); ++i) {
    ASSERT_EQ((answers[i / 64] >> (i % 64)) & 1, filter.may_contain(views[i])) << i;
  }
}

TEST(Filter, SaysWhyAFileCannotBeOpened) {
  EXPECT_EQ(Filter::open("/nonexistent/filter").status().code(), StatusCode::kIoError);
  const Result<Filter> directory = Filter::open(testing::TempDir());
  EXPECT_EQ(directory.status().code(), StatusCode::kIoError);
  EXPECT_NE(directory.status().message().find("is a folder"), std::string::npos);
}

TEST(PrefixRule, ReadsAndPrintsItsForms) {
  for (const char* text : {"none", "first:1", "first:65535", "until:/", "until:0x00", "until:0xff"}) {
    const Result<PrefixRule> rule = PrefixRule::parse(text);
    ASSERT_TRUE(rule.ok()) << text;
    EXPECT_EQ(rule->to_text(), text);
  }
  for (const char* text :
       {"", "first:", "first:0", "first:65536", "first:-1", "first:3x", "until:", "until:ab", "until:0xg0", "last:3"}) {
    EXPECT_EQ(PrefixRule::parse(text).status().code(), StatusCode::kInvalidArgument) << text;
  }
}

TEST(PrefixRule, CutsKeys) {
  const PrefixRule first = *PrefixRule::parse("first:3");
  EXPECT_EQ(first.prefix_of("abcdef"), "abc");
  EXPECT_EQ(first.prefix_of("ab"), "ab");
  const PrefixRule until = *PrefixRule::parse("until:/");
  EXPECT_EQ(until.prefix_of("usr/lib/x"), "usr/");
  EXPECT_EQ(until.prefix_of("usr"), "usr");
}

/// A prefix filter may answer no only if no key with that prefix was added, however the prefix is cut.
TEST(PrefixFilter, NeverHidesAKeyFromAScan) {
  for (const char* text : {"none", "first:4", "until:/"}) {
    FilterBuilder builder({.kind = "bloom", .target_rate = 0.001, .prefix_rule = *PrefixRule::parse(text)});
    const std::vector<std::string> keys = {"a/1", "a/2", "abcd/ef", "abc", "", "/x", "longprefix-without-end"};
    for (const std::string& key : keys) builder.add(key);
    const Filter filter = *builder.finish();
    for (const std::string& key : keys) {
      EXPECT_TRUE(filter.may_contain(key)) << text << " " << key;
      for (std::size_t cut = 0; cut <= key.size(); ++cut) {
        EXPECT_TRUE(filter.may_contain_prefix(key.substr(0, cut))) << text << " " << key << " cut to " << cut;
      }
    }
  }
}

TEST(PrefixFilter, SaysNoToPrefixesThatAreNotThere) {
  FilterBuilder builder({.target_rate = 0.001, .prefix_rule = *PrefixRule::parse("until:/")});
  for (int i = 0; i < 10'000; ++i) builder.add("user" + std::to_string(i % 100) + "/" + std::to_string(i));
  const Filter filter = *builder.finish();
  int maybe = 0;
  for (int i = 100; i < 1100; ++i) maybe += filter.may_contain_prefix("user" + std::to_string(i) + "/abc") ? 1 : 0;
  EXPECT_LE(maybe, 8);
  EXPECT_TRUE(filter.may_contain_prefix("user")) << "too short to decide";
}

}  // namespace
}  // namespace tamis
