// P1 for the crash of a process: whenever a writer is killed, its acknowledged writes are there.
#include <gtest/gtest.h>

#include "process/child_process.h"
#include "process/killed_store.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(Kill, P1_WhatWasAcknowledgedSurvivesTheWriter) {
  const ScratchFolder scratch;
  KillCounts counts;
  for (std::uint64_t round = 0; round < 3; ++round) {
    for (const KilledIn where : {KilledIn::kLoad, KilledIn::kFlush, KilledIn::kCompaction, KilledIn::kAnywhere}) {
      kill_and_look(scratch.path(), where, base_seed(0) + 10 * round + static_cast<std::uint64_t>(where), counts);
    }
  }
  EXPECT_EQ(counts.violations.size(), 0U) << counts.violations.front();
  record_kills(counts);
  EXPECT_EQ(counts.kills, 12);
  EXPECT_GT(counts.acknowledged, 500U);
}

}  // namespace
}  // namespace tamis::test
