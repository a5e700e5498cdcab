#include "filter/range_filter_format.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "support/golden.h"
#include "support/seed.h"

namespace tamis {
namespace {

using KeySet = std::set<std::string>;

KeyHasher::Key hash_key() {
  KeyHasher::Key key{};
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i + 1);
  return key;
}

std::string bytes_for(const KeySet& keys, double bits_per_key = 16) {
  RangeFilterBuilder builder(bits_per_key, hash_key());
  for (const std::string& key : keys) builder.add(key);
  return builder.finish().value();
}

Result<RangeFilter> open(std::string_view bytes, const KeyHasher::Key& key = hash_key()) {
  return RangeFilter::open(AlignedBytes::copy_of(as_bytes(bytes)), key, "f");
}

RangeFilter filter_of(const KeySet& keys, double bits_per_key = 16) {
  return open(bytes_for(keys, bits_per_key)).value();
}

bool has_key(const KeySet& keys, const std::string& from, const std::string& to) {
  const auto first = keys.lower_bound(from);
  return first != keys.end() && *first < to;
}

std::string big_endian(std::uint64_t number) {
  std::string text;
  append_be(text, number);
  return text;
}

/// Text of a few different bytes, so that keys are often prefixes of others, or differ only in their last byte.
std::string random_text(std::mt19937_64& random, std::size_t longest) {
  static constexpr std::string_view kBytes("\0\x01/09az\xfe\xff", 9);
  std::string text(random() % (longest + 1), '\0');
  for (char& byte : text) byte = kBytes[random() % kBytes.size()];
  return text;
}

/// One of several shapes.
KeySet random_keys(std::mt19937_64& random) {
  KeySet keys;
  const std::size_t count = 1 + random() % (random() % 4 == 0 ? 5000 : 300);
  const std::uint64_t shape = random() % 6;
  const std::string common(random() % 3 == 0 ? random() % 200 : 0, '\xff');
  std::uint64_t time = random() >> 20;
  for (std::size_t i = 0; i < count; ++i) {
    time += 1 + random() % 1000;
    switch (shape) {
      case 0: keys.insert(common + big_endian(random())); break;
      case 1: keys.insert(common + big_endian(time)); break;
      case 2: keys.insert(common + fmt::format("{:013}", time)); break;
      case 3: keys.insert(common + random_text(random, 5)); break;
      case 4: keys.insert(common + random_text(random, 60)); break;
      default: keys.insert(fmt::format("https://{}.org/{}/{}", random() % 9, random_text(random, 3), time)); break;
    }
  }
  return keys;
}

/// A key, something near it, or anything.
std::string random_bound(std::mt19937_64& random, const std::vector<std::string>& keys) {
  std::string bound = keys[random() % keys.size()];
  switch (random() % 8) {
    case 0: return bound;
    case 1: return bound + '\0';
    case 2: return bound + '\xff';
    case 3: return bound.substr(0, random() % (bound.size() + 1));
    case 4: return random_text(random, 12);
    case 5: return {};
    default: break;
  }
  if (!bound.empty()) bound.back() = static_cast<char>(static_cast<unsigned char>(bound.back()) + random() % 3);
  return random() % 2 == 0 ? bound : bound + random_text(random, 3);
}

TEST(RangeFilter, Rule13_ARangeWithAKeyIsNeverDenied) {
  std::mt19937_64 random(test::base_seed(1300));
  for (int set = 0; set < 60; ++set) {
    const KeySet keys = random_keys(random);
    const std::vector<std::string> sorted(keys.begin(), keys.end());
    const RangeFilter filter = filter_of(keys, std::vector<double>{16, 8, 1, 32}[random() % 4]);
    EXPECT_EQ(filter.keys(), keys.size());
    for (const std::string& key : sorted) ASSERT_TRUE(filter.may_contain(key, key + '\0')) << set;
    for (int i = 0; i < 3000; ++i) {
      const std::string from = random_bound(random, sorted);
      const std::string to = random_bound(random, sorted);
      if (has_key(keys, from, to)) {
        ASSERT_TRUE(filter.may_contain(from, to)) << set;
      }
    }
  }
}

TEST(RangeFilter, AnEmptyRangeAndAnEmptySetHaveNothing) {
  const RangeFilter filter = filter_of({"a", "b"});
  EXPECT_FALSE(filter.may_contain("a", "a"));
  EXPECT_FALSE(filter.may_contain("b", "a"));
  EXPECT_FALSE(filter_of({}).may_contain("", "\xff"));
}

TEST(RangeFilter, RangesOutsideOfAllKeysAreDenied) {
  const RangeFilter filter = filter_of({"user/1", "user/5", "user/7"});
  EXPECT_FALSE(filter.may_contain("", "user/1"));
  EXPECT_FALSE(filter.may_contain("user/8", "zebra"));
  EXPECT_FALSE(filter.may_contain("user/1x", "user/5")) << "no key goes on so long";
  EXPECT_TRUE(filter.may_contain("", "zebra"));
}

/// How often it passes ranges of `length` numbers without a key, which begin where `begin` says.
struct Passed {
  double rate = 0;
  double ranges = 0;
};
template <typename Begin>
Passed passed_of(const RangeFilter& filter, const KeySet& keys, std::uint64_t length, Begin begin) {
  Passed passed;
  while (passed.ranges < 40'000) {
    const std::uint64_t first = begin();
    const std::string from = big_endian(first);
    const std::string to = big_endian(first + length);
    if (has_key(keys, from, to)) continue;
    ++passed.ranges;
    passed.rate += filter.may_contain(from, to) ? 1 : 0;
  }
  passed.rate /= passed.ranges;
  return passed;
}

TEST(RangeFilter, PassesAsManyRangesOfIntegersAsPredictedEvenBesideKeys) {
  std::mt19937_64 random(test::base_seed(1301));
  KeySet keys;
  while (keys.size() < 50'000) keys.insert(big_endian(random() >> 16));
  const std::vector<std::string> sorted(keys.begin(), keys.end());
  const auto anywhere = [&] { return random() >> 16; };
  const auto beside = [&] { return load_be<std::uint64_t>(sorted[random() % sorted.size()].data()) + 1; };
  for (const double bits : {12.0, 16.0}) {
    const RangeFilter filter = filter_of(keys, bits);
    EXPECT_LE(8.0 * static_cast<double>(filter.bytes().size()), bits * 50'000);
    EXPECT_GT(8.0 * static_cast<double>(filter.bytes().size()), (bits - 1.1) * 50'000);
    for (const std::uint64_t length : {1, 16, 200}) {
      const double predicted = filter.rate(length);
      for (const Passed& passed :
           {passed_of(filter, keys, length, anywhere), passed_of(filter, keys, length, beside)}) {
        const double sigma = std::sqrt(predicted * (1 - predicted) / passed.ranges);
        EXPECT_NEAR(passed.rate, predicted, 3 * sigma) << bits << " bits, " << length;
      }
    }
  }
}

TEST(RangeFilter, TellsDecimalTimestampsApartBesideKeysToo) {
  std::mt19937_64 random(test::base_seed(1302));
  KeySet keys;
  std::uint64_t time = 1'700'000'000'000;
  for (int i = 0; i < 20'000; ++i) keys.insert(fmt::format("event/{:013}", time += 1 + random() % 5000));
  const RangeFilter filter = filter_of(keys);
  int passed = 0;
  int ranges = 0;
  for (const std::string& key : keys) {
    const std::uint64_t next = std::stoull(key.substr(6)) + 1;
    const std::string from = fmt::format("event/{:013}", next);
    const std::string to = fmt::format("event/{:013}", next + 20);
    if (has_key(keys, from, to)) continue;
    ++ranges;
    passed += filter.may_contain(from, to) ? 1 : 0;
  }
  EXPECT_GT(ranges, 15'000);
  EXPECT_LT(passed, ranges / 100);
}

TEST(RangeFilter, EveryFlippedBitEveryCutAndAnotherHashKeyAreRefused) {
  KeySet keys;
  for (int i = 0; i < 40; ++i) keys.insert(fmt::format("key/{:03}", 7 * i));
  std::string bytes = bytes_for(keys);
  ASSERT_TRUE(open(bytes).ok());
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const auto flip = [&] { bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8)); };
    flip();
    const bool is_version = bit / 64 == 1 && bit % 64 < 16;
    ASSERT_EQ(open(bytes).status().code(), is_version ? StatusCode::kNotSupported : StatusCode::kCorruption) << bit;
    flip();
  }
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    ASSERT_EQ(open(bytes.substr(0, size)).status().code(), StatusCode::kCorruption) << size;
  }
  KeyHasher::Key other = hash_key();
  other[3] ^= std::byte{1};
  EXPECT_EQ(open(bytes, other).status().code(), StatusCode::kCorruption) << "it would deny keys";
}

TEST(RangeFilter, KeysThatBeginAlikeForKilobytesGetNone) {
  RangeFilterBuilder builder(16, hash_key());
  for (int i = 0; i < 3000; ++i) builder.add(std::string(5000, 'k') + fmt::format("{:04}", i));
  EXPECT_FALSE(builder.finish().has_value());
}

TEST(RangeFilter, LongKeysThatDifferEarlyAreKeptShort) {
  KeySet keys;
  for (int i = 0; i < 3000; ++i) keys.insert(fmt::format("{:04}", 3 * i) + std::string(9000, 'k'));
  const RangeFilter filter = filter_of(keys);
  EXPECT_LT(filter.bytes().size(), 3U * 3000U);
  EXPECT_FALSE(filter.may_contain("0004", "0006"));
  EXPECT_TRUE(filter.may_contain("0003", "0004"));
}

KeySet golden_keys() {
  KeySet keys = {"", std::string("\0\xff", 2)};
  for (int i = 0; i < 150; ++i) keys.insert(fmt::format("city/{:04}", i * i));
  for (int i = 0; i < 2000; ++i) keys.insert(fmt::format("https://example.org/a/long/path/{}/{}", i % 7, i * 31));
  return keys;
}

TEST(RangeFilter, GoldenBytesAreReproducedAndRead) {
  const KeySet keys = golden_keys();
  const std::string golden = test::golden_file("tests/golden/ranges/cities.ranges", bytes_for(keys));
  EXPECT_TRUE(golden == bytes_for(keys)) << "this build writes other bytes than version 1 did";
  const RangeFilter filter = open(golden).value();
  EXPECT_GT(filter.groups(), 2U);
  for (const std::string& key : keys) EXPECT_TRUE(filter.may_contain(key, key + '\0'));
  EXPECT_FALSE(filter.may_contain("city/0002", "city/0004"));
}

TEST(RangeFilter, ASmallGoldenFilterIsReproducedAndRead) {
  const KeySet keys = {"city/1200", "city/1207", "city/1288", "city/1301"};
  test::expect_golden("tests/golden/ranges/four.ranges", bytes_for(keys));
  EXPECT_FALSE(filter_of(keys).may_contain("city/1202", "city/1204"));
}

}  // namespace
}  // namespace tamis
