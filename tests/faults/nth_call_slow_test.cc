// Like nth_call_test.cc, for every call, and with machine crashes in the calls after the fault. Each call fails in
// every second way, the next call in the others.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/store_ledger.h"
#include "faults/store_faults.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(NthCallSlow, P5_P6_AnyFailedCallLeavesTheStoreReadableAndWhatItPromised) {
  StoreFaultCounts counts;
  std::uint64_t seed = base_seed(50);
  for (const StoreScript& script : store_scripts()) {
    ++seed;
    for (const FaultKind kind : honest_faults()) {
      for (const bool sticky : {false, true}) {
        std::uint64_t call = 1 + static_cast<std::uint64_t>(kind) % 2;
        while (fail_store_call({kind, call, sticky}, script, seed, {call % 10 == 0 ? 6U : 0U}, counts)) {
          call += sticky ? 3 : 2;
        }
      }
    }
    ASSERT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  }
  fmt::print(
      "{} runs, {} with a failed call; writes stopped in {}, resumed by themselves in {}, were resumed in {}; "
      "{} distinct disk images\n",
      counts.runs, counts.fired, counts.stopped, counts.went_on, counts.resumed, counts.images.size());
  record_figure("crash_images", counts.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(counts.fired));
  EXPECT_GT(counts.fired, 2500);
}

}  // namespace
}  // namespace tamis::test
