// The contract of mutable filters, for every mutable kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "filter/filter_format.h"
#include "filter/filter_kind.h"
#include "support/filter_sets.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

using test::HashSet;

MutableFilter make(const std::string& kind, std::uint64_t capacity = 10'000, std::uint64_t seed = 0) {
  Result<MutableFilter> filter =
      MutableFilter::create({.kind = kind, .target_rate = 0.01, .capacity = capacity, .seed = {.seed = seed}});
  EXPECT_TRUE(filter.ok()) << filter.status().to_text();
  return *std::move(filter);
}

void add_members(MutableFilter& filter, const HashSet& source, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t i = first; i < last; ++i) ASSERT_TRUE(filter.add_hash(source.member(i)).ok());
}

double rate_over(const MutableFilter& filter, const HashSet& source) {
  int maybe = 0;
  for (std::uint64_t i = 0; i < 100'000; ++i) maybe += filter.may_contain_hash(source.stranger(i)) ? 1 : 0;
  return maybe / 100'000.0;
}

/// The false-positive rate after each of `steps` keys, averaged over filters with different keys: one small filter may
/// be lucky. 10,000 probes per step.
std::vector<double> mean_rates(const FilterOptions& options, const std::vector<std::uint64_t>& steps) {
  std::vector<double> rates(steps.size());
  for (std::uint64_t i = 0; i < 5; ++i) {
    const HashSet source(20 + i);
    Result<MutableFilter> filter = MutableFilter::create(options);
    EXPECT_TRUE(filter.ok()) << filter.status().to_text();
    if (!filter.ok()) return rates;
    for (std::size_t step = 0; step < steps.size(); ++step) {
      add_members(*filter, source, step == 0 ? 0 : steps[step - 1], steps[step]);
      for (std::uint64_t j = 0; j < 2'000; ++j) rates[step] += filter->may_contain_hash(source.stranger(j)) ? 1e-4 : 0;
    }
  }
  return rates;
}

/// 1, 3, 9, …, last.
std::vector<std::uint64_t> steps_to(std::uint64_t last) {
  std::vector<std::uint64_t> steps;
  for (std::uint64_t keys = 1; keys < last; keys *= 3) steps.push_back(keys);
  steps.push_back(last);
  return steps;
}

double four_sigma(double rate) { return 4 * std::sqrt(rate * (1 - rate) / 10'000); }

const auto kNameOf = [](const auto& one) { return one.param; };

class AddingKinds : public testing::TestWithParam<std::string> {};

TEST_P(AddingKinds, HoldEveryKeyAddedAndStayWithinTheRate) {
  MutableFilter filter = make(GetParam());
  const HashSet source(1);
  EXPECT_EQ(rate_over(filter, source), 0) << "an empty filter says no";
  add_members(filter, source, 0, 10'000);
  for (std::uint64_t i = 0; i < 10'000; ++i) ASSERT_TRUE(filter.may_contain_hash(source.member(i)));
  EXPECT_LT(rate_over(filter, source), 0.012);
  EXPECT_NEAR(filter.estimated_keys(), 10'000, 300);
  EXPECT_NEAR(filter.estimated_rate(), rate_over(filter, source), 0.002);
  EXPECT_GT(filter.fill(), 0.2);
  EXPECT_EQ(filter.info().keys, 10'000U);
}

TEST_P(AddingKinds, HoldTheirTargetFromTheFirstKeyAtEveryTinyCapacity) {
  const bool grows = find_filter_kind(GetParam())->grows;
  for (const double target : {0.1, 0.01}) {
    for (const std::uint64_t capacity : {0, 1, 10, 63}) {
      const FilterOptions options = {.kind = GetParam(), .target_rate = target, .capacity = capacity};
      if (capacity == 0 && !grows) {
        EXPECT_EQ(MutableFilter::create(options).status().code(), StatusCode::kInvalidArgument);
        continue;
      }
      const std::vector<std::uint64_t> steps = steps_to(grows ? std::uint64_t{300} : capacity);
      const std::vector<double> rates = mean_rates(options, steps);
      for (std::size_t i = 0; i < steps.size(); ++i) {
        EXPECT_LE(rates[i], target + four_sigma(target))
            << "target " << target << ", capacity " << capacity << ", " << steps[i] << " keys";
      }
    }
  }
}

TEST_P(AddingKinds, AreEmptyAfterClear) {
  MutableFilter filter = make(GetParam());
  const HashSet source(2);
  add_members(filter, source, 0, 9'000);
  filter.clear();
  EXPECT_EQ(filter.info().keys, 0U);
  for (std::uint64_t i = 0; i < 9'000; ++i) ASSERT_FALSE(filter.may_contain_hash(source.member(i)));
  add_members(filter, source, 0, 100);
  for (std::uint64_t i = 0; i < 100; ++i) ASSERT_TRUE(filter.may_contain_hash(source.member(i)));
}

TEST_P(AddingKinds, GoOnAfterSavingAndOpening) {
  const std::string path = testing::TempDir() + "mutable-" + GetParam() + ".tamis";
  const HashSet source(3);
  MutableFilter filter = make(GetParam());
  add_members(filter, source, 0, 4'000);
  ASSERT_TRUE(filter.save(path).ok());
  Result<MutableFilter> opened = MutableFilter::open(path);
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  add_members(*opened, source, 4'000, 8'000);
  for (std::uint64_t i = 0; i < 8'000; ++i) ASSERT_TRUE(opened->may_contain_hash(source.member(i)));
  EXPECT_EQ(opened->info().keys, 8'000U);
  const Filter frozen = opened->freeze();
  add_members(*opened, source, 8'000, 8'500);
  EXPECT_EQ(frozen.info().keys, 8'000U) << "a frozen copy does not change";
  std::filesystem::remove(path);
}

/// In parts of any size, and no other way: a part that is missing, twice there or older than the next is noticed.
TEST_P(AddingKinds, GoToAnotherProcessInParts) {
  const HashSet source(11);
  MutableFilter filter = make(GetParam(), 500);
  add_members(filter, source, 0, 300);
  const Filter frozen = filter.freeze();
  for (const std::size_t most : {128UL, 200UL, 1UL << 20}) {
    FilterImport import;
    std::size_t parts = 0;
    std::uint64_t at = 0;
    for (auto part = filter.part(0, most); !part.empty(); part = filter.part(at += part.size(), most)) {
      ASSERT_TRUE(import.add(part).ok());
      ++parts;
    }
    EXPECT_EQ(parts, (frozen.bytes().size() + most - 1) / most);
    EXPECT_EQ(import.add(filter.part(0, 1)).code(), StatusCode::kCorruption);
    Result<MutableFilter> copy = import.finish();
    ASSERT_TRUE(copy.ok()) << copy.status().to_text();
    EXPECT_TRUE(as_text(copy->freeze().bytes()) == as_text(frozen.bytes()));
    EXPECT_EQ(import.finish().status().code(), StatusCode::kInvalidArgument) << "it is empty now";
  }
  FilterImport torn;
  ASSERT_TRUE(torn.add(filter.part(0, 160)).ok());
  const std::uint64_t before = filter.info().bytes;
  add_members(filter, source, 300, 301);
  ASSERT_EQ(filter.info().bytes, before);
  ASSERT_TRUE(torn.add(filter.part(160, before)).ok());
  EXPECT_EQ(torn.finish().status().code(), StatusCode::kCorruption) << "a key was added between the parts";
  FilterImport short_import;
  EXPECT_EQ(short_import.add(filter.part(0, 127)).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(short_import.add(filter.part(0, 128)).ok());
  EXPECT_EQ(short_import.finish().status().code(), StatusCode::kInvalidArgument);
  std::vector<std::byte> other(filter.part(0, 128).begin(), filter.part(0, 128).end());
  other[0] ^= std::byte{1};
  EXPECT_EQ(short_import.add(other).code(), StatusCode::kCorruption);
}

TEST_P(AddingKinds, CountAKeyThatIsThereAsOneAndAnotherAsNone) {
  MutableFilter filter = make(GetParam(), 1000);
  const HashSet source(12);
  add_members(filter, source, 0, 10);
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(filter.count_hash(source.member(i)), 1U);
  EXPECT_EQ(filter.count_hash(source.stranger(0)), 0U);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AddingKinds, testing::ValuesIn(test::kind_names(&FilterKindInfo::adds)), kNameOf);

class RemovingKinds : public testing::TestWithParam<std::string> {};

TEST_P(RemovingKinds, ForgetWhatWasRemovedAndKeepTheRest) {
  MutableFilter filter = make(GetParam());
  const HashSet source(4);
  add_members(filter, source, 0, 9'000);
  for (std::uint64_t i = 0; i < 4'500; ++i) {
    const Result<bool> removed = filter.remove_hash(source.member(i));
    ASSERT_TRUE(removed.ok() && *removed);
  }
  for (std::uint64_t i = 4'500; i < 9'000; ++i) ASSERT_TRUE(filter.may_contain_hash(source.member(i)));
  int still = 0;
  for (std::uint64_t i = 0; i < 4'500; ++i) still += filter.may_contain_hash(source.member(i)) ? 1 : 0;
  EXPECT_LT(still, 60) << "removed keys answer maybe no more often than strangers";
  EXPECT_EQ(filter.info().keys, 4'500U);
}

TEST_P(RemovingKinds, KeepAKeyThatWasAddedTwiceAndRemovedOnce) {
  MutableFilter filter = make(GetParam());
  ASSERT_TRUE(filter.add("twice").ok());
  ASSERT_TRUE(filter.add("twice").ok());
  EXPECT_EQ(filter.count("twice"), 2U);
  EXPECT_TRUE(*filter.remove("twice"));
  EXPECT_EQ(filter.count("twice"), 1U);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(filter.add("six").ok());
  EXPECT_EQ(filter.count("six"), 6U);
  EXPECT_TRUE(filter.may_contain("twice"));
  EXPECT_TRUE(*filter.remove("twice"));
  EXPECT_FALSE(filter.may_contain("twice"));
  EXPECT_FALSE(*filter.remove("twice")) << "a key that certainly is not there is not removed";
}

/// Adds and removes at random, compared with a multiset: whatever is in the set must be in the filter. Leaves room for
/// copies: a cuckoo filter holds at most eight of a key, and fewer beside other keys.
TEST_P(RemovingKinds, AgreeWithASetOverRandomChanges) {
  MutableFilter filter = make(GetParam(), 4'000);
  const HashSet source(6);
  std::vector<std::uint64_t> inside;
  for (std::uint64_t step = 0; step < 50'000; ++step) {
    const std::uint64_t dice = remix(step);
    if (inside.size() < 1'800 && dice % 100 < 55) {
      inside.push_back(source.member((dice >> 32) % 4'000));
      ASSERT_TRUE(filter.add_hash(inside.back()).ok());
    } else if (!inside.empty()) {
      std::swap(inside[dice % inside.size()], inside.back());
      ASSERT_TRUE(*filter.remove_hash(inside.back()));
      inside.pop_back();
    }
    if (step % 997 == 0) {
      for (const std::uint64_t hash : inside) ASSERT_TRUE(filter.may_contain_hash(hash)) << "step " << step;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, RemovingKinds, testing::ValuesIn(test::kind_names(&FilterKindInfo::removes)), kNameOf);

class MergingKinds : public testing::TestWithParam<std::string> {};

TEST_P(MergingKinds, UniteToTheFilterOfAllKeys) {
  const HashSet source(7);
  MutableFilter left = make(GetParam());
  MutableFilter right = make(GetParam());
  MutableFilter both = make(GetParam());
  add_members(left, source, 0, 5'000);
  add_members(right, source, 5'000, 9'000);
  add_members(both, source, 0, 9'000);
  ASSERT_TRUE(left.merge(right).ok());
  EXPECT_TRUE(as_text(left.freeze().bytes()) == as_text(both.freeze().bytes()));
}

TEST_P(MergingKinds, RefuseFiltersThatDiffer) {
  MutableFilter filter = make(GetParam());
  const MutableFilter larger = make(GetParam(), 20'000);
  const MutableFilter other_seed = make(GetParam(), 10'000, 5);
  const MutableFilter other_kind = make(GetParam() == "bloom" ? "split" : "bloom");
  for (const MutableFilter* other : {&larger, &other_seed, &other_kind}) {
    EXPECT_EQ(filter.merge(*other).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(filter.intersect(*other).code(), StatusCode::kInvalidArgument);
  }
}

TEST_P(MergingKinds, IntersectToAFilterOfTheCommonKeys) {
  const HashSet source(8);
  MutableFilter left = make(GetParam());
  MutableFilter right = make(GetParam());
  add_members(left, source, 0, 6'000);
  add_members(right, source, 3'000, 9'000);
  ASSERT_TRUE(left.intersect(right).ok());
  for (std::uint64_t i = 3'000; i < 6'000; ++i) ASSERT_TRUE(left.may_contain_hash(source.member(i)));
  int others = 0;
  for (std::uint64_t i = 0; i < 3'000; ++i) others += left.may_contain_hash(source.member(i)) ? 1 : 0;
  EXPECT_LT(others, 150);
}

INSTANTIATE_TEST_SUITE_P(Kinds, MergingKinds, testing::ValuesIn(test::kind_names(&FilterKindInfo::merges)), kNameOf);

/// A line filter that was built is a Bloom filter like any other: keys can be added to it, and two unite.
TEST(LineFilter, ThatWasBuiltUnitesWithOneToWhichKeysWereAdded) {
  const HashSet source(14);
  FilterBuilder builder({.kind = "line", .target_rate = 0.01});
  for (std::uint64_t i = 0; i < 10'000; ++i) builder.add_hash(source.member(i));
  Result<MutableFilter> built = MutableFilter::from_bytes(builder.finish()->bytes());
  ASSERT_TRUE(built.ok()) << built.status().to_text();
  MutableFilter added = make("line");
  add_members(added, source, 0, 5'000);
  add_members(added, source, 10'000, 12'000);
  ASSERT_TRUE(added.merge(*built).ok());
  add_members(*built, source, 10'000, 12'000);
  EXPECT_TRUE(as_text(added.freeze().bytes().subspan(128)) == as_text(built->freeze().bytes().subspan(128)));
  for (std::uint64_t i = 0; i < 12'000; ++i) ASSERT_TRUE(added.may_contain_hash(source.member(i)));
}

TEST(MutableFilter, NamesTheKindsThatCanWhatThisOneCannot) {
  const Result<MutableFilter> ribbon = MutableFilter::create({.kind = "ribbon", .capacity = 10});
  ASSERT_FALSE(ribbon.ok());
  EXPECT_EQ(ribbon.status().code(), StatusCode::kNotSupported);
  EXPECT_NE(ribbon.status().message().find("cuckoo"), std::string::npos);
  MutableFilter bloom = make("bloom");
  EXPECT_EQ(bloom.remove("x").status().code(), StatusCode::kNotSupported);
  MutableFilter cuckoo = make("cuckoo");
  EXPECT_EQ(cuckoo.merge(make("cuckoo")).code(), StatusCode::kNotSupported);
}

TEST(CuckooFilter, SaysWhenItIsFullAndIsUnchangedThen) {
  MutableFilter filter = make("cuckoo", 1'000);
  const HashSet source(9);
  std::uint64_t added = 0;
  while (filter.add_hash(source.member(added)).ok()) ++added;
  EXPECT_GE(added, 1'000U);
  EXPECT_EQ(filter.add_hash(source.member(added)).code(), StatusCode::kOutOfSpace);
  for (std::uint64_t i = 0; i < added; ++i) ASSERT_TRUE(filter.may_contain_hash(source.member(i)));
  ASSERT_TRUE(*filter.remove_hash(source.member(0)));
  EXPECT_TRUE(filter.add_hash(source.member(0)).ok()) << "a removed key leaves room";
}

TEST(CuckooFilter, HoldsAsManyKeysAsItsCapacitySays) {
  int full_early = 0;
  for (std::uint64_t set = 0; set < 300; ++set) {
    for (const std::uint64_t capacity : {7, 15, 19, 38, 76}) {
      MutableFilter filter = make("cuckoo", capacity);
      const HashSet source(100 + set);
      for (std::uint64_t i = 0; i < capacity; ++i) full_early += filter.add_hash(source.member(i)).ok() ? 0 : 1;
    }
  }
  EXPECT_EQ(full_early, 0);
}

TEST(CuckooFilter, SaysThatItIsCopiesThatDoNotFit) {
  MutableFilter filter = make("cuckoo", 1'000);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(filter.add("often").ok()) << i;
  const Status ninth = filter.add("often");
  EXPECT_EQ(ninth.code(), StatusCode::kOutOfSpace);
  EXPECT_NE(ninth.message().find("8 copies of this key"), std::string::npos) << ninth.message();
  EXPECT_EQ(ninth.message().find("larger"), std::string::npos) << ninth.message();
}

/// No builder makes a list of hashes for a mutable kind, but bytes can still claim one.
TEST(MutableFilter, DoesNotTakeAListOfHashesForItsKind) {
  constexpr std::size_t kKindAt = 10;
  constexpr std::size_t kChecksumAt = 120;
  FilterBuilder builder({.kind = "line", .target_rate = 1e-3});
  builder.add("one");
  const Filter list = *builder.finish();
  std::vector<std::byte> bytes(list.bytes().begin(), list.bytes().end());
  bytes[kKindAt] = make("bloom", 10).freeze().bytes()[kKindAt];
  store_le(bytes.data() + kChecksumAt,
           checksum64(Bytes(bytes).first(kChecksumAt), Bytes(bytes).subspan(kFilterHeaderBytes)));
  ASSERT_TRUE(Filter::from_bytes(bytes).ok());
  EXPECT_EQ(MutableFilter::from_bytes(bytes).status().code(), StatusCode::kInvalidArgument);
}

TEST(CountingFilter, StillCountsKeysThatOverflowedWhenTheyAreRemoved) {
  MutableFilter filter = make("counting", 100);
  ASSERT_TRUE(filter.add("once").ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(filter.add("often").ok());
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(*filter.remove("often")) << "it is there";
  EXPECT_TRUE(*filter.remove("once"));
  EXPECT_TRUE(filter.may_contain("often"));
  EXPECT_FALSE(filter.may_contain("once"));
  EXPECT_EQ(filter.info().keys, 20U) << "what remains is counted";
}

/// Sized by bits or memory, a filter has the resulting rate; while growing, it stays below twice that.
TEST(ScalableFilter, StaysBelowTwiceItsDesignedRateHoweverItIsSized) {
  for (FilterOptions options : {FilterOptions{.bits_per_key = 8}, FilterOptions{.memory_bytes = 128 + 1024 + 64}}) {
    options.kind = "scalable";
    for (const std::uint64_t capacity : {0, 10, 100}) {
      options.capacity = capacity;
      const double designed = MutableFilter::create(options)->info().designed_rate;
      for (const double rate : mean_rates(options, steps_to(300))) {
        EXPECT_LE(rate, 2 * designed + four_sigma(designed) + 1e-3) << "capacity " << capacity;
      }
    }
  }
}

TEST(ScalableFilter, GrowsByItsOptions) {
  const HashSet source(13);
  const FilterOptions options = {
      .kind = "scalable", .target_rate = 0.01, .capacity = 100, .growth = 4, .most_layers = 3};
  Result<MutableFilter> made = MutableFilter::create(options);
  ASSERT_TRUE(made.ok());
  add_members(*made, source, 0, 100);
  Result<MutableFilter> filter = MutableFilter::from_bytes(made->freeze().bytes());
  std::uint64_t added = 100;
  std::vector<std::uint64_t> grew = {};
  for (std::uint64_t bytes = filter->info().bytes; filter->add_hash(source.member(added)).ok(); ++added) {
    if (filter->info().bytes != bytes) grew.push_back(added);
    bytes = filter->info().bytes;
  }
  EXPECT_EQ(grew, (std::vector<std::uint64_t>{100, 500}));
  EXPECT_EQ(added, 2100U);
  EXPECT_EQ(filter->add_hash(source.member(added)).code(), StatusCode::kOutOfSpace);
  for (std::uint64_t i = 0; i < added; ++i) ASSERT_TRUE(filter->may_contain_hash(source.member(i)));
  EXPECT_LE(rate_over(*filter, source), 0.0105);
}

TEST(ScalableFilter, RefusesOptionsWithoutBoundAndOtherKindsHaveNone) {
  for (const std::uint32_t growth : {0U, 65U}) {
    const FilterOptions options = {.kind = "scalable", .growth = growth};
    EXPECT_EQ(MutableFilter::create(options).status().code(), StatusCode::kInvalidArgument);
  }
  for (const std::uint32_t layers : {0U, 33U}) {
    const FilterOptions options = {.kind = "scalable", .most_layers = layers};
    EXPECT_EQ(MutableFilter::create(options).status().code(), StatusCode::kInvalidArgument);
  }
  const FilterOptions bloom = {.kind = "bloom", .capacity = 10, .growth = 2};
  EXPECT_EQ(MutableFilter::create(bloom).status().code(), StatusCode::kInvalidArgument);
}

TEST(ScalableFilter, ThatClaimsToHoldMoreKeysThanItsBitsGrowsByItsBits) {
  const Filter made = make("scalable", 1'000).freeze();
  std::vector<std::byte> bytes(made.bytes().begin(), made.bytes().end());
  constexpr std::size_t kFirstLayer = kFilterHeaderBytes;
  store_le(bytes.data() + kFirstLayer + 8, std::uint64_t{1} << 47);   // Capacity.
  store_le(bytes.data() + kFirstLayer + 16, std::uint64_t{1} << 47);  // Keys.
  store_le(bytes.data() + 120, checksum64(Bytes(bytes).first(120), Bytes(bytes).subspan(kFilterHeaderBytes)));
  Result<MutableFilter> filter = MutableFilter::from_bytes(bytes);
  ASSERT_TRUE(filter.ok()) << filter.status().to_text();
  ASSERT_TRUE(filter->add("another").ok());
  EXPECT_TRUE(filter->may_contain("another"));
  EXPECT_LT(filter->info().bytes, 8 * bytes.size());
}

TEST(ScalableFilter, KeepsItsRateWhileGrowingTwentyfold) {
  MutableFilter filter = make("scalable", 1'000);
  const HashSet source(10);
  add_members(filter, source, 0, 20'000);
  for (std::uint64_t i = 0; i < 20'000; ++i) ASSERT_TRUE(filter.may_contain_hash(source.member(i)));
  EXPECT_LT(rate_over(filter, source), 0.0105);
  EXPECT_NEAR(filter.estimated_rate(), rate_over(filter, source), 0.001);
  EXPECT_LT(8.0 * static_cast<double>(filter.info().bytes) / 20'000, 30) << "bits per key";
}

}  // namespace
}  // namespace tamis
