// P1 and P2 for a whole store: after every call of a workload, in every way in which a disk may lose what was not
// synced, it opens and holds a prefix of its commits, batches whole, with every one that was promised to stay.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "crash/store_crashes.h"
#include "io/faulty_file_system.h"

namespace tamis::test {
namespace {

bool any_call(const StoreCrashes& crashes, std::string_view begin, std::string_view part) {
  return std::ranges::any_of(crashes.calls(), [&](const std::string& call) {
    return call.starts_with(begin) && call.find(part) != std::string::npos;
  });
}

TEST(StoreCrash, P1_P2_EverySyncedCommitSurvivesAndTheRestIsAPrefix) {
  StoreCrashes crashes({.seeds = 1, .recovery_crashes = 60, .every = 7});
  std::uint64_t seed = 1;
  for (const StoreScript& script : store_scripts()) crashes.enumerate(script, seed++);
  EXPECT_EQ(crashes.violations().size(), 0U) << first_few(crashes.violations());
  fmt::print("{} distinct disk images, {} checks\n", crashes.images(), crashes.checks());
  EXPECT_GT(crashes.images(), 2000U);
  EXPECT_TRUE(any_call(crashes, "rename", ".journal.tmp")) << "no journal was recycled";
  EXPECT_TRUE(any_call(crashes, "create", ".tms")) << "no table was made";
  EXPECT_TRUE(any_call(crashes, "link", "/copy/")) << "no table was linked";
  EXPECT_TRUE(any_call(crashes, "copy", ".journal")) << "nothing was copied into a window";
  EXPECT_TRUE(any_call(crashes, "remove", "MANIFEST")) << "no manifest was replaced by another";
}

TEST(StoreCrash, P1_P2_TheSameHoldsForAStoreThatHasCrashedBefore) {
  StoreCrashes crashes({.seeds = 1, .recovery_crashes = 60, .every = 14});
  std::uint64_t seed = 20;
  for (const StoreScript& script : store_scripts()) crashes.enumerate(script, seed++, true);
  EXPECT_EQ(crashes.violations().size(), 0U) << first_few(crashes.violations());
  EXPECT_GT(crashes.images(), 800U);
}

/// The tests can fail: a disk that does not sync loses what was promised.
TEST(StoreCrash, ADiskThatForgetsToSyncIsCaught) {
  for (const FaultKind kind : {FaultKind::kForgottenSync, FaultKind::kForgottenNames}) {
    MemoryFileSystem memory;
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
