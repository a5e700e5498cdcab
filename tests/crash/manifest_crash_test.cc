// After every call of a manifest at work, with every way in which a disk may lose unsynced data, opening finds the last
// committed state or the one in flight, never an older one.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/manifest_workload.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

std::string first_of(const std::vector<std::string>& violations) {
  return violations.empty() ? "" : violations.front();
}

TEST(ManifestCrash, TheOpenedStateIsTheLastCommittedOrTheOneInFlight) {
  std::set<std::uint64_t> images;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const ManifestCrashes found = crash_manifest_everywhere(base_seed(1) + i, 4);
    EXPECT_EQ(found.violations.size(), 0U) << first_of(found.violations);
    EXPECT_EQ(found.commits, 23U);
    EXPECT_GE(found.manifests, 4U) << "rolled, opened without a close, renewed";
    images.insert(found.images.begin(), found.images.end());
  }
  fmt::print("{} distinct disk images\n", images.size());
  record_figure("crash_images", images.size());
  EXPECT_GT(images.size(), 1'500U);
}

TEST(ManifestCrash, AManifestWithoutSyncIsCaught) {
  EXPECT_GT(crash_manifest_everywhere(1, 2, Fault{FaultKind::kForgottenSync, 1, true}).violations.size(), 10U);
}

TEST(ManifestCrash, AManifestWithoutDirectorySyncIsCaught) {
  EXPECT_GT(crash_manifest_everywhere(1, 2, Fault{FaultKind::kForgottenNames, 3, true}).violations.size(), 10U);
}

TEST(ManifestFaults, AFailedCallMeansThatTheCommitHappenedOrNotAndRenewGoesOn) {
  ManifestCrashes crashes;
  fail_manifest_calls(base_seed(1), 9, crashes);
  EXPECT_EQ(crashes.violations.size(), 0U) << first_of(crashes.violations);
  fmt::print("{} runs, {} with a failed call, {} distinct disk images\n", crashes.runs, crashes.fired,
             crashes.images.size());
  record_figure("crash_images", crashes.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(crashes.fired));
  EXPECT_GT(crashes.fired, 200);
}

}  // namespace
}  // namespace tamis::test
