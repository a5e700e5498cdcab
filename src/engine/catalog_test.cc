#include "engine/catalog.h"

#include <gtest/gtest.h>

#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"

namespace tamis {
namespace {

struct World {
  explicit World(FileSystem& files) : context("/store", {}, {.files = &files, .random_seed = 1}) {}

  StoreContext context;
  ChangeSignal changes;
  Health health{context, changes};
  Catalog catalog{context, health};
};

std::uint64_t reserved(const Catalog& catalog) {
  std::uint64_t numbers = 0;
  catalog.inspect([&](const ManifestState& state) { numbers = state.reserved_numbers; });
  return numbers;
}

TEST(Catalog, Rule19_ANumberIsReservedInTheManifestBeforeItIsUsed) {
  CrashFileSystem files;
  ASSERT_TRUE(files.make_directory("/store").ok());
  std::uint64_t last = 0;
  {
    World world(files);
    ASSERT_TRUE(world.catalog.open(false).ok());
    for (int i = 0; i < 200; ++i) {
      const Result<std::uint64_t> number = world.catalog.new_number();
      ASSERT_TRUE(number.ok());
      EXPECT_GT(*number, last);
      EXPECT_LT(*number, reserved(world.catalog));
      last = *number;
    }
  }
  World again(files);
  ASSERT_TRUE(again.catalog.open(true).ok());
  EXPECT_GT(*again.catalog.new_number(), last) << "a number was given twice";
}

TEST(Catalog, AnEditIsShownAfterItIsDurable) {
  CrashFileSystem files;
  ASSERT_TRUE(files.make_directory("/store").ok());
  ASSERT_TRUE(files.sync_directory("/").ok());
  World world(files);
  ASSERT_TRUE(world.catalog.open(false).ok());
  bool was_shown = false;
  ASSERT_TRUE(world.catalog
                  .commit({.flushed_sequence = 7},
                          [&](const ManifestState& state) {
                            was_shown = true;
                            EXPECT_EQ(state.flushed_sequence, 7U);
                            CrashFileSystem rebooted(files.disk().after_crash(Loss::kEverything, 1));
                            World other(rebooted);
                            ASSERT_TRUE(other.catalog.open(true).ok());
                            EXPECT_EQ(other.catalog.flushed_sequence(), 7U);
                          })
                  .ok());
  EXPECT_TRUE(was_shown);
}

TEST(Catalog, Rule5_AFailedCommitStopsWritesAndNothingIsCommittedUntilItIsRenewed) {
  CrashFileSystem memory;
  ASSERT_TRUE(memory.make_directory("/store").ok());
  {
    World world(memory);
    ASSERT_TRUE(world.catalog.open(false).ok());
    ASSERT_TRUE(
        world.catalog.commit(edit_of(kDefaultKeyspace, {.flushed_sequence = 1}), [](const ManifestState&) {}).ok());
  }
  FaultyFileSystem probe(memory);
  World dry(probe);
  ASSERT_TRUE(dry.catalog.open(true).ok());
  FaultyFileSystem faulty(memory, {.kind = FaultKind::kIoError, .at_call = probe.calls() + 1, .sticky = true});
  World world(faulty);
  ASSERT_TRUE(world.catalog.open(true).ok());
  bool was_shown = false;
  const auto show = [&](const ManifestState&) { was_shown = true; };
  EXPECT_FALSE(world.catalog.commit(edit_of(kDefaultKeyspace, {.flushed_sequence = 2}), show).ok());
  EXPECT_TRUE(world.health.has_stopped());
  faulty.heal();
  EXPECT_FALSE(world.catalog.commit(edit_of(kDefaultKeyspace, {.flushed_sequence = 2}), show).ok());
  EXPECT_FALSE(was_shown);
  ASSERT_TRUE(world.catalog.renew_if_failed().ok());
  EXPECT_TRUE(world.catalog.commit(edit_of(kDefaultKeyspace, {.flushed_sequence = 2}), show).ok());
  EXPECT_TRUE(was_shown);
}

}  // namespace
}  // namespace tamis
