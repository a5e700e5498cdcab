// P3 and P4: whichever byte of a closed store changes, every answer is right or an error.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/store_ledger.h"
#include "faults/store_damage.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(Flip, P3_P4_AFlippedByteGivesNoWrongAnswer) {
  const ClosedStore store = make_closed_store({}, base_seed(1));
  DamageCounts counts;
  flip_bytes(store, 0, 23, counts);
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  fmt::print("{} flips: {} refused, {} reported, {} without effect\n", counts.tried, counts.refused, counts.told,
             counts.unnoticed);
  record_figure("flips", counts.tried);
  for (const char* kind : {"CURRENT", "MANIFEST", ".journal", ".tms"})
    EXPECT_GT(counts.tried_by_kind[kind], 0U) << kind;
  EXPECT_GT(counts.refused, 0U);
  EXPECT_GT(counts.told, 0U);
}

TEST(Flip, P3_Rule41_AFlippedByteOfAValueFileGivesNoWrongAnswer) {
  const ClosedStore store = make_closed_store({.value_bytes_apart = 1}, base_seed(3));
  DamageCounts counts;
  flip_bytes(store, 0, 41, counts);
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  EXPECT_GT(counts.tried_by_kind[".values"], 10U);
}

TEST(Flip, P3_AFileCutShortGivesNoWrongAnswer) {
  for (const std::uint64_t value_bytes_apart : {0, 1}) {
    const ClosedStore store = make_closed_store({.value_bytes_apart = value_bytes_apart}, 2);
    DamageCounts counts;
    cut_files(store, 37, counts);
    EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
    // A recycled journal is longer than its contents. A value file may end with values that were overwritten.
    EXPECT_EQ(counts.unnoticed, counts.unnoticed_by_kind[".journal"] + counts.unnoticed_by_kind[".values"]);
    EXPECT_LT(counts.unnoticed_by_kind[".journal"], counts.tried_by_kind[".journal"] / 2);
    EXPECT_EQ(counts.tried_by_kind[".values"] > 0, value_bytes_apart > 0);
  }
}

}  // namespace
}  // namespace tamis::test
