// Like store_crash_test.cc, after every call, with more losses and more orders of commits.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/store_crashes.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(StoreCrashSlow, P1_P2_EverySyncedCommitSurvivesAndTheRestIsAPrefix) {
  StoreCrashes crashes({.seeds = 2, .recovery_crashes = 150});
  std::uint64_t seed = base_seed(100);
  for (int round = 0; round < 2; ++round) {
    for (const StoreScript& script : store_scripts()) crashes.enumerate(script, seed++, round == 1);
  }
  ASSERT_EQ(crashes.violations().size(), 0U) << first_few(crashes.violations());
  fmt::print("{} distinct disk images, {} checks\n", crashes.images(), crashes.checks());
  record_figure("crash_images", crashes.images());
  record_figure("crash_checks", crashes.checks());
  EXPECT_GT(crashes.images(), 20'000U);
}

}  // namespace
}  // namespace tamis::test
