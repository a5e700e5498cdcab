// Like journal_crash_test.cc, with more workloads, more losses and longer journals.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/journal_workload.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(JournalCrashSlow, EverySyncedRecordSurvivesAndTheRestIsAPrefix) {
  std::set<std::uint64_t> images;
  for (std::uint64_t i = 0; i < 16; ++i) {
    JournalLedger ledger;
    const CrashEnumerator crashes = enumerate_crashes(ledger, base_seed(100) + i, 20, {.journals = 8, .records = 14});
    images.insert(crashes.image_hashes().begin(), crashes.image_hashes().end());
    ASSERT_EQ(crashes.violations().size(), 0U) << crashes.violations().front();
  }
  fmt::print("{} distinct disk images\n", images.size());
  record_figure("crash_images", images.size());
  EXPECT_GT(images.size(), 80'000U);
}

TEST(JournalCrashSlow, AnyFailedCallLeavesWhatWasSyncedAndNothingThatWasNotWritten) {
  FaultCounts counts;
  for (std::uint64_t i = 0; i < 3; ++i) fail_every_call_in_every_way(base_seed(100) + i, {}, counts);
  ASSERT_EQ(counts.violations.size(), 0U) << counts.violations.front();
  fmt::print("{} runs, {} with a failed call, {} distinct disk images\n", counts.runs, counts.fired,
             counts.images.size());
  record_figure("crash_images", counts.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(counts.fired));
  EXPECT_GT(counts.fired, 2500);
}

/// Enough short records in a row that most are copied into a window.
constexpr JournalWorkload::Shape kWindowed = {
    .journals = 3, .records = 26, .one_sync_in = 40, .window_bytes = AppendFile::kMinWindowBytes};

TEST(JournalCrashSlow, Rule7_TheSameHoldsForRecordsThatAreCopiedIntoAWindow) {
  std::size_t images = 0;
  for (std::uint64_t seed = 100; seed < 106; ++seed) {
    JournalLedger ledger;
    const CrashEnumerator crashes = enumerate_crashes(ledger, seed, 6, kWindowed);
    images += crashes.images();
    ASSERT_EQ(crashes.violations().size(), 0U) << crashes.violations().front();
  }
  fmt::print("{} distinct disk images\n", images);
  EXPECT_GT(images, 6000U);
}

TEST(JournalCrashSlow, Rule7_AnyFailedCallLeavesTheSameWhenRecordsAreCopiedIntoAWindow) {
  FaultCounts counts;
  fail_every_call_in_every_way(100, kWindowed, counts);
  ASSERT_EQ(counts.violations.size(), 0U) << counts.violations.front();
  EXPECT_GT(counts.fired, 500);
}

}  // namespace
}  // namespace tamis::test
