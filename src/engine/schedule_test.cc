// The guarantees of Environment::schedule_seed; the model test has the rest.
#include "engine/schedule.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "support/crash_file_system.h"
#include "support/interrupted_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

using Step = Schedule::Step;

TEST(ScheduleDraws, SayEverythingNowAndThen) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Schedule schedule(seed);
    std::uint32_t since_everything = 0;
    for (int i = 0; i < 1000; ++i) {
      since_everything = schedule.draw() == Step::kEverything ? 0 : since_everything + 1;
      ASSERT_LT(since_everything, Schedule::kMaxPutOff) << "seed " << seed;
    }
  }
}

TEST(ScheduleDraws, SayAllThereIsToSay) {
  Schedule schedule(1);
  std::vector<int> counts(4);
  for (int i = 0; i < 1000; ++i) ++counts.at(static_cast<std::size_t>(schedule.draw()));
  EXPECT_GT(*std::ranges::min_element(counts), 10);
}

/// A store whose rewrites can be interrupted.
class ScheduledStore : public ::testing::Test {
 protected:
  void fill(int keys) {
    for (int i = 0; i < keys; ++i) ASSERT_TRUE(db_.put(fmt::format("{:05}", i), std::string(100, 'v')).ok());
  }
  /// Calls `action` once, on another thread, during the next rewrite.
  void interrupt_with(std::function<void()> action) { interruption_.action = std::move(action); }
  [[nodiscard]] bool is_interrupted() const { return !interruption_.action; }

  CrashFileSystem disk_;
  test::OneInterruption interruption_;
  test::InterruptedFileSystem files_{disk_, std::ref(interruption_)};
  DB db_ = test::open_db({.files = &files_, .runs_in_background = false, .schedule_seed = 1},
                         {.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .table_bytes = 8 << 10});
};

TEST_F(ScheduledStore, WhoWouldWaitForAFlushThatStandsStillIsToldSo) {
  fill(100);
  interrupt_with([&] {
    EXPECT_EQ(db_.flush().code(), StatusCode::kBusy);
    EXPECT_EQ(db_.compact().code(), StatusCode::kBusy);
    EXPECT_EQ(db_.wait_idle().code(), StatusCode::kBusy);
    EXPECT_EQ(db_.checkpoint("/copy").code(), StatusCode::kBusy);
    EXPECT_TRUE(db_.put("00001", "newer").ok());
  });
  ASSERT_TRUE(db_.flush().ok());
  ASSERT_TRUE(is_interrupted());
  EXPECT_EQ(*db_.get("00001"), "newer");
  EXPECT_EQ(*db_.get("00002"), std::string(100, 'v'));
}

TEST_F(ScheduledStore, WhatAWriteWouldWaitForInAFlushIsRefusedWhole) {
  fill(100);
  std::string last;
  interrupt_with([&] {
    const std::string value(10'000, 'w');
    Status written;
    for (int i = 0; written.ok(); ++i) {
      if (written = db_.put(fmt::format("big {:05}", i), value); written.ok()) continue;
      last = fmt::format("big {:05}", i);
    }
    EXPECT_EQ(written.code(), StatusCode::kBusy) << written.to_text();
  });
  ASSERT_TRUE(db_.flush().ok());
  ASSERT_TRUE(is_interrupted());
  EXPECT_FALSE(db_.get(last)->has_value());
  EXPECT_TRUE(db_.get("big 00000")->has_value());
  EXPECT_TRUE(db_.put(last, "now").ok());
}

TEST_F(ScheduledStore, ACompactionLetsFlushesThroughAndNoOtherCompaction) {
  fill(3000);
  ASSERT_TRUE(db_.flush().ok());
  ASSERT_TRUE(db_.wait_idle().ok());
  ASSERT_TRUE(db_.put("00000", "a").ok());
  ASSERT_TRUE(db_.put("99999", "z").ok());  // Overlaps everything, so that no table is only moved.
  ASSERT_TRUE(db_.flush().ok());
  std::uint64_t flushes = 0;
  interrupt_with([&] {
    const std::uint64_t before = db_.stats().flushes;
    EXPECT_TRUE(db_.put("00001", "newer").ok());
    EXPECT_TRUE(db_.flush().ok());
    EXPECT_EQ(db_.compact().code(), StatusCode::kBusy);
    flushes = db_.stats().flushes - before;
  });
  ASSERT_TRUE(db_.compact().ok());
  ASSERT_TRUE(is_interrupted());
  EXPECT_EQ(flushes, 1U);
  EXPECT_EQ(*db_.get("00001"), "newer");
}

TEST_F(ScheduledStore, WaitIdleDoesWhatWasPutOff) {
  for (int round = 0; round < 4; ++round) fill(3000);
  ASSERT_TRUE(db_.wait_idle().ok());
  const std::size_t calls = disk_.call_log().size();
  ASSERT_TRUE(db_.wait_idle().ok());
  EXPECT_EQ(disk_.call_log().size(), calls);
  EXPECT_GT(db_.stats().compactions, 0U);
}

}  // namespace
}  // namespace tamis
