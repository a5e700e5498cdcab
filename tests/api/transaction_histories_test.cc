// More than 100,000 random transactions of eight threads: what they read and wrote has a serial order.
#include <gtest/gtest.h>

#include <cstdint>

#include "api/random_transactions.h"
#include "base/sanitizer.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

constexpr int kThreads = 8;
constexpr int kRounds = kWatchesMemory ? 4 : 30;
constexpr int kTransactions = 500;  // Of each thread in a round.

void check_rounds(Isolation isolation, std::uint64_t seed) {
  std::uint64_t committed = 0;
  std::uint64_t conflicts = 0;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    RandomTransactions transactions(isolation, base_seed(seed) + 1000 * round);
    transactions.run(kThreads, kTransactions);
    ASSERT_EQ(transactions.check(), "") << "round " << round;
    committed += transactions.committed();
    conflicts += transactions.conflicts();
  }
  const std::uint64_t all = std::uint64_t{kThreads} * kTransactions * kRounds;
  EXPECT_GT(committed, all / 5) << conflicts << " conflicts";
  EXPECT_GT(conflicts, all / 1000) << "they hardly met";
  ::testing::Test::RecordProperty("committed", static_cast<int>(committed));
  ::testing::Test::RecordProperty("conflicts", static_cast<int>(conflicts));
}

TEST(TransactionHistories, Rule39_SerializableOnesHaveASerialOrder) { check_rounds(Isolation::kSerializable, 1); }

TEST(TransactionHistories, Rule39_AtSnapshotIsolationNobodyOverwritesWhatItDidNotSee) {
  check_rounds(Isolation::kSnapshot, 2);
}

}  // namespace
}  // namespace tamis::test
