// Writers faster than compaction: how long they are delayed, that runs stay few, and that every wait ends.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <future>
#include <string>
#include <thread>
#include <utility>

#include "engine/pacing.h"
#include "io/memory_file_system.h"
#include "support/interrupted_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

constexpr std::uint64_t kMemory = 1 << 20;
constexpr std::uint64_t kMaxRuns = 36 + 2;  // The runs that stop writers, one being flushed and one being written.

Options small_options(std::string compaction) {
  return {.memory_bytes = kMemory,
          .memtable_bytes = 64 << 10,
          .table_bytes = 64 << 10,
          .compaction = std::move(compaction)};
}

/// A batch of the maximum size, over all keys.
Batch large_batch(int number) {
  Batch batch;
  const std::string value(2000, 'v');
  for (int i = 0; batch.byte_size() + 2100 < kMemory / 4; ++i) batch.put(fmt::format("{:04} {}", i, number % 3), value);
  return batch;
}

TEST(Backpressure, DelaysAreInProportionToTheBytesHoweverManyThereAre) {
  EXPECT_EQ(write_delay_us(kDebtThatSlows, 7 << 20), 0U);
  EXPECT_EQ(write_delay_us(1, 32 << 20), 1'000'000U);
  for (const double debt : {0.6, 1.0, 1.9, 30.0}) {
    EXPECT_NEAR(static_cast<double>(write_delay_us(debt, 64 << 20)),
                64 * static_cast<double>(write_delay_us(debt, 1 << 20)), 64)
        << debt;
  }
  EXPECT_LT(write_delay_us(100, 1 << 20), 300'000U) << "a group of puts waits for no second";
}

/// A store without threads that a test can interrupt in its next rewrite.
class HeldCompaction : public ::testing::Test {
 protected:
  DB open(std::string compaction) {
    return test::open_db({.files = &files_, .runs_in_background = false, .schedule_seed = 1},
                         small_options(std::move(compaction)));
  }
  /// Writes large batches until one is refused, at most `most`; returns how many were accepted.
  static int write_until_refused(DB& db, int most) {
    for (int i = 0; i < most; ++i) {
      if (const Status written = db.write(large_batch(i)); !written.ok()) {
        EXPECT_EQ(written.code(), StatusCode::kBusy) << written.to_text();
        return i;
      }
    }
    return most;
  }

  MemoryFileSystem disk_;
  test::OneInterruption interruption_;
  test::InterruptedFileSystem files_{disk_, std::ref(interruption_)};
};

TEST_F(HeldCompaction, BoundsTheRunsOfLevelZeroUnderLargeBatches) {
  for (const char* policy : {"leveled", "tiered"}) {
    SCOPED_TRACE(policy);
    DB db = open(policy);
    ASSERT_TRUE(db.write(large_batch(0)).ok());
    ASSERT_TRUE(db.flush().ok());
    std::uint64_t runs = 0;
    int written = 0;
    interruption_.action = [&] {
      written = write_until_refused(db, 100);
      runs = db.stats().levels[0].runs;
    };
    ASSERT_TRUE(db.compact().ok());
    ASSERT_FALSE(interruption_.action) << "no compaction ran";
    EXPECT_LE(runs, kMaxRuns);
    EXPECT_LT(written, 40);
    EXPECT_GT(written, 20) << "the stop is far out";
    EXPECT_TRUE(db.write(large_batch(1)).ok()) << "nothing holds it up any more";
    EXPECT_LE(db.stats().levels[0].runs, kMaxRuns);
    ASSERT_TRUE(db.close().ok());
    ASSERT_TRUE(DB::destroy("/store", {.files = &files_}).ok());
  }
}

TEST_F(HeldCompaction, HoldsNobodyUpUnderThePolicyThatNeverCompacts) {
  DB db = open("manual");
  EXPECT_EQ(write_until_refused(db, 60), 60);
  EXPECT_GT(db.stats().levels[0].runs, kMaxRuns);
}

/// A store with forty runs in level 0. Its compaction is held while a writer waits for it.
class FarBehind : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    {
      DB db = test::open_db(memory_, small_options("manual"));
      for (int i = 0; i < 40; ++i) ASSERT_TRUE(db.put("key", std::to_string(i)).ok() && db.flush().ok());
    }
    files_.shut();
    Options options = small_options("leveled");
    options.background_threads = GetParam();
    db_.emplace(test::open_db({.files = &files_}, options));
    writer_ = std::async(std::launch::async, [this] { return db_->put("other", "1"); });
    while (db_->stats().stalls.reason.find("far behind") == std::string::npos) std::this_thread::yield();
  }

  MemoryFileSystem memory_;
  test::GatedFileSystem files_{memory_};
  std::optional<DB> db_;
  std::future<Status> writer_;
};

TEST_P(FarBehind, AWriterWaitsUntilCompactionHasCaughtUp) {
  EXPECT_GT(db_->stats().levels[0].runs, 36U);
  files_.open();
  EXPECT_TRUE(writer_.get().ok());
  EXPECT_LE(db_->stats().levels[0].runs, 36U);
  EXPECT_GE(db_->stats().stalls.delayed_writes, 1U);
  EXPECT_EQ(**db_->get("key"), "39");
}

TEST_P(FarBehind, AWriterIsToldWhyCompactionFailed) {
  files_.open(Status::io_error("the disk is broken"));
  const Status written = writer_.get();
  EXPECT_EQ(written.code(), StatusCode::kIoError) << written.to_text();
  files_.open();
  ASSERT_TRUE(db_->resume().ok());
  EXPECT_TRUE(db_->put("other", "2").ok());
}

TEST_P(FarBehind, AWriterIsToldThatTheDiskIsFullAndGoesOnByItself) {
  files_.open(Status::out_of_space("the disk is full"));
  const Status written = writer_.get();
  EXPECT_EQ(written.code(), StatusCode::kOutOfSpace) << written.to_text();
  EXPECT_EQ(db_->put("other", "2").code(), StatusCode::kOutOfSpace);
  files_.open();
  EXPECT_TRUE(db_->put("other", "3").ok());
}

TEST_P(FarBehind, AWriterIsToldThatTheStoreIsClosed) {
  std::future<Status> closing = std::async(std::launch::async, [this] { return db_->close(); });
  const Status written = writer_.get();
  EXPECT_EQ(written.code(), StatusCode::kClosed) << written.to_text();
  files_.open();
  EXPECT_TRUE(closing.get().ok());
}

TEST_P(FarBehind, WhoWillNotWaitIsNotMadeTo) {
  Batch batch;
  batch.put("other", "2");
  EXPECT_EQ(db_->try_write(batch).code(), StatusCode::kBusy);
  files_.open();
  EXPECT_TRUE(writer_.get().ok());
}

INSTANTIATE_TEST_SUITE_P(BackgroundThreads, FarBehind, testing::Values(1U, 2U));

}  // namespace
}  // namespace tamis
