#include "cache/ghost_queue.h"

#include <gtest/gtest.h>

#include <deque>
#include <random>

namespace tamis {
namespace {

TEST(GhostQueue, CountsAChargeBeyond32BitsAsTheLargest) {
  GhostQueue ghosts;
  ghosts.set_limits(8, std::uint64_t{1} << 40);
  ghosts.push(1, std::uint64_t{1} << 36);
  ghosts.push(2, 0);
  EXPECT_TRUE(ghosts.take(1));
  EXPECT_TRUE(ghosts.take(2));
}

/// The same by linear search.
class SlowGhosts {
 public:
  void set_limits(std::size_t most, std::uint64_t limit) {
    most_ = most;
    limit_ = limit;
    forget();
  }
  void push(std::uint32_t fingerprint, std::uint32_t charge) {
    if (most_ == 0) return;
    take(fingerprint);
    ghosts_.push_back({fingerprint, charge});
    forget();
  }
  bool take(std::uint32_t fingerprint) {
    for (auto& [known, charge] : ghosts_) {
      if (charge != 0 && known == fingerprint) return charge = 0, true;
    }
    return false;
  }

 private:
  void forget() {
    std::uint64_t bytes = 0;
    for (const auto& [known, charge] : ghosts_) bytes += charge;
    while (ghosts_.size() > most_ || bytes > limit_) {
      bytes -= ghosts_.front().second;
      ghosts_.pop_front();
    }
  }

  std::size_t most_ = 0;
  std::uint64_t limit_ = 0;
  std::deque<std::pair<std::uint32_t, std::uint32_t>> ghosts_;
};

TEST(GhostQueue, AgreesWithALinearSearch) {
  GhostQueue ghosts;
  SlowGhosts slow;
  std::mt19937_64 random(5);
  for (int i = 0; i < 100'000; ++i) {
    // Equal low bits share a bucket; the numbers repeat, as fingerprints of different blocks may.
    const auto fingerprint = static_cast<std::uint32_t>(random() % 700 * 64);
    if (i % 5000 == 0) {
      const std::size_t most = i % 40'000 == 0 ? 0 : std::size_t{1} << (random() % 10);
      const std::uint64_t limit = random() % 100'000;
      ghosts.set_limits(most, limit);
      slow.set_limits(most, limit);
    }
    if (random() % 3 == 0) {
      ASSERT_EQ(ghosts.take(fingerprint), slow.take(fingerprint)) << i;
      continue;
    }
    const auto charge = static_cast<std::uint32_t>(1 + random() % 400);
    ghosts.push(fingerprint, charge);
    slow.push(fingerprint, charge);
  }
}

}  // namespace
}  // namespace tamis
