// What `growing` promises beyond the contract of mutable kinds: its rate and size while it doubles, and that entries
// that have given up all their bits are neither lost nor removed for another key.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/random.h"
#include "support/filter_sets.h"
#include "support/sealed_again.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

using test::HashSet;

MutableFilter make(FilterOptions options) {
  options.kind = "growing";
  Result<MutableFilter> filter = MutableFilter::create(options);
  EXPECT_TRUE(filter.ok()) << filter.status().to_text();
  return *std::move(filter);
}

/// A filter whose entries have so few bits that the oldest have none left after `hash_bits` doublings.
MutableFilter make_short(std::uint64_t hash_bits) {
  constexpr std::uint64_t kBlocks = 2;
  return make({.memory_bytes = 128 + kBlocks * (18 + 8 * (hash_bits + 1)) + 8});
}

double rate_over(const MutableFilter& filter, const HashSet& source) {
  std::uint64_t maybe = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) maybe += filter.may_contain_hash(source.stranger(i)) ? 1 : 0;
  return static_cast<double>(maybe) / 100'000;
}

bool holds(const MutableFilter& filter, const HashSet& source, std::uint64_t first, std::uint64_t last) {
  while (first < last && filter.may_contain_hash(source.member(first))) ++first;
  return first == last;
}

double bits_per_key(const MutableFilter& filter) {
  return static_cast<double>(filter.info().bits) / static_cast<double>(filter.info().keys);
}

/// At a power of two the table is half full, and largest for its keys. From 64 keys on, the bits are bounded.
TEST(GrowingFilter, KeepsItsRateAndItsBitsAtEveryPowerOfTwo) {
  const HashSet source(1);
  for (const auto& [target, most_bits] : {std::pair{0.1, 23.0}, std::pair{0.01, 29.0}, std::pair{0.001, 36.0}}) {
    MutableFilter filter = make({.target_rate = target});
    MutableFilter scalable = *MutableFilter::create({.kind = "scalable", .target_rate = target});
    std::uint64_t added = 0;
    for (std::uint64_t keys = 1; keys <= (1 << 18); keys *= 2) {
      for (; added < keys; ++added) {
        ASSERT_TRUE(filter.add_hash(source.member(added)).ok());
        ASSERT_TRUE(scalable.add_hash(source.member(added)).ok());
      }
      EXPECT_LE(rate_over(filter, source), target) << keys;
      EXPECT_LE(filter.estimated_rate(), target) << keys;
      EXPECT_LT(filter.info().bits, scalable.info().bits) << keys;
      if (keys >= 4096) {
        EXPECT_LE(bits_per_key(filter), most_bits) << keys;
        EXPECT_LE(bits_per_key(filter), 0.76 * bits_per_key(scalable)) << keys;
      }
    }
    EXPECT_TRUE(holds(filter, source, 0, added));
    const double estimated = filter.estimated_rate();
    EXPECT_NEAR(rate_over(filter, source), estimated, 4 * std::sqrt(estimated / 100'000));
  }
}

TEST(GrowingFilter, ForgetsRemovedKeysOfEveryAge) {
  const HashSet source(2);
  MutableFilter filter = make({.target_rate = 0.001});
  for (std::uint64_t i = 0; i < 100'000; ++i) ASSERT_TRUE(filter.add_hash(source.member(i)).ok());
  for (std::uint64_t i = 0; i < 100'000; i += 2) ASSERT_TRUE(*filter.remove_hash(source.member(i))) << i;
  std::uint64_t still = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const bool found = filter.may_contain_hash(source.member(i));
    ASSERT_TRUE(found || i % 2 == 0) << i;
    if (i % 2 == 0 && found) ++still;
  }
  EXPECT_LE(still, 50U);
  EXPECT_EQ(filter.info().keys, 50'000U);
  EXPECT_LE(rate_over(filter, source), 0.0005);
}

/// Compared with a list of keys while the table doubles several times and entries run out of bits. Old and new keys are
/// removed; each answer for a key that is there must be maybe.
TEST(GrowingFilter, AgreesWithASetWhileEntriesRunOutOfBits) {
  for (const std::uint64_t hash_bits : {2, 3, 5}) {
    MutableFilter filter = make_short(hash_bits);
    const HashSet source(3 + hash_bits);
    SplitMix64 random(hash_bits);
    std::vector<std::uint64_t> inside;
    std::uint64_t next = 0;
    while (inside.size() < 3'000) {
      if (inside.empty() || random.below(100) < 62) {
        const std::uint64_t again = random.below(10) == 0 && !inside.empty() ? inside[random.below(inside.size())] : 0;
        inside.push_back(again != 0 ? again : source.member(next++));
        const Status added = filter.add_hash(inside.back());
        if (!added.ok()) {
          EXPECT_EQ(hash_bits, 2U) << added.to_text();
          inside.pop_back();
          break;
        }
      } else {
        std::swap(inside[random.below(inside.size())], inside.back());
        ASSERT_TRUE(*filter.remove_hash(inside.back()));
        inside.pop_back();
      }
      if (inside.size() % 211 == 0) {
        for (const std::uint64_t hash : inside) ASSERT_TRUE(filter.may_contain_hash(hash)) << inside.size();
        ASSERT_TRUE(Filter::from_bytes(filter.freeze().bytes()).ok()) << inside.size();
      }
    }
    EXPECT_GT(inside.size(), 200U);
    for (const std::uint64_t hash : inside) ASSERT_TRUE(filter.may_contain_hash(hash));
  }
}

/// Of two keys whose entries are one the beginning of the other, each can be removed first.
TEST(GrowingFilter, RemovesTheLongestEntryThatMatches) {
  const HashSet source(7);
  MutableFilter filter = make_short(4);
  std::uint64_t old_keys = 0;
  for (; old_keys < 60; ++old_keys) ASSERT_TRUE(filter.add_hash(source.member(old_keys)).ok());
  for (std::uint64_t i = 60; i < 220; ++i) ASSERT_TRUE(filter.add_hash(source.member(i)).ok());
  // The old entries have two bits less: many later keys match one of them as well as their own.
  for (std::uint64_t i = 60; i < 220; ++i) ASSERT_TRUE(*filter.remove_hash(source.member(i))) << i;
  EXPECT_TRUE(holds(filter, source, 0, old_keys));
}

TEST(GrowingFilter, SaysWhenItCannotGrowAndIsUnchangedThen) {
  const HashSet source(8);
  MutableFilter filter = make_short(1);
  std::uint64_t added = 0;
  while (filter.add_hash(source.member(added)).ok()) ++added;
  EXPECT_GE(added, 100U);
  const Filter before = filter.freeze();
  EXPECT_EQ(filter.add_hash(source.member(added)).code(), StatusCode::kOutOfSpace);
  EXPECT_TRUE(as_text(filter.freeze().bytes()) == as_text(before.bytes()));
  EXPECT_TRUE(holds(filter, source, 0, added));
}

TEST(GrowingFilter, KeepsAKeyForGoodThatWasAddedSixteenTimes) {
  MutableFilter filter = make({});
  ASSERT_TRUE(filter.add("once").ok());
  for (int i = 0; i < 1'000; ++i) ASSERT_TRUE(filter.add("often").ok());
  EXPECT_LE(filter.estimated_keys(), 17);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(*filter.remove("often"));
  EXPECT_TRUE(filter.may_contain("often"));
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(filter.add("fifteen").ok());
  for (int i = 0; i < 15; ++i) EXPECT_TRUE(*filter.remove("fifteen"));
  EXPECT_FALSE(filter.may_contain("fifteen"));
  EXPECT_TRUE(*filter.remove("once"));
  EXPECT_FALSE(filter.may_contain("once"));
}

/// Whatever a body holds, it is refused, or every call stays inside its bytes.
TEST(GrowingFilter, StaysInsideItsBytesWhateverTheyAre) {
  const HashSet source(9);
  MutableFilter made = make({.target_rate = 0.1});
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(made.add_hash(source.member(i)).ok());
  const Filter frozen = made.freeze();
  int opened = 0;
  for (std::size_t at = 128; at < frozen.bytes().size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::vector<std::byte> bytes(frozen.bytes().begin(), frozen.bytes().end());
      bytes[at] ^= std::byte{1} << bit;
      test::seal_again(bytes);
      Result<MutableFilter> filter = MutableFilter::from_bytes(bytes);
      if (!filter.ok()) {
        ASSERT_EQ(filter.status().code(), StatusCode::kCorruption);
        continue;
      }
      ++opened;
      for (std::uint64_t i = 0; i < 120; ++i) (void)filter->may_contain_hash(source.member(i));
      for (std::uint64_t i = 0; i < 60; ++i) (void)*filter->remove_hash(source.member(i));
      for (std::uint64_t i = 200; i < 300; ++i) ASSERT_TRUE(filter->add_hash(source.member(i)).ok());
      ASSERT_TRUE(holds(*filter, source, 200, 300));
      ASSERT_TRUE(Filter::from_bytes(filter->freeze().bytes()).ok());
    }
  }
  EXPECT_GT(opened, 100) << "a changed fingerprint is another set";
}

}  // namespace
}  // namespace tamis
