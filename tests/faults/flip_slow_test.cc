// Like flip_test.cc: every byte under the default options, and many under others.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>

#include "faults/store_damage.h"
#include "support/figures.h"
#include "support/seed.h"
#include "tamis/filter.h"

namespace tamis::test {
namespace {

TEST(FlipSlow, P3_P4_NoFlippedByteGivesAWrongAnswer) {
  DamageCounts counts;
  flip_bytes(make_closed_store({}, base_seed(1)), 0, 1, counts);
  const std::uint64_t with_defaults = counts.tried;
  // Every filter kind once, cycling through codecs and policies so that every pair of these occurs.
  static constexpr std::array kCodecs = {"none", "lz4", "zstd"};
  static constexpr std::array kPolicies = {"leveled", "tiered", "lazy", "manual"};
  std::size_t draw = 0;
  for (const FilterKindInfo& kind : filter_kinds()) {
    Options options;
    options.filter = std::string(kind.name);
    options.codec = kCodecs[draw % kCodecs.size()];
    options.codec_last = kCodecs[(draw + 1) % kCodecs.size()];
    options.compaction = kPolicies[draw % kPolicies.size()];
    options.block_bytes = 1024;
    if (!check_options(options).ok()) continue;  // Not a table filter.
    flip_bytes(make_closed_store(options, base_seed(10) + draw), draw % 3, 3, counts);
    ++draw;
  }
  ASSERT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  fmt::print("{} flips, {} of them under the default options: {} refused, {} reported, {} without effect\n",
             counts.tried, with_defaults, counts.refused, counts.told, counts.unnoticed);
  record_figure("flips", counts.tried);
  EXPECT_GE(counts.tried, 65'536U);
}

}  // namespace
}  // namespace tamis::test
