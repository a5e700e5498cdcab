// Fuse filters with slots of 4, 8, 12 and 16 bits.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "filter/fuse.h"
#include "support/filter_rate.h"
#include "support/filter_sets.h"
#include "tamis/filter.h"

namespace tamis {
namespace {

using test::HashSet;

Filter build(double rate, const std::vector<std::uint64_t>& hashes) {
  return test::build_filter({.kind = "fuse", .target_rate = rate}, hashes);
}

double rate_of(int width) { return std::exp2(-width); }

TEST(FuseFilter, HasTheNarrowestSlotsThatReachARate) {
  const std::uint64_t keys = 100'000;
  for (const auto& [rate, width] : {std::pair(0.5, 4), {0.0625, 4}, {0.06, 8}, {1e-3, 12}, {1e-4, 16}}) {
    const Result<FilterSize> size = filter_size("fuse", keys, {SizeTarget::Measure::kRate, rate});
    ASSERT_TRUE(size.ok()) << size.status().to_text();
    EXPECT_EQ(size->rate, rate_of(width)) << rate;
    EXPECT_EQ(size->bytes, first_fuse_shape(keys).slots() * static_cast<unsigned>(width) / 8) << rate;
  }
  EXPECT_EQ(filter_size("fuse", keys, {SizeTarget::Measure::kRate, 1e-5}).status().code(), StatusCode::kNotSupported);
}

TEST(FuseFilter, HasTheWidestSlotsThatFit) {
  for (const auto& [bits, width] : {std::pair(5.0, 4), {10.0, 8}, {15.0, 12}, {20.0, 16}}) {
    const Result<FilterSize> size = filter_size("fuse", 100'000, {SizeTarget::Measure::kBitsPerKey, bits});
    ASSERT_TRUE(size.ok()) << size.status().to_text();
    EXPECT_EQ(size->rate, rate_of(width)) << bits;
  }
  EXPECT_FALSE(filter_size("fuse", 100'000, {SizeTarget::Measure::kBitsPerKey, 4.0}).ok());
}

TEST(FuseFilter, IsWrongAsOftenAsItsSlotsSay) {
  for (const int width : {4, 8, 12, 16}) {
    const test::MeasuredRate measured = test::measure_rate(
        3000, 100, [&](const std::vector<std::uint64_t>& hashes) { return build(rate_of(width), hashes); });
    EXPECT_NEAR(measured.predicted, rate_of(width), 1e-12);
    EXPECT_LE(std::abs(measured.deviation()), 3) << width << " bits: " << measured.rate;
  }
}

TEST(FuseFilter, ANarrowFilterRulesOutNothingThatAWideOneDoesNot) {
  const HashSet set(3);
  const std::vector<std::uint64_t> members = set.members(5000);
  const std::vector<std::uint64_t> strangers = set.strangers(100'000);
  for (const int width : {4, 12}) {
    const Filter narrow = build(rate_of(width), members);
    const Filter wide = build(rate_of(width + 4), members);
    for (const std::uint64_t hash : members) ASSERT_TRUE(narrow.may_contain_hash(hash)) << width;
    for (const std::uint64_t hash : strangers) {
      ASSERT_LE(wide.may_contain_hash(hash), narrow.may_contain_hash(hash)) << width;
    }
  }
}

TEST(FuseFilter, OfAnyFewKeysHasThemAll) {
  for (const double rate : {0.0625, 1e-3}) {
    for (std::uint64_t keys = 0; keys < 200; ++keys) {
      const std::vector<std::uint64_t> members = HashSet(keys).members(keys);
      const Filter filter = build(rate, members);
      for (const std::uint64_t hash : members) ASSERT_TRUE(filter.may_contain_hash(hash)) << keys << ", rate " << rate;
    }
  }
}

}  // namespace
}  // namespace tamis
