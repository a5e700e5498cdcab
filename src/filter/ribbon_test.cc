#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <vector>

#include "filter/filter_kind.h"
#include "filter/ribbon_build.h"
#include "filter/ribbon_layout.h"
#include "support/filter_sets.h"

namespace tamis {
namespace {

using test::HashSet;

struct Ribbon {
  FilterImage image;
  FilterProbe probe;
  FilterSize size;

  [[nodiscard]] double bits_per_key() const {
    return 8.0 * static_cast<double>(image.body().size()) / static_cast<double>(image.header.keys);
  }
};

Ribbon build(std::vector<std::uint64_t> hashes, std::uint32_t columns) {
  const Result<FilterSize> size =
      kRibbonKind.size(hashes.size(), {SizeTarget::Measure::kRate, std::ldexp(1.0, -static_cast<int>(columns))});
  EXPECT_TRUE(size.ok()) << size.status().to_text();
  EXPECT_LE(size->hashes, columns);
  Result<FilterImage> image = kRibbonKind.build(hashes, *size);
  EXPECT_TRUE(image.ok()) << image.status().to_text();
  image->header.keys = hashes.size();
  EXPECT_LE(image->body().size(), size->bytes) << hashes.size() << " keys";
  const Result<FilterProbe> probe = kRibbonKind.open(image->header, image->body(), "ribbon");
  EXPECT_TRUE(probe.ok()) << probe.status().to_text();
  return {.image = *std::move(image), .probe = *probe, .size = *size};
}

std::uint64_t count_maybe(const FilterProbe& probe, const std::vector<std::uint64_t>& hashes) {
  std::vector<std::uint64_t> answers((hashes.size() + 63) / 64);
  probe.may_contain_many(hashes, answers.data());
  std::uint64_t count = 0;
  for (const std::uint64_t word : answers) count += static_cast<std::uint64_t>(std::popcount(word));
  return count;
}

bool has_all(const FilterProbe& probe, const std::vector<std::uint64_t>& hashes) {
  return count_maybe(probe, hashes) == hashes.size() &&
         std::all_of(hashes.begin(), hashes.end(), [&](std::uint64_t hash) { return probe.may_contain(hash); });
}

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;

/// The inverse of remix, for crafting keys that collide.
std::uint64_t unmix(std::uint64_t mixed) {
  const auto unshift = [](std::uint64_t x, int by) {
    std::uint64_t result = x;
    for (int done = by; done < 64; done += by) result = x ^ (result >> by);
    return result;
  };
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t result = odd;
    for (int i = 0; i < 6; ++i) result *= 2 - odd * result;
    return result;
  };
  std::uint64_t x = unshift(mixed, 31) * inverse(0x94d049bb133111ebU);
  x = unshift(x, 27) * inverse(0xbf58476d1ce4e5b9U);
  return unshift(x, 30);
}

TEST(Ribbon, HasEveryKeyOfEverySetForEveryNumberOfColumns) {
  const auto check = [](std::uint64_t keys, std::uint32_t columns) {
    const std::vector<std::uint64_t> members = HashSet(keys).members(keys);
    EXPECT_TRUE(has_all(build(members, columns).probe, members)) << keys << " keys, " << columns << " columns";
  };
  for (std::uint64_t keys = 0; keys <= 300; ++keys) {
    for (const std::uint32_t columns : {1U, 8U, 13U, 32U}) check(keys, columns);
  }
  for (std::uint32_t columns = 1; columns <= kRibbonMostColumns; ++columns) {
    for (const std::uint64_t keys : {1000U, 4097U}) check(keys, columns);
  }
  for (const std::uint64_t keys : {8191U, 11'504U, 11'521U, 65'537U, 100'000U, 1'000'000U}) check(keys, 8);
}

TEST(Ribbon, SaysNoToEverythingWhenEmpty) {
  const Ribbon ribbon = build({}, 8);
  EXPECT_EQ(ribbon.image.body().size(), 0U);
  EXPECT_EQ(ribbon.size.rate, 0);
  EXPECT_EQ(count_maybe(ribbon.probe, HashSet(1).strangers(1000)), 0U);
  EXPECT_FALSE(ribbon.probe.may_contain(0));
  ribbon.probe.prefetch(0);
}

double bound_ratio(const Ribbon& ribbon) {
  return ribbon.bits_per_key() / -std::log2(kRibbonKind.estimate(ribbon.image).rate);
}

TEST(Ribbon, TakesAtMostOnePercentMoreThanTheBoundFromTenThousandKeys) {
  constexpr std::uint64_t kProbes = 1'000'000;
  for (const std::uint64_t keys : {10'000U, 10'030U, 100'000U, 1'000'000U}) {
    for (const std::uint32_t columns : {4U, 7U, 8U, 12U, 16U}) {
      if (keys > 100'000 && columns != 8) continue;
      const HashSet source(columns);
      const Ribbon ribbon = build(source.members(keys), columns);
      EXPECT_LE(bound_ratio(ribbon), 1.01) << keys << " keys, " << columns << " columns";
      const double expected = kProbes * kRibbonKind.estimate(ribbon.image).rate;
      const auto maybe = static_cast<double>(count_maybe(ribbon.probe, source.strangers(kProbes)));
      EXPECT_NEAR(maybe, expected, 3 * std::sqrt(expected)) << keys << " keys, " << columns << " columns";
    }
  }
}

TEST(Ribbon, ComesCloseToTheBoundForNearlyAllSetsOfTenThousandKeys) {
  for (const std::uint32_t columns : {4U, 8U, 16U}) {
    constexpr std::uint64_t kSets = 50;
    double mean = 0;
    double most = 0;
    for (std::uint64_t set = 0; set < kSets; ++set) {
      const Ribbon ribbon = build(HashSet(900 + set).members(10'000 + 3 * set), columns);
      mean += bound_ratio(ribbon) / kSets;
      most = std::max(most, bound_ratio(ribbon));
    }
    EXPECT_LE(mean, 1.01) << columns << " columns";
    EXPECT_LE(most, 1.015) << columns << " columns";
  }
}

TEST(Ribbon, IsSmallForSmallSetsToo) {
  double at_thousand = 0;
  for (std::uint64_t keys = 100; keys <= 1000; keys += 10) {
    const Ribbon ribbon = build(HashSet(keys).members(keys), 8);
    EXPECT_LE(ribbon.bits_per_key(), 11) << keys << " keys";
    at_thousand = ribbon.bits_per_key() / 8;
  }
  EXPECT_LE(at_thousand, 1.05);
}

TEST(Ribbon, IsWrongAsOftenAsItEstimates) {
  constexpr std::uint64_t kProbes = 200'000;
  for (const std::uint64_t keys : {70U, 100U, 250U, 1000U, 5000U}) {
    double expected = 0;
    double maybe = 0;
    for (std::uint64_t set = 0; set < 10; ++set) {
      const HashSet source(1000 * keys + set);
      const Ribbon ribbon = build(source.members(keys), 6);
      const FilterEstimate estimate = kRibbonKind.estimate(ribbon.image);
      EXPECT_NEAR(estimate.rate, ribbon.size.rate, ribbon.size.rate / 50);
      EXPECT_GE(estimate.fill, keys < 100 ? 0.5 : 0.75);
      expected += kProbes * estimate.rate;
      maybe += static_cast<double>(count_maybe(ribbon.probe, source.strangers(kProbes)));
    }
    EXPECT_NEAR(maybe, expected, 3.5 * std::sqrt(expected)) << keys << " keys";
  }
}

TEST(Ribbon, IsWrongAsOftenAsPlannedWhenTiny) {
  for (std::uint64_t keys = 1; keys <= 64; ++keys) {
    const Ribbon ribbon = build(HashSet(keys).members(keys), 8);
    const double rate = kRibbonKind.estimate(ribbon.image).rate;
    EXPECT_LE(rate, ribbon.size.rate) << keys << " keys";
    EXPECT_GE(rate, ribbon.size.rate * (1 - 2.0 / static_cast<double>(keys))) << keys << " keys";  // Two may collide.
  }
}

TEST(Ribbon, NeverPlansMoreBytesForFewerKeys) {
  for (const std::uint32_t columns : {1U, 8U, 32U}) {
    std::uint64_t last = 0;
    for (std::uint64_t keys = 0; keys < 5000; ++keys) {
      EXPECT_GE(most_ribbon_bytes(keys, columns), last) << keys << " keys, " << columns << " columns";
      last = most_ribbon_bytes(keys, columns);
    }
  }
}

/// `build` checks that none of these exceeds the size stated for hashed keys.
TEST(Ribbon, TakesHashesThatWereMadeToCrowd) {
  constexpr std::uint64_t kKeys = 10'000;
  const std::vector<std::uint64_t> others = HashSet(8).strangers(100'000);
  for (const std::uint32_t columns : {4U, 8U, 24U}) {
    std::vector<std::uint64_t> same_top(kKeys);
    std::vector<std::uint64_t> one_start(kKeys);
    std::vector<std::uint64_t> every_layer(kKeys);
    for (std::uint64_t i = 0; i < kKeys; ++i) {
      same_top[i] = 0xabcdef0123U << 24 | i;
      one_start[i] = unmix(0xabcdef0123U << 24 | i);
      every_layer[i] =
          unmix(unmix(unmix(unmix(i) - kGolden) - kGolden) - kGolden);  // And with the same list fingerprint.
    }
    for (const auto* hashes : {&same_top, &one_start, &every_layer}) {
      EXPECT_TRUE(has_all(build(*hashes, columns).probe, *hashes)) << columns << " columns";
    }
    // If a third of the set collides, only the few others suffer whose part of the layers it makes useless.
    std::vector<std::uint64_t> mixture = one_start;
    const std::vector<std::uint64_t> good = HashSet(9).members(2 * kKeys);
    mixture.insert(mixture.end(), good.begin(), good.end());
    const Ribbon ribbon = build(mixture, columns);
    EXPECT_TRUE(has_all(ribbon.probe, mixture));
    const double expected = std::ldexp(1e5, -static_cast<int>(columns));
    EXPECT_LE(static_cast<double>(count_maybe(ribbon.probe, others)),
              1.1 * expected + 0.01 * static_cast<double>(others.size()));
  }
}

TEST(Ribbon, HasBytesThatDoNotDependOnTheOrderOfTheKeys) {
  for (const std::uint64_t keys : {50U, 700U, 30'000U}) {
    std::vector<std::uint64_t> members = HashSet(keys).members(keys);
    const Ribbon ribbon = build(members, 9);
    std::shuffle(members.begin(), members.end(), std::mt19937_64(1));
    EXPECT_TRUE(as_text(ribbon.image.body()) == as_text(build(members, 9).image.body())) << keys << " keys";
  }
}

TEST(Ribbon, HasAsManyColumnsAsTheTargetTakes) {
  const auto columns = [](SizeTarget::Measure measure, double value) {
    return kRibbonKind.size(1'000'000, {measure, value})->hashes;
  };
  EXPECT_EQ(columns(SizeTarget::Measure::kRate, 0.9), 1U);
  EXPECT_EQ(columns(SizeTarget::Measure::kRate, 0.01), 7U);
  EXPECT_EQ(columns(SizeTarget::Measure::kRate, 1.0 / 256), 8U);
  EXPECT_EQ(columns(SizeTarget::Measure::kBitsPerKey, 8), 7U);
  EXPECT_EQ(columns(SizeTarget::Measure::kBitsPerKey, 8.1), 8U);
  EXPECT_EQ(columns(SizeTarget::Measure::kMemory, 1'012'500), 8U);
  EXPECT_EQ(columns(SizeTarget::Measure::kBitsPerKey, 1024), 32U);
  const Result<FilterSize> finer = kRibbonKind.size(1000, {SizeTarget::Measure::kRate, 1e-10});
  EXPECT_EQ(finer.status().code(), StatusCode::kNotSupported);
  EXPECT_NE(finer.status().message().find("bloom"), std::string::npos);
  EXPECT_FALSE(kRibbonKind.size(1000, {SizeTarget::Measure::kBitsPerKey, 0.5}).ok());
}

TEST(Ribbon, StaysInsideTheBodyWhateverIsInIt) {
  const std::uint64_t starts[][3] = {{0, 0, 0},    {1, 0, 0},   {0, 1, 0},   {0, 0, 64},
                                     {64, 64, 64}, {128, 0, 1}, {500, 70, 3}};
  std::mt19937_64 random(7);
  for (const auto& layers : starts) {
    for (const std::uint32_t columns : {1U, 3U, 8U, 9U, 32U}) {
      for (const std::uint64_t entries : {0U, 1U, 9U}) {
        for (const std::uint32_t bits : {0U, 1U, 56U}) {
          const RibbonShape shape = {.columns = columns,
                                     .starts = {layers[0], layers[1], layers[2]},
                                     .list_entries = entries,
                                     .list_bits = bits};
          std::vector<std::byte> body(shape.body_bytes());  // On the heap, so that the address sanitizer guards it.
          for (std::byte& byte : body) byte = static_cast<std::byte>(random());
          FilterHeader header;
          header.hashes = columns;
          header.numbers = {layers[0], layers[1], layers[2], entries | std::uint64_t{bits} << kRibbonListBitsShift};
          const Result<FilterProbe> probe = kRibbonKind.open(header, body, "ribbon");
          ASSERT_TRUE(probe.ok()) << probe.status().to_text();
          const std::vector<std::uint64_t> asked = HashSet(random() % 1000).strangers(200);
          std::uint64_t one_by_one = 0;
          for (const std::uint64_t hash : asked) {
            probe->prefetch(hash);
            one_by_one += probe->may_contain(hash) ? 1 : 0;
          }
          EXPECT_EQ(count_maybe(*probe, asked), one_by_one);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tamis
