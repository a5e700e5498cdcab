// P5 and P6: whichever call fails, the store goes on reading, says so to writers, and opens again with what it promised.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/store_ledger.h"
#include "faults/store_faults.h"

namespace tamis::test {
namespace {

TEST(NthCall, P5_P6_AnyFailedCallLeavesTheStoreReadableAndWhatItPromised) {
  StoreFaultCounts counts;
  std::uint64_t seed = 1;
  for (const StoreScript& script : store_scripts()) {
    ++seed;
    for (const FaultKind kind : honest_faults()) {
      for (const bool sticky : {false, true}) {
        // Strides without a common factor, so that the kinds meet different calls.
        std::uint64_t call = 1 + seed % 7;
        while (fail_store_call({kind, call, sticky}, script, seed, {}, counts)) call += sticky ? 67 : 41;
      }
    }
  }
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  fmt::print("{} runs, {} with a failed call; writes stopped in {}, went on by themselves in {}, were resumed in {}\n",
             counts.runs, counts.fired, counts.stopped, counts.went_on, counts.resumed);
  EXPECT_GT(counts.fired, 300);
  EXPECT_GT(counts.went_on, 3);
  EXPECT_GT(counts.resumed, 3);
}

TEST(NthCall, ASecondSyncOfAFileIsSeen) {
  EXPECT_EQ(synced_again({"create /a", "failed sync /a", "sync directory /", "sync /b"}), "");
  EXPECT_EQ(synced_again({"create /a", "failed sync /a", "sync /a"}), "/a");
  EXPECT_EQ(synced_again({"failed sync /a", "failed sync /a"}), "/a");
  EXPECT_EQ(synced_again({"failed sync /a", "remove /a", "create /a", "sync /a"}), "");
}

}  // namespace
}  // namespace tamis::test
