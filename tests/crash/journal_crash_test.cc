// After every call of a workload, with every way in which a disk may lose unsynced data, recovery finds the synced
// records, perhaps more of the written ones, in order, and nothing else.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/journal_workload.h"
#include "support/faulty_file_system.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

std::string first_of(const std::vector<std::string>& violations) {
  return violations.empty() ? "" : violations.front();
}

TEST(JournalCrash, EverySyncedRecordSurvivesAndTheRestIsAPrefix) {
  std::set<std::uint64_t> images;
  std::uint64_t records = 0;
  for (std::uint64_t i = 0; i < 6; ++i) {
    JournalLedger ledger;
    const CrashEnumerator crashes = enumerate_crashes(ledger, base_seed(1) + i, 12, {});
    images.insert(crashes.image_hashes().begin(), crashes.image_hashes().end());
    records += ledger.records();
    EXPECT_EQ(crashes.violations().size(), 0U) << first_of(crashes.violations());
  }
  fmt::print("{} distinct disk images, {} records\n", images.size(), records);
  record_figure("crash_images", images.size());
  EXPECT_GT(images.size(), 10'000U);
  EXPECT_EQ(records, 6U * 62);
}

/// Enough short records in a row that most are copied into a window.
constexpr JournalWorkload::Shape kWindowed = {
    .journals = 3, .records = 26, .one_sync_in = 40, .window_bytes = AppendFile::kMinWindowBytes};

TEST(JournalCrash, Rule7_TheSameHoldsForRecordsThatAreCopiedIntoAWindow) {
  JournalLedger ledger;
  const CrashEnumerator crashes = enumerate_crashes(ledger, 1, 2, kWindowed);
  EXPECT_EQ(crashes.violations().size(), 0U) << first_of(crashes.violations());
  EXPECT_EQ(ledger.records(), 3U * 26 + 2);
  fmt::print("{} distinct disk images\n", crashes.images());
  EXPECT_GT(crashes.images(), 500U);
}

TEST(JournalCrash, Rule7_AWindowWithoutSyncIsCaught) {
  JournalLedger ledger;
  EXPECT_GT(enumerate_crashes(ledger, 1, 1, kWindowed, Fault{FaultKind::kForgottenSync, 8, true}).violations().size(),
            10U);
}

TEST(JournalCrash, AWriterWithoutSyncIsCaught) {
  JournalLedger ledger;
  EXPECT_GT(enumerate_crashes(ledger, 1, 2, {}, Fault{FaultKind::kForgottenSync, 1, true}).violations().size(), 10U);
}

TEST(JournalCrash, AWriterWithoutDirectorySyncIsCaught) {
  JournalLedger ledger;
  EXPECT_GT(enumerate_crashes(ledger, 1, 2, {}, Fault{FaultKind::kForgottenNames, 2, true}).violations().size(), 10U);
}

TEST(JournalCrash, AWriterThatSyncsOnlyTheNewestJournalIsCaught) {
  JournalLedger ledger;
  EXPECT_GT(enumerate_crashes(ledger, 1, 4, {.mistake = Mistake::kPredecessorNotSynced}).violations().size(), 10U);
}

TEST(JournalCrash, AWriterThatRecyclesWithTheOldSaltIsCaught) {
  std::size_t violations = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    JournalLedger ledger;
    // Sequences differ between uses of a file, so an old record at its old offset is out of order.
    violations += enumerate_crashes(ledger, seed, 1, {.mistake = Mistake::kSaltReused}).violations().size();
  }
  EXPECT_GT(violations, 0U);
}

/// The mistake of many stores: fsync fails, is called again, and its success is trusted.
TEST(JournalCrash, AWriterThatBelievesASecondSyncIsCaught) {
  int lost = 0;
  for (std::uint64_t attempt = 0; attempt < 20; ++attempt) {
    CrashFileSystem memory;
    FaultyFileSystem faulty(memory, {FaultKind::kIoError, 5 + attempt, true});
    const auto file = *faulty.open_writable("/a", OpenMode::kCreate);
    ASSERT_TRUE(faulty.sync_directory("/").ok());
    const std::string text(1000, 'x');
    const Bytes bytes = as_bytes(text);
    for (std::uint64_t i = 0; faulty.fired() == 0; ++i) {
      if (faulty.calls() + 1 == 5 + attempt) break;
      ASSERT_TRUE(file->write_at(i * text.size(), std::span(&bytes, 1)).ok());
    }
    const std::uint64_t size = *memory.file_size("/a").value();
    ASSERT_FALSE(file->sync().ok());
    faulty.heal();
    ASSERT_TRUE(file->sync().ok());
    CrashFileSystem rebooted(memory.disk().after_crash(Loss::kEverything, 1));
    if (*read_whole_file(rebooted, "/a") != std::string(size, 'x')) ++lost;
  }
  EXPECT_GT(lost, 10) << "the model returns dropped pages";
}

TEST(JournalFaults, AnyFailedCallLeavesWhatWasSyncedAndNothingThatWasNotWritten) {
  FaultCounts counts;
  fail_every_call_in_every_way(base_seed(1), {.journals = 5, .records = 8}, counts);
  EXPECT_EQ(counts.violations.size(), 0U) << first_of(counts.violations);
  fmt::print("{} runs, {} with a failed call, {} distinct disk images\n", counts.runs, counts.fired,
             counts.images.size());
  record_figure("crash_images", counts.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(counts.fired));
  EXPECT_GT(counts.fired, 500);
}

TEST(JournalFaults, Rule7_AnyFailedCallLeavesTheSameWhenRecordsAreCopiedIntoAWindow) {
  FaultCounts counts;
  fail_every_call_in_every_way(
      1, {.journals = 2, .records = 22, .one_sync_in = 40, .window_bytes = AppendFile::kMinWindowBytes}, counts, 11);
  EXPECT_EQ(counts.violations.size(), 0U) << first_of(counts.violations);
  fmt::print("{} runs, {} with a failed call, {} distinct disk images\n", counts.runs, counts.fired,
             counts.images.size());
  EXPECT_GT(counts.fired, 30);
}

}  // namespace
}  // namespace tamis::test
