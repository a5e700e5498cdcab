// Like kill_test.cc, two hundred times, in several stores.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "process/child_process.h"
#include "process/killed_store.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(KillSlow, P1_WhatWasAcknowledgedSurvivesTheWriter) {
  KillCounts counts;
  for (int store = 0; store < 5; ++store) {
    const ScratchFolder scratch;
    for (std::uint64_t round = 0; round < 10; ++round) {
      for (const KilledIn where : {KilledIn::kAnywhere, KilledIn::kLoad, KilledIn::kFlush, KilledIn::kCompaction}) {
        kill_and_look(scratch.path(), where, base_seed(0) + 1000 * static_cast<std::uint64_t>(store) + 10 * round,
                      counts);
      }
    }
  }
  ASSERT_EQ(counts.violations.size(), 0U) << counts.violations.front();
  fmt::print("{} kills, of these {} inside load, {} inside flush, {} inside compaction; {} commits\n", counts.kills,
             counts.in_load, counts.in_flush, counts.in_compaction, counts.acknowledged);
  record_kills(counts);
  EXPECT_EQ(counts.kills, 200);
  EXPECT_GE(counts.in_flush, 15);
  EXPECT_GE(counts.in_compaction, 15);
}

}  // namespace
}  // namespace tamis::test
