// A store that is scanned merges the runs that its scans have to merge, without waiting for more of them.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "io/memory_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

class ScannedOften : public ::testing::Test {
 protected:
  static constexpr int kKeys = 10'000;
  static constexpr int kRuns = 3;

  /// Level 0 with three runs, which are too few to be merged.
  explicit ScannedOften(const char* compaction = "leveled")
      : db_(test::open_db(files_, {.filter = "none", .compaction = compaction})) {
    for (int run = 0; run < kRuns; ++run) {
      for (int i = run; i < kKeys; i += kRuns) put(i);
      EXPECT_TRUE(db_.flush().ok());
    }
    work();
  }

  void put(int i) { EXPECT_TRUE(db_.put(fmt::format("{:05}", i), std::string(100, 'v')).ok()); }
  /// Without threads, writes do what is due: compactions first, then upkeep.
  void work() {
    put(0);
    put(0);
  }
  void scan(int times) {
    for (int i = 0; i < times; ++i) {
      const Iterator at = db_.scan({.from = fmt::format("{:05}", i * 37 % kKeys)});
      ASSERT_TRUE(at.valid());
    }
  }
  [[nodiscard]] std::uint64_t runs() const {
    std::uint64_t runs = 0;
    for (const Stats::Level& level : db_.stats().levels) runs += level.runs;
    return runs;
  }
  [[nodiscard]] std::uint64_t blocks() const {
    std::uint64_t bytes = 0;
    for (const Stats::Level& level : db_.stats().levels) bytes += level.bytes;
    return bytes / 4096;
  }

  MemoryFileSystem files_;
  DB db_;
};

TEST_F(ScannedOften, LevelZeroIsMergedOnceScansHaveLookedAtAsManyBlocks) {
  EXPECT_EQ(runs(), std::uint64_t{kRuns});
  scan(static_cast<int>(blocks()));  // Two runs besides the first.
  work();
  EXPECT_EQ(runs(), 1U);
  EXPECT_EQ(db_.stats().compactions, 1U);
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE((*db_.get(fmt::format("{:05}", i))).has_value()) << i;
}

TEST_F(ScannedOften, FewScansRewriteNothing) {
  scan(static_cast<int>(blocks()) / 4);
  work();
  EXPECT_EQ(runs(), std::uint64_t{kRuns});
}

TEST_F(ScannedOften, ScansOfOneRunRewriteNothing) {
  ASSERT_TRUE(db_.compact().ok());
  const std::uint64_t before = db_.stats().compactions;
  scan(5000);
  work();
  EXPECT_EQ(db_.stats().compactions, before);
}

class ScannedOftenByHand : public ScannedOften {
 protected:
  ScannedOftenByHand() : ScannedOften("manual") {}
};

TEST_F(ScannedOftenByHand, OnlyCompactRewrites) {
  scan(5000);
  work();
  EXPECT_EQ(runs(), std::uint64_t{kRuns});
}

}  // namespace
}  // namespace tamis
