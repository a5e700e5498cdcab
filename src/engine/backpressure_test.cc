// Writers faster than compaction: how long they are delayed, that runs stay few, and that every wait ends.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <string>
#include <thread>
#include <utility>

#include "engine/pacing.h"
#include "io/memory_file_system.h"
#include "support/interrupted_file_system.h"
#include "support/passing_file_system.h"
#include "tamis/db.h"

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
    Result<DB> opened = DB::open("/store", small_options(std::move(compaction)),
                                 {.files = &files_, .runs_in_background = false, .schedule_seed = 1});
    EXPECT_TRUE(opened.ok()) << opened.status().to_text();
    return *std::move(opened);
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
  std::function<void()> action_;
  test::InterruptedFileSystem files_{disk_, [this] {
                                       if (!action_) return;
                                       const std::function<void()> action = std::exchange(action_, {});
                                       std::thread(action).join();
                                     }};
};

TEST_F(HeldCompaction, BoundsTheRunsOfLevelZeroUnderLargeBatches) {
  for (const char* policy : {"leveled", "tiered"}) {
    SCOPED_TRACE(policy);
    DB db = open(policy);
    ASSERT_TRUE(db.write(large_batch(0)).ok());
    ASSERT_TRUE(db.flush().ok());
    std::uint64_t runs = 0;
    int written = 0;
    action_ = [&] {
      written = write_until_refused(db, 100);
      runs = db.stats().levels[0].runs;
    };
    ASSERT_TRUE(db.compact().ok());
    ASSERT_FALSE(action_) << "no compaction ran";
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

/// Blocks the creation of tables while held, and then fails it with `answer` if that is an error.
class HeldTables final : public test::PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;

  void hold() EXCLUDES(mutex_) { set(true, {}); }
  void let_go(Status answer = {}) EXCLUDES(mutex_) { set(false, std::move(answer)); }
  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override
      EXCLUDES(mutex_) {
    if (path.ends_with(".tms")) {
      MutexLock lock(mutex_);
      while (is_held_) changed_.wait(mutex_);
      if (!answer_.ok()) return answer_;
    }
    return PassingFileSystem::open_writable(path, mode);
  }

 private:
  void set(bool is_held, Status answer) EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    is_held_ = is_held;
    answer_ = std::move(answer);
    changed_.notify_all();
  }

  Mutex mutex_;
  Condition changed_;
  bool is_held_ GUARDED_BY(mutex_) = false;
  Status answer_ GUARDED_BY(mutex_);
};

/// Signals when a writer waits for compaction.
class WaitListener final : public EventListener {
 public:
  void on_event(const StoreEvent& event) override {
    if (event.kind != StoreEvent::Kind::kStallBegan || event.what.find("far behind") == std::string_view::npos) return;
    if (!std::exchange(is_told_, true)) waits_.set_value();
  }
  void wait_until_told() { waits_.get_future().wait(); }

 private:
  std::promise<void> waits_;
  bool is_told_ = false;
};

/// A store with forty runs in level 0. Its compaction is held while a writer waits for it.
class FarBehind : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void SetUp() override {
    {
      Result<DB> db = DB::open("/store", small_options("manual"), {.files = &memory_, .runs_in_background = false});
      ASSERT_TRUE(db.ok()) << db.status().to_text();
      for (int i = 0; i < 40; ++i) {
        ASSERT_TRUE(db->put("key", std::to_string(i)).ok());
        ASSERT_TRUE(db->flush().ok());
      }
    }
    files_.hold();
    Options options = small_options("leveled");
    options.background_threads = GetParam();
    Result<DB> db = DB::open("/store", options, {.files = &files_, .listener = &listener_});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    db_.emplace(*std::move(db));
    writer_ = std::async(std::launch::async, [this] { return db_->put("other", "1"); });
    listener_.wait_until_told();
  }

  MemoryFileSystem memory_;
  HeldTables files_{memory_};
  WaitListener listener_;
  std::optional<DB> db_;
  std::future<Status> writer_;
};

TEST_P(FarBehind, AWriterWaitsUntilCompactionHasCaughtUp) {
  EXPECT_NE(db_->stats().stalls.reason.find("far behind"), std::string::npos);
  EXPECT_GT(db_->stats().levels[0].runs, 36U);
  files_.let_go();
  EXPECT_TRUE(writer_.get().ok());
  EXPECT_LE(db_->stats().levels[0].runs, 36U);
  EXPECT_GE(db_->stats().stalls.delayed_writes, 1U);
  EXPECT_EQ(**db_->get("key"), "39");
}

TEST_P(FarBehind, AWriterIsToldWhyCompactionFailed) {
  files_.let_go(Status::io_error("the disk is broken"));
  const Status written = writer_.get();
  EXPECT_EQ(written.code(), StatusCode::kIoError) << written.to_text();
  files_.let_go();
  ASSERT_TRUE(db_->resume().ok());
  EXPECT_TRUE(db_->put("other", "2").ok());
}

TEST_P(FarBehind, AWriterIsToldThatTheDiskIsFullAndGoesOnByItself) {
  files_.let_go(Status::out_of_space("the disk is full"));
  const Status written = writer_.get();
  EXPECT_EQ(written.code(), StatusCode::kOutOfSpace) << written.to_text();
  EXPECT_EQ(db_->put("other", "2").code(), StatusCode::kOutOfSpace);
  files_.let_go();
  EXPECT_TRUE(db_->put("other", "3").ok());
}

TEST_P(FarBehind, AWriterIsToldThatTheStoreIsClosed) {
  std::future<Status> closing = std::async(std::launch::async, [this] { return db_->close(); });
  const Status written = writer_.get();
  EXPECT_EQ(written.code(), StatusCode::kClosed) << written.to_text();
  files_.let_go();
  EXPECT_TRUE(closing.get().ok());
}

TEST_P(FarBehind, WhoWillNotWaitIsNotMadeTo) {
  Batch batch;
  batch.put("other", "2");
  EXPECT_EQ(db_->try_write(batch).code(), StatusCode::kBusy);
  files_.let_go();
  EXPECT_TRUE(writer_.get().ok());
}

INSTANTIATE_TEST_SUITE_P(BackgroundThreads, FarBehind, testing::Values(1U, 2U));

}  // namespace
}  // namespace tamis
