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

TEST(Flip, P3_AFileCutShortGivesNoWrongAnswer) {
  const ClosedStore store = make_closed_store({}, 2);
  DamageCounts counts;
  cut_files(store, 37, counts);
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  // A recycled journal is longer than its contents.
  EXPECT_EQ(counts.unnoticed, counts.unnoticed_by_kind[".journal"]);
  EXPECT_LT(counts.unnoticed_by_kind[".journal"], counts.tried_by_kind[".journal"] / 2);
}

}  // namespace
}  // namespace tamis::test
