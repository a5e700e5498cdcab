#include "engine/commit_queue.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>

#include "base/random.h"

namespace tamis {
namespace {

/// Records what it is given. Its fields are not atomic, so that TSan sees a race between leaders.
class Recorder final : public GroupLeader {
 public:
  void lead(std::span<CommitRequest* const> group) override {
    EXPECT_FALSE(is_leading.exchange(true)) << "two lead at once";
    EXPECT_FALSE(group.empty());
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      CommitRequest& request = *group[i];
      EXPECT_TRUE(request.kind == CommitRequest::Kind::kWrite || group.size() == 1) << "is not alone";
      bytes += request.changes.byte_size();
      std::string entries;
      EntryKeyspaces keyspaces;
      request.changes.append_to(entries, keyspaces);
      for (const char* at = entries.data(); at != entries.data() + entries.size();) {
        const EncodedEntry entry = load_batch_entry(at);
        done.emplace_back(entry.key);
        at = entry.end;
      }
      request.status = Status::busy(fmt::format("{}", ++requests));
    }
    EXPECT_TRUE(group.size() == 1 || bytes <= 1 << 20);
    largest = std::max(largest, group.size());
    is_leading = false;
  }

  std::atomic<bool> is_leading = false;
  std::vector<std::string> done;
  std::uint64_t requests = 0;
  std::size_t largest = 0;
};

/// Waits for `goes_on` before it leads its first group.
class Slow final : public GroupLeader {
 public:
  explicit Slow(Recorder& beneath) : beneath_(beneath) {}
  void lead(std::span<CommitRequest* const> group) override {
    leads = true;
    while (!goes_on) std::this_thread::yield();
    beneath_.lead(group);
  }
  std::atomic<bool> leads = false;
  std::atomic<bool> goes_on = false;

 private:
  Recorder& beneath_;
};

TEST(CommitQueue, AWriterThatIsAloneLeadsItsOwnGroup) {
  CommitQueue queue;
  Recorder leader;
  for (int i = 1; i <= 3; ++i) {
    Batch batch;
    batch.put(fmt::format("{}", i), "");
    CommitRequest request{.changes = batch};
    EXPECT_EQ(queue.commit(request, leader).message(), fmt::format("{}", i));
  }
  EXPECT_EQ(leader.done, (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(leader.largest, 1U);
}

/// Every request is done once, with its own answer; requests of one thread are done in order.
TEST(CommitQueue, ManyWritersAreServedOnceEachInTheirOrder) {
  constexpr std::uint64_t kThreads = 4;
  constexpr std::uint64_t kEach = 3000;
  CommitQueue queue;
  Recorder leader;
  std::atomic<std::uint64_t> answers = 0;
  std::vector<std::jthread> threads;
  for (std::uint64_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      SplitMix64 random(thread);
      std::uint64_t last = 0;
      for (std::uint64_t i = 0; i < kEach; ++i) {
        Batch batch;
        batch.put(fmt::format("{}.{:05}", thread, i), std::string(random.below(100) == 0 ? 400'000 : 10, 'v'));
        const std::uint64_t drawn = random.below(50);
        const auto kind = drawn == 0   ? CommitRequest::Kind::kSeal
                          : drawn == 1 ? CommitRequest::Kind::kResume
                                       : CommitRequest::Kind::kWrite;
        CommitRequest request{.kind = kind, .changes = batch};
        const Status status = queue.commit(request, leader);
        const std::uint64_t answer = std::stoull(std::string(status.message()));
        EXPECT_GT(answer, last);
        last = answer;
        answers += answer;
      }
    });
  }
  threads.clear();
  constexpr std::uint64_t kAll = kThreads * kEach;
  EXPECT_EQ(leader.requests, kAll);
  EXPECT_EQ(answers, kAll * (kAll + 1) / 2) << "each number was the answer to one request";
  ASSERT_EQ(leader.done.size(), kAll);
  std::map<char, std::string> last;
  for (const std::string& key : leader.done) {
    EXPECT_LT(last[key[0]], key);
    last[key[0]] = key;
  }
}

/// With one condition for all, each group woke every waiter in the queue.
TEST(CommitQueue, WakesOnlyWhoseRequestIsDoneAndTheNextLeader) {
  constexpr std::uint64_t kWriters = 16;
  CommitQueue queue;
  Recorder recorder;
  Slow leader(recorder);
  std::vector<std::jthread> writers;
  for (std::uint64_t i = 0; i <= kWriters; ++i) {
    writers.emplace_back([&] {
      CommitRequest request{.kind = CommitRequest::Kind::kSeal};  // Forms its own group.
      (void)queue.commit(request, leader).ok();
    });
    while (!leader.leads || queue.sleeps().begun < i) std::this_thread::yield();
  }
  leader.goes_on = true;
  writers.clear();
  EXPECT_EQ(recorder.requests, kWriters + 1);
  EXPECT_LE(queue.sleeps().interrupted, kWriters + 2) << "a few may be spurious";
}

/// Counts groups, and can be held in one.
struct Counting final : GroupLeader {
  void lead(std::span<CommitRequest* const> group) override {
    ++groups;
    largest = std::max(largest, group.size());
    while (is_held) std::this_thread::yield();
  }
  std::atomic<bool> is_held = false;
  std::atomic<std::uint64_t> groups = 0;
  std::size_t largest = 0;
};

void commit_once(CommitQueue& queue, GroupLeader& leader, bool sync) {
  CommitRequest request{.sync = sync};
  EXPECT_TRUE(queue.commit(request, leader).ok());
}

/// One leads, and the other comes while it does.
void commit_after_each_other(CommitQueue& queue, Counting& leader, bool second_syncs) {
  const std::uint64_t asleep = queue.sleeps().begun;
  const std::uint64_t groups = leader.groups;
  leader.is_held = true;
  std::jthread first([&] { commit_once(queue, leader, true); });
  while (leader.groups == groups) std::this_thread::yield();
  std::jthread second([&] { commit_once(queue, leader, second_syncs); });
  while (queue.sleeps().begun == asleep) std::this_thread::yield();
  leader.is_held = false;
}

constexpr CommitPatience kEndless{.share_of_sync = 1e12, .most = std::chrono::hours(1)};
constexpr CommitPatience kNone{.share_of_sync = 0, .most = {}};

/// Without waiting, a writer that is woken a little earlier than the others syncs alone.
TEST(CommitQueue, WritersThatSyncAndComeBackFormOneGroupEachTime) {
  constexpr std::uint64_t kWriters = 8;
  constexpr std::uint64_t kEach = 50;
  CommitQueue queue(kEndless);
  Counting leader;
  leader.is_held = true;
  std::vector<std::jthread> writers;
  for (std::uint64_t i = 0; i < kWriters; ++i) {
    const std::uint64_t commits = i == 0 ? kEach + 1 : kEach;  // The first leads its first group alone.
    writers.emplace_back([&, commits] {
      for (std::uint64_t done = 0; done < commits; ++done) commit_once(queue, leader, true);
    });
    while (leader.groups == 0 || queue.sleeps().begun < i) std::this_thread::yield();
  }
  leader.is_held = false;
  writers.clear();
  EXPECT_EQ(leader.groups, kEach + 1);
  EXPECT_EQ(leader.largest, kWriters);
  EXPECT_EQ(queue.gatherings().vain, 0U);
}

TEST(CommitQueue, WritersThatDoNotComeBackAreSeldomAwaited) {
  CommitQueue queue(kNone);
  Counting leader;
  commit_after_each_other(queue, leader, true);
  EXPECT_EQ(queue.gatherings().begun, 1U) << "the second one waits for the first one";
  EXPECT_EQ(queue.gatherings().vain, 1U);
  for (int i = 0; i < 20; ++i) commit_once(queue, leader, true);
  EXPECT_EQ(queue.gatherings().begun, 1U) << "a lone writer expects nobody";
  for (int i = 0; i < 8; ++i) commit_after_each_other(queue, leader, true);
  EXPECT_EQ(queue.gatherings().begun, 1U) << "the next eight do not try";
  commit_after_each_other(queue, leader, true);
  EXPECT_EQ(queue.gatherings().begun, 2U);
}

TEST(CommitQueue, WritersThatDoNotSyncWaitForNobody) {
  CommitQueue queue(kNone);
  Counting leader;
  commit_after_each_other(queue, leader, false);
  commit_once(queue, leader, false);
  EXPECT_EQ(queue.gatherings().begun, 0U);
}

/// The leader checks each group; those of the others form while the first is written.
TEST(CommitGroup, Rule8_AGroupStopsAtAMebibyteSoThatNobodyWaitsForMoreThanOne) {
  constexpr std::uint64_t kWriters = 8;
  Batch batch;
  batch.put("key", std::string(400 << 10, 'v'));
  CommitQueue queue;
  Recorder recorder;
  Slow leader(recorder);
  std::vector<std::jthread> writers;
  for (std::uint64_t i = 0; i <= kWriters; ++i) {
    writers.emplace_back([&, i] {
      CommitRequest request{.changes = batch};
      if (i == 3) request.kind = CommitRequest::Kind::kSeal;
      (void)queue.commit(request, leader).ok();
    });
    while (!leader.leads || queue.sleeps().begun < i) std::this_thread::yield();
  }
  leader.goes_on = true;
  writers.clear();
  EXPECT_EQ(recorder.requests, kWriters + 1);
  EXPECT_EQ(recorder.largest, 2U);
}

}  // namespace
}  // namespace tamis
