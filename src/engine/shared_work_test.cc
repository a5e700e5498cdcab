#include "engine/shared_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace tamis {
namespace {

TEST(SharedWork, EveryPieceIsDoneOnceAndBeforeRunReturns) {
  ChangeSignal changes;
  SharedWork work(changes);
  for (const std::size_t count : {1U, 2U, 50U}) {
    std::vector<std::atomic<int>> done(count);
    std::vector<SharedWork::Piece> pieces;
    for (std::atomic<int>& one : done) pieces.emplace_back([&one] { ++one; });
    std::atomic<bool> ends = false;
    std::jthread helper([&] {
      while (!ends) (void)work.help();
    });
    work.run(pieces);
    ends = true;
    for (const std::atomic<int>& one : done) EXPECT_EQ(one, 1);
  }
  EXPECT_FALSE(work.help());
}

/// Each of two pieces waits until the other has begun.
TEST(SharedWork, WhoHelpsWorksAtTheSameTime) {
  ChangeSignal changes;
  SharedWork work(changes);
  std::atomic<int> begun = 0;
  const auto meet = [&begun] {
    ++begun;
    while (begun < 2) std::this_thread::yield();
  };
  const ChangeSignal::Ticket before = changes.ticket();
  std::jthread helper([&] {
    changes.wait(before);
    EXPECT_TRUE(work.help());
  });
  work.run({meet, meet});
  EXPECT_EQ(begun, 2);
}

}  // namespace
}  // namespace tamis
