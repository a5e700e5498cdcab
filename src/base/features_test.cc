#include "base/features.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

TEST(Features, NumbersOnDiskStayAsTheyAre) {
  EXPECT_EQ(Features::of(Feature::kKeyspaces).to_read, 1U);
  EXPECT_EQ(Features::of(Feature::kRangeDeletes).to_read, 2U);
  EXPECT_EQ(Features::of(Feature::kExpiry).to_read, 4U);
  EXPECT_EQ(Features::of(Feature::kMerges).to_read, 8U);
  EXPECT_EQ(Features::of(Feature::kValuesApart).to_read, 16U);
  EXPECT_EQ(Features::of(Feature::kCommitsInTables).to_read, 32U);
  EXPECT_EQ(Features::of(Feature::kLongKeys).to_read, 64U);
  EXPECT_EQ(Features::of(Feature::kPaddedBlocks).to_read, 128U);
  EXPECT_EQ(Features::of(Feature::kRangeFilters).to_read, 256U);
}

TEST(Features, UnknownOnesAreRefusedByNameAccordingToTheirClass) {
  const Features known{.to_read = 511, .to_write = 511, .optional = ~std::uint64_t{0}};
  EXPECT_TRUE(check_can_read(known, "f").ok());
  EXPECT_TRUE(check_can_write(known, "f").ok());
  EXPECT_EQ(check_can_read({.to_read = 1 | 4 | 8 | 512}, "f").to_text(),
            "not supported: f: feature 9, needed to read it, is not known to this build; use a newer tamis");
  EXPECT_EQ(check_can_read({.to_read = std::uint32_t{1} << 31}, "f").to_text(),
            "not supported: f: feature 31, needed to read it, is not known to this build; use a newer tamis");
  const Features writers{.to_write = 1 << 9};
  EXPECT_TRUE(check_can_read(writers, "f").ok());
  EXPECT_EQ(check_can_write(writers, "f").to_text(),
            "not supported: f: feature 9, needed to write to the store, is not known to this build; use a newer tamis");
}

TEST(Features, AUnionHasTheBitsOfBothInEveryClass) {
  const Features one{.to_read = 1, .to_write = 2, .optional = 4};
  const Features other{.to_read = 2, .to_write = 4, .optional = 8};
  const Features both = one | other;
  EXPECT_EQ(both, (Features{.to_read = 3, .to_write = 6, .optional = 12}));
  EXPECT_TRUE(both.includes(one) && both.includes(other));
  for (const Features& more : {Features{.to_read = 4}, Features{.to_write = 1}, Features{.optional = 1}}) {
    EXPECT_FALSE(both.includes(more));
  }
}

}  // namespace
}  // namespace tamis
