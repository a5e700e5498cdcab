// The checker of histories finds each anomaly in a history made by hand, and none in a serial one.
#include <gtest/gtest.h>

#include "support/transaction_history.h"

namespace tamis::test {
namespace {

TEST(HistoryCheck, ASerialHistoryHasNoCycle) {
  TransactionHistory history;
  EXPECT_EQ(history.find_cycle(), "");
  for (std::uint32_t t = 1; t <= 5; ++t) {
    history.add_read("x", t - 1, t);
    history.add_read("never written", 0, t);
    history.add_write("x", t);
    history.add_write("y", t);
  }
  history.add_read("x", 3, 6);
  history.add_read("y", 3, 6);
  EXPECT_EQ(history.find_cycle(), "") << "6 is between 3 and 4";
}

TEST(HistoryCheck, ReadingOwnVersionsIsNoCycle) {
  TransactionHistory history;
  history.add_write("x", 1);
  history.add_write("x", 1);
  history.add_read("x", 1, 1);
  EXPECT_EQ(history.find_cycle(), "");
}

TEST(HistoryCheck, FindsG0) {
  TransactionHistory history;
  history.add_write("x", 1);
  history.add_write("x", 2);
  history.add_write("y", 2);
  history.add_write("y", 1);
  EXPECT_EQ(history.find_cycle(), "1 -ww x-> 2 -ww y-> 1");
}

TEST(HistoryCheck, FindsG1c) {
  TransactionHistory history;
  history.add_write("x", 1);
  history.add_write("y", 2);
  history.add_read("y", 1, 1);
  history.add_read("x", 1, 2);
  EXPECT_EQ(history.find_cycle(), "1 -wr x-> 2 -wr y-> 1");
}

TEST(HistoryCheck, FindsG1bAsACycle) {
  TransactionHistory history;  // 2 reads a version that 1 overwrites itself.
  history.add_write("x", 1);
  history.add_write("x", 1);
  history.add_read("x", 1, 2);
  EXPECT_EQ(history.find_cycle(), "1 -wr x-> 2 -rw x-> 1");
}

TEST(HistoryCheck, FindsALostUpdate) {
  TransactionHistory history;
  history.add_read("x", 0, 1);
  history.add_read("x", 0, 2);
  history.add_write("x", 1);
  history.add_write("x", 2);
  EXPECT_EQ(history.find_cycle(), "1 -ww x-> 2 -rw x-> 1");
}

TEST(HistoryCheck, FindsReadSkew) {
  TransactionHistory history;
  history.add_read("x", 0, 1);
  history.add_write("x", 2);
  history.add_write("y", 2);
  history.add_read("y", 1, 1);
  EXPECT_EQ(history.find_cycle(), "1 -rw x-> 2 -wr y-> 1");
}

TEST(HistoryCheck, FindsWriteSkew) {
  TransactionHistory history;
  history.add_read("x", 0, 1);
  history.add_read("y", 0, 2);
  history.add_write("y", 1);
  history.add_write("x", 2);
  EXPECT_EQ(history.find_cycle(), "1 -rw x-> 2 -rw y-> 1");
}

TEST(HistoryCheck, FindsAPhantom) {
  TransactionHistory history;  // Each scanned past the key that the other inserted.
  for (const std::uint32_t t : {1U, 2U}) {
    history.add_read("z1", 0, t);
    history.add_read("z2", 0, t);
  }
  history.add_write("z1", 1);
  history.add_write("z2", 2);
  EXPECT_EQ(history.find_cycle(), "1 -rw z2-> 2 -rw z1-> 1");
}

TEST(HistoryCheck, FindsALongCycle) {
  TransactionHistory history;
  constexpr std::uint32_t kTransactions = 100'000;
  for (std::uint32_t t = 1; t <= kTransactions; ++t) {
    const std::string key = std::to_string(t);
    history.add_write(key, t);
    history.add_read(key, 1, t % kTransactions + 1);
  }
  EXPECT_NE(history.find_cycle(), "");
}

}  // namespace
}  // namespace tamis::test
