// Groups of writers: the status that each one gets.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/commit_queue.h"
#include "engine/store.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"

namespace tamis {
namespace {

Batch batch_of(const std::string& key, const std::string& value) {
  Batch batch;
  batch.put(key, value);
  return batch;
}

Result<std::shared_ptr<Store>> open_on(FileSystem& files) {
  return Store::open("/store", {}, {.files = &files, .random_seed = 1, .runs_in_background = false});
}

/// Two writers in one group.
struct Pair {
  Batch first = batch_of("first", "1");
  Batch second = batch_of("second", "2");
  CommitRequest leader{.changes = first};
  CommitRequest follower{.changes = second};

  void commit(Store& store) {
    const std::vector<CommitRequest*> group = {&leader, &follower};
    store.leader().lead(group);
  }
};

/// A call that fails during the write of a group fails the whole group.
TEST(CommitGroup, Rule6_EveryWriterOfAFailedGroupGetsTheError) {
  int failures = 0;
  for (std::uint64_t call = 1; call < 100; ++call) {
    CrashFileSystem memory;
    FaultyFileSystem files(memory, {.kind = FaultKind::kIoError, .at_call = call, .sticky = false});
    const Result<std::shared_ptr<Store>> store = open_on(files);
    if (!store.ok()) continue;
    const std::uint64_t fired_before = files.fired();
    Pair pair;
    pair.leader.sync = true;
    pair.commit(**store);
    EXPECT_EQ(pair.leader.status.to_text(), pair.follower.status.to_text()) << "call " << call;
    if (files.fired() == fired_before) continue;
    ++failures;
    EXPECT_FALSE(pair.follower.status.ok()) << "call " << call;
  }
  EXPECT_GT(failures, 1);
}

TEST(CommitGroup, Rule6_P1_AGroupIsSyncedForWhoeverInItAsks) {
  for (const bool leader_asks : {false, true}) {
    CrashFileSystem files;
    const Result<std::shared_ptr<Store>> store = open_on(files);
    ASSERT_TRUE(store.ok());
    Pair pair;
    (leader_asks ? pair.leader : pair.follower).sync = true;
    pair.commit(**store);
    ASSERT_TRUE(pair.leader.status.ok() && pair.follower.status.ok());
    CrashFileSystem rebooted(files.disk().after_crash(Loss::kEverything, 1));
    const Result<std::shared_ptr<Store>> after = open_on(rebooted);
    ASSERT_TRUE(after.ok()) << after.status().to_text();
    std::string value;
    EXPECT_TRUE(*(*after)->get("first", &value, {}));
    EXPECT_TRUE(*(*after)->get("second", &value, {}));
  }
}

}  // namespace
}  // namespace tamis
