// As manifest_crash_test.cc, with more workloads and losses, and with every call failing once.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/manifest_workload.h"
#include "support/figures.h"

namespace tamis::test {
namespace {

TEST(ManifestCrashSlow, TheOpenedStateIsTheLastCommittedOrTheOneInFlight) {
  std::set<std::uint64_t> images;
  for (std::uint64_t seed = 100; seed < 110; ++seed) {
    const ManifestCrashes found = crash_manifest_everywhere(seed, 16);
    ASSERT_EQ(found.violations.size(), 0U) << found.violations.front();
    images.insert(found.images.begin(), found.images.end());
  }
  fmt::print("{} distinct disk images\n", images.size());
  record_figure("crash_images", images.size());
  EXPECT_GT(images.size(), 10'000U);
}

TEST(ManifestCrashSlow, AFailedCallMeansThatTheCommitHappenedOrNotAndRenewGoesOn) {
  ManifestCrashes crashes;
  for (std::uint64_t seed = 100; seed < 102; ++seed) fail_manifest_calls(seed, 1, crashes);
  ASSERT_EQ(crashes.violations.size(), 0U) << crashes.violations.front();
  fmt::print("{} runs, {} with a failed call, {} distinct disk images\n", crashes.runs, crashes.fired,
             crashes.images.size());
  record_figure("crash_images", crashes.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(crashes.fired));
  EXPECT_GT(crashes.fired, 2500);
}

}  // namespace
}  // namespace tamis::test
