// P1 and P2 for a whole store. After every call of a workload, with every way in which a disk may lose unsynced data,
// it opens and holds a prefix of its commits, with whole batches and every commit that was promised to stay.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "crash/store_crashes.h"
#include "support/faulty_file_system.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

int count_of(const LandmarkCounts& counts, Landmark landmark) { return counts[static_cast<std::size_t>(landmark)]; }

TEST(StoreCrash, P1_P2_EverySyncedCommitSurvivesAndTheRestIsAPrefix) {
  StoreCrashes crashes({.seeds = 1, .recovery_crashes = 60, .every = 9});
  std::uint64_t seed = base_seed(1);
  for (const StoreScript& script : store_scripts()) crashes.enumerate(script, seed++);
  EXPECT_EQ(crashes.violations().size(), 0U) << first_few(crashes.violations());
  fmt::print("{} distinct disk images, {} checks\n", crashes.images(), crashes.checks());
  record_figure("crash_images", crashes.images());
  record_figure("crash_checks", crashes.checks());
  EXPECT_GT(crashes.images(), 2000U);
  for (std::size_t i = 0; i < kLandmarks; ++i) {
    EXPECT_GT(crashes.landmarks()[i], 0) << "no crash in: " << to_string(static_cast<Landmark>(i));
  }
  for (const Loss loss : kAllLosses) EXPECT_GT(crashes.images_by(loss), 50U) << to_string(loss);
}

TEST(StoreCrash, P1_P2_TheSameHoldsForAStoreThatHasCrashedBefore) {
  StoreCrashes crashes({.seeds = 1, .recovery_crashes = 60, .every = 25});
  std::uint64_t seed = base_seed(20);
  for (const StoreScript& script : store_scripts()) crashes.enumerate(script, seed++, true);
  EXPECT_EQ(crashes.violations().size(), 0U) << first_few(crashes.violations());
  record_figure("crash_images", crashes.images());
  record_figure("crash_checks", crashes.checks());
  EXPECT_GT(crashes.images(), 800U);
}

TEST(StoreCrash, EachWorkloadContainsWhatItsNameSays) {
  std::map<std::string_view, std::vector<Landmark>> claims = {
      {"commits", {}},
      {"journals in turn", {Landmark::kRecycledName, Landmark::kRecycledHeader, Landmark::kRecycledCommit}},
      {"full memtables", {}},
      {"tiers", {}},
      {"a long manifest", {Landmark::kManifestRoll, Landmark::kObsoleteManifest}},
      {"closed and opened", {Landmark::kContinuedCommit}},
      {"copied", {Landmark::kLinkedTable, Landmark::kCopiedManifest, Landmark::kCopiedCurrent}},
      {"copied without links", {Landmark::kCopiedTable, Landmark::kCopiedManifest, Landmark::kCopiedCurrent}},
      {"deletes", {}},
      {"range deletes", {Landmark::kContinuedCommit, Landmark::kLinkedTable}},
      {"copied into a window", {Landmark::kCopiedCommit}},
      {"keyspaces", {Landmark::kLinkedTable}},
      {"keyspaces in turn", {Landmark::kContinuedCommit}},
      {"transactions", {}},
      {"ranges in transactions", {Landmark::kContinuedCommit, Landmark::kLinkedTable}},
      {"conditional puts", {Landmark::kContinuedCommit, Landmark::kLinkedTable}},
      {"merges", {Landmark::kContinuedCommit, Landmark::kLinkedTable}},
      {"expiry", {Landmark::kLinkedTable, Landmark::kCounters}},
      {"values apart", {Landmark::kValues, Landmark::kObsoleteValues, Landmark::kLinkedTable}},
      {"values apart in tiers", {Landmark::kValues, Landmark::kObsoleteValues}},
      {"values apart that go", {Landmark::kValues, Landmark::kObsoleteValues}},
  };
  ASSERT_EQ(claims.size(), store_scripts().size());
  std::uint64_t seed = 1;
  for (const StoreScript& script : store_scripts()) {
    ASSERT_TRUE(claims.contains(script.name)) << script.name;
    const LandmarkCounts met = landmarks_of(script, seed++);
    std::vector<Landmark>& expected = claims[script.name];
    // For each of them.
    expected.insert(expected.end(),
                    {Landmark::kCommit, Landmark::kJournalSwitch, Landmark::kFlushedTable, Landmark::kCompactedTable,
                     Landmark::kObsoleteTable, Landmark::kManifestEdit, Landmark::kCurrent});
    for (const Landmark landmark : expected) {
      EXPECT_GT(count_of(met, landmark), 0) << script.name << ": " << to_string(landmark);
    }
  }
}

/// Not with every seed, whose meaning also depends on the compiler.
TEST(StoreCrash, TheWorkloadsWithExpiryAndWithRangeDeletesDropTablesUnread) {
  for (const StoreScript& script : store_scripts()) {
    int expired = 0;
    int covered = 0;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      CrashFileSystem memory;
      StoreLedger ledger;
      StoreWorkload workload(memory, ledger, script, seed);
      workload.run();
      expired += workload.events().expired;
      covered += workload.events().covered;
    }
    if (script.name == "expiry") {
      EXPECT_GT(expired, 0);
    }
    if (script.name == "range deletes" || script.name == "ranges in transactions") {
      EXPECT_GT(covered, 0) << script.name;
    }
  }
}

/// Proves that the tests can fail: a disk that does not sync loses promised data.
TEST(StoreCrash, ADiskThatForgetsToSyncIsCaught) {
  for (const FaultKind kind : {FaultKind::kForgottenSync, FaultKind::kForgottenNames}) {
    CrashFileSystem memory;
    FaultyFileSystem lying(memory, {kind, 40, true});
    StoreLedger ledger;
    const StoreScript& script = store_scripts()[0];
    int broken = 0;
    StoreWorkload workload(lying, ledger, script, 1);
    workload.after_each_step([&](DB&, const Status&) {
      Content found;
      const MemoryDisk image = memory.disk().after_crash(Loss::kEverything, 1);
      broken += check_store(image, ledger, script, Crash::kMachine, found).empty() ? 0 : 1;
    });
    workload.run();
    EXPECT_GT(broken, 5);
  }
}

TEST(StoreLedger, KnowsWhatAStoreMayHold) {
  StoreLedger ledger;
  Batch first;
  first.put("a", "1");
  ledger.tries(first);
  ledger.acknowledged(true);
  Batch second;
  second.put("b", "2");
  second.put("c", "3");
  ledger.tries(second);
  EXPECT_EQ(ledger.check({{"a", "1"}}, Crash::kProcess), "");
  EXPECT_EQ(ledger.check({{"a", "1"}, {"b", "2"}, {"c", "3"}}, Crash::kProcess), "");
  EXPECT_NE(ledger.check({{"a", "1"}, {"b", "2"}}, Crash::kProcess), "") << "half a batch";
  EXPECT_NE(ledger.check({}, Crash::kMachine), "") << "a synced commit is missing";
  ledger.acknowledged(false);
  EXPECT_EQ(ledger.check({{"a", "1"}}, Crash::kMachine), "");
  EXPECT_NE(ledger.check({{"a", "1"}}, Crash::kProcess), "") << "an acknowledged commit is missing";
  EXPECT_NE(ledger.check({{"b", "2"}, {"c", "3"}}, Crash::kMachine), "") << "no prefix";
}

}  // namespace
}  // namespace tamis::test
