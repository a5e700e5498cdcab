// Crashes during repairs: after every call, with every kind of loss.
#include <gtest/gtest.h>

#include "support/repair_world.h"

namespace tamis {
namespace {

using test::Contents;
using test::RepairWorld;

TEST(RepairCrash, EveryInterruptedRepairEndsTheSameWhenDoneAgain) {
  for (const bool has_manifest : {true, false}) {
    for (const char* policy : {"leveled", "tiered"}) {
      RepairWorld world;
      world.fill(policy, 1500);
      RepairWorld damaged(world.files.disk().after_crash(Loss::kNothing, 1));  // Everything durable.
      damaged.flip(table_path("/store", damaged.numbers(FileKind::kTable).front()), 100);
      if (!has_manifest) damaged.remove_manifest();
      ASSERT_TRUE(damaged.files.sync_directory("/store").ok());

      RepairWorld first(damaged.files.disk());
      std::vector<MemoryDisk> crashes;
      first.files.after_each_call([&](const MemoryDisk& disk, std::string_view) { crashes.push_back(disk); });
      first.repair();
      first.files.after_each_call({});
      const Contents expected = first.contents();
      for (std::size_t i = 0; i < crashes.size(); ++i) {
        for (const Loss loss : kAllLosses) {
          RepairWorld again(crashes[i].after_crash(loss, i));
          again.repair();
          ASSERT_TRUE(again.contents() == expected) << "crash " << i << ", " << to_string(loss);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tamis
