#include "base/change_signal.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace tamis {
namespace {

TEST(ChangeSignal, AnAnnouncementAfterTheTicketIsNotMissed) {
  ChangeSignal signal;
  const ChangeSignal::Ticket ticket = signal.ticket();
  signal.announce();
  signal.wait(ticket);  // Returns at once.
  EXPECT_NE(signal.ticket(), ticket);
}

TEST(ChangeSignal, AWaitEndsWhenItsTimeHasPassed) {
  ChangeSignal signal;
  const ChangeSignal::Ticket ticket = signal.ticket();
  signal.wait_for(ticket, std::chrono::milliseconds(1));
  EXPECT_EQ(signal.ticket(), ticket);
}

TEST(ChangeSignal, ThreadsThatTakeTurnsNeverSleepForGood) {
  ChangeSignal signal;
  std::atomic<int> turn = 0;
  const auto play = [&](int self) {
    for (int round = 0; round < 2000; ++round) {
      while (true) {
        const ChangeSignal::Ticket ticket = signal.ticket();
        if (turn == self) break;
        signal.wait(ticket);
      }
      turn = 1 - self;
      signal.announce();
    }
  };
  std::thread other(play, 1);
  play(0);
  other.join();
}

}  // namespace
}  // namespace tamis
