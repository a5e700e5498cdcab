// Groups of writers: their members, and the status that each one gets.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
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
    EXPECT_TRUE(*(*after)->get((*after)->default_keyspace(), "first", &value, {}));
    EXPECT_TRUE(*(*after)->get((*after)->default_keyspace(), "second", &value, {}));
  }
}

/// Lets others queue up behind its first group, then inspects their groups.
class WatchingLeader final : public GroupLeader {
 public:
  explicit WatchingLeader(std::uint64_t others) : others_(others) {}

  void lead(std::span<CommitRequest* const> group) override {
    while (group.front()->kind == CommitRequest::Kind::kResume && began < others_) std::this_thread::yield();
    std::size_t bytes = 0;
    for (const CommitRequest* request : group) {
      bytes += request->changes.byte_size();
      if (request->kind == CommitRequest::Kind::kSeal) {
        EXPECT_EQ(group.size(), 1U) << "one to seal is alone";
      }
    }
    if (group.size() > 1) {
      EXPECT_LE(bytes, std::size_t{1} << 20);
    }
    largest = std::max(largest, group.size());
  }

  std::atomic<std::uint64_t> began = 0;
  std::size_t largest = 0;

 private:
  const std::uint64_t others_;
};

TEST(CommitGroup, Rule8_AGroupStopsAtAMebibyteSoThatNobodyWaitsForMoreThanOne) {
  constexpr std::uint64_t kWriters = 8;
  const Batch batch = batch_of("key", std::string(400 << 10, 'v'));
  std::size_t largest = 0;
  for (int round = 0; round < 40; ++round) {
    CommitQueue queue;
    WatchingLeader leader(kWriters);
    std::vector<std::jthread> writers;
    writers.emplace_back([&] {
      CommitRequest first{.kind = CommitRequest::Kind::kResume};  // Its group waits for the others.
      EXPECT_TRUE(queue.commit(first, leader).ok());
    });
    for (std::uint64_t i = 0; i < kWriters; ++i) {
      writers.emplace_back([&, i] {
        CommitRequest request{.changes = batch};
        if (i == 3) request.kind = CommitRequest::Kind::kSeal;
        ++leader.began;
        EXPECT_TRUE(queue.commit(request, leader).ok());
      });
    }
    writers.clear();
    largest = std::max(largest, leader.largest);
  }
  EXPECT_GT(largest, 1U) << "no group ever formed";
}

}  // namespace
}  // namespace tamis
