#include "base/epoch.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace tamis {
namespace {

TEST(Epoch, Rule10_PassesAtOnceWhenNobodyIsLooking) { EXPECT_TRUE(epoch::has_passed(epoch::retire())); }

TEST(Epoch, Rule10_DoesNotPassWhileSomebodyWhoBeganBeforeIsLooking) {
  auto guard = std::make_unique<EpochGuard>();
  const std::uint64_t retired = epoch::retire();
  EXPECT_FALSE(epoch::has_passed(retired));
  guard.reset();
  EXPECT_TRUE(epoch::has_passed(retired));
}

TEST(Epoch, Rule10_WhoBeganAfterwardsIsNotWaitedFor) {
  const std::uint64_t retired = epoch::retire();
  const EpochGuard guard;
  EXPECT_TRUE(epoch::has_passed(retired));
}

TEST(Epoch, RecordsOfThreadsThatEndedAreUsedAgain) {
  epoch::Record* first = nullptr;
  epoch::Record* second = nullptr;
  for (epoch::Record** record : {&first, &second}) {
    std::thread([&] {
      const EpochGuard guard;
      *record = epoch::my_record;
    }).join();
  }
  EXPECT_EQ(first, second);
}

TEST(Epoch, AThreadOfTheParentDoesNotKeepAForkedChildWaiting) {
  std::atomic<int> step = 0;
  std::thread looking([&] {
    const EpochGuard guard;
    step = 1;
    while (step != 2) std::this_thread::yield();
  });
  while (step != 1) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) ::_exit(epoch::has_passed(epoch::retire()) ? 0 : 1);
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  step = 2;
  looking.join();
}

/// The number is poisoned before it is freed: a reader that sees the poison has read freed memory.
TEST(Epoch, Rule10_NothingIsFreedUnderAReader) {
  constexpr int kPoison = -1;
  std::atomic<int*> shared = new int(0);
  std::atomic<bool> stops = false;
  std::atomic<int> poisoned = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!stops) {
        const EpochGuard guard;
        if (*shared.load() == kPoison) ++poisoned;
      }
    });
  }
  for (int i = 1; i < 2000; ++i) {
    int* const before = shared.exchange(new int(i));
    epoch::wait(epoch::retire());
    *before = kPoison;
    delete before;
  }
  stops = true;
  for (std::thread& reader : readers) reader.join();
  delete shared.load();
  EXPECT_EQ(poisoned, 0);
}

}  // namespace
}  // namespace tamis
