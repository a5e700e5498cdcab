// Crashes during repairs: after every call, with every kind of loss.
#include <gtest/gtest.h>

#include "support/repair_world.h"

namespace tamis {
namespace {

TEST(RepairCrash, EveryInterruptedRepairEndsTheSameWhenDoneAgain) {
  for (const bool has_manifest : {true, false}) {
    for (const char* policy : {"leveled", "tiered"}) test::crash_and_repair_again(policy, has_manifest, 1);
  }
}

}  // namespace
}  // namespace tamis
