// Like manifest_crash_test.cc, with more workloads and losses, and with every call failing once.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/manifest_workload.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(ManifestCrashSlow, TheOpenedStateIsTheLastCommittedOrTheOneInFlight) {
  std::set<std::uint64_t> images;
  for (std::uint64_t i = 0; i < 10; ++i) {
    const ManifestCrashes found = crash_manifest_everywhere(base_seed(100) + i, 16);
    ASSERT_EQ(found.violations.size(), 0U) << found.violations.front();
    images.insert(found.images.begin(), found.images.end());
  }
  fmt::print("{} distinct disk images\n", images.size());
  record_figure("crash_images", images.size());
  EXPECT_GT(images.size(), 10'000U);
}

TEST(ManifestCrashSlow, AFailedCallMeansThatTheCommitHappenedOrNotAndRenewGoesOn) {
  ManifestCrashes crashes;
  for (std::uint64_t i = 0; i < 2; ++i) fail_manifest_calls(base_seed(100) + i, 1, crashes);
  ASSERT_EQ(crashes.violations.size(), 0U) << crashes.violations.front();
  fmt::print("{} runs, {} with a failed call, {} distinct disk images\n", crashes.runs, crashes.fired,
             crashes.images.size());
  record_figure("crash_images", crashes.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(crashes.fired));
  EXPECT_GT(crashes.fired, 2500);
}

}  // namespace
}  // namespace tamis::test
