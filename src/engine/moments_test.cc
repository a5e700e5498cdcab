// Rule 9: a read sees one moment of the store, whatever is overwritten, flushed and compacted meanwhile.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "io/memory_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

constexpr int kRounds = 300;
constexpr int kReaders = 6;

/// Keys that always exist and are overwritten all the time, all in one batch. After a compaction, the newest version is
/// the only one, and it keeps its sequence: an older run lies beneath, so that nothing is written with sequence 0,
/// which any reader would see.
class Moments : public ::testing::Test {
 protected:
  void SetUp() override {
    const std::uint64_t runs_to_merge = Options().fanout;
    for (std::uint64_t i = 0; i < runs_to_merge; ++i) ASSERT_TRUE(db_.put("z", "").ok() && db_.flush().ok());
    for (int i = 0; i < 40; ++i) keys_.push_back(fmt::format("key{:02}", i));
    for (std::uint64_t i = 0; i < runs_to_merge; ++i) {
      overwrite(0);
      ASSERT_TRUE(db_.put("z", "").ok() && db_.flush().ok());
    }
    expect_two_runs();
  }

  void expect_two_runs() {
    const std::vector<Stats::Level> levels = db_.stats().levels;
    ASSERT_EQ(levels.size(), 2U);
    EXPECT_EQ(levels[0].runs, 0U);
    EXPECT_EQ(levels[1].runs, 2U);
  }

  void overwrite(int round) {
    Batch batch;
    for (const std::string& key : keys_) batch.put(key, std::to_string(round));
    ASSERT_TRUE(db_.write(batch).ok());
  }

  /// Calls `look` repeatedly from many threads during the rounds of `work`.
  template <typename Look, typename Work>
  static void look_during(int rounds, Work work, Look look) {
    std::atomic<bool> is_over = false;
    std::vector<std::jthread> readers;
    for (int i = 0; i < kReaders; ++i) {
      readers.emplace_back([&] {
        while (!is_over && !HasFailure()) look();
      });
    }
    for (int round = 1; round <= rounds && !HasFailure(); ++round) work(round);
    is_over = true;
  }
  /// The same while keys are overwritten and compacted.
  template <typename Look>
  void look_while_versions_go(Look look) {
    const auto work = [&](int round) {
      overwrite(round);
      EXPECT_TRUE(db_.compact({.from = "key", .to = "z"}).ok());
    };
    look_during(kRounds, work, look);
    expect_two_runs();
  }

  MemoryFileSystem files_;
  DB db_ = test::open_db(files_, {.memory_bytes = 4 << 20, .memtable_bytes = 64 << 10, .compaction = "tiered"});
  std::vector<std::string> keys_;
};

TEST_F(Moments, Rule9_AKeyThatIsOnlyOverwrittenIsNeverAbsent) {
  look_while_versions_go([&] {
    const Result<std::optional<std::string>> value = db_.get(keys_[0]);
    ASSERT_TRUE(value.ok()) << value.status().to_text();
    ASSERT_TRUE(value->has_value()) << "the view is younger than the sequence";
  });
}

TEST_F(Moments, Rule9_ManyKeysAreReadAsOfOneMoment) {
  const std::vector<std::string_view> keys(keys_.begin(), keys_.end());
  look_while_versions_go([&] {
    const std::vector<Result<std::optional<std::string>>> answers = db_.multi_get(keys);
    ASSERT_TRUE(answers[0].ok() && answers[0]->has_value());
    for (const Result<std::optional<std::string>>& answer : answers) ASSERT_EQ(*answer, *answers[0]);
  });
}

TEST_F(Moments, Rule9_ASnapshotSeesWholeBatchesAndKeepsThem) {
  look_while_versions_go([&] {
    const Snapshot then = db_.snapshot();
    const Result<std::optional<std::string>> first = db_.get(keys_.front(), {.snapshot = &then});
    const Result<std::optional<std::string>> last = db_.get(keys_.back(), {.snapshot = &then});
    ASSERT_TRUE(first.ok() && first->has_value());
    ASSERT_EQ(*first, *last);
  });
}

/// A long batch is being inserted nearly all the time. Its first and last keys show whether it is seen too early.
TEST_F(Moments, Rule9_P2_ABatchIsSeenWholeOrNotAtAll) {
  const std::vector<std::string_view> ends = {"long0", "long1999"};
  const auto write = [&](int round) {
    Batch batch;
    for (int i = 0; i < 2000; ++i) batch.put("long" + std::to_string(i), std::to_string(round));
    EXPECT_TRUE(db_.write(batch).ok());
  };
  look_during(200, write, [&] {
    const std::vector<Result<std::optional<std::string>>> answers = db_.multi_get(ends);
    ASSERT_EQ(*answers[0], *answers[1]);
  });
}

}  // namespace
}  // namespace tamis
