// Stalls of writers: why they happen, when they begin and end.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "io/memory_file_system.h"
#include "support/open_db.h"
#include "support/passing_file_system.h"

namespace tamis {
namespace {

/// Records stalls, and opens the gate when the first one begins, so that it ends.
class StallListener final : public EventListener {
 public:
  explicit StallListener(test::GatedFileSystem& gate) : gate_(gate) {}

  void on_event(const StoreEvent& event) override {
    if (event.kind == StoreEvent::Kind::kStallBegan) {
      began.emplace_back(event.what);
      gate_.open();
    }
    if (event.kind == StoreEvent::Kind::kStallEnded) ended.push_back(began.size());
  }

  std::vector<std::string> began;  // The reasons.
  std::vector<std::size_t> ended;  // How many had begun by then.

 private:
  test::GatedFileSystem& gate_;
};

struct StallWorld {
  MemoryFileSystem memory;
  test::GatedFileSystem files{memory};
  StallListener stalls{files};

  DB open(std::string compaction, std::uint32_t threads) {
    return test::open_db({.files = &files, .listener = &stalls}, {.memory_bytes = 1 << 20,
                                                                  .memtable_bytes = 64 << 10,
                                                                  .table_bytes = 64 << 10,
                                                                  .compaction = std::move(compaction),
                                                                  .fanout = 2,
                                                                  .background_threads = threads});
  }
  /// Each stall ended before the next one began.
  void expect_all_ended() const {
    ASSERT_EQ(stalls.began.size(), stalls.ended.size());
    for (std::size_t i = 0; i < stalls.ended.size(); ++i) EXPECT_EQ(stalls.ended[i], i + 1);
  }
};

class Stalls : public testing::TestWithParam<std::uint32_t> {};

TEST_P(Stalls, AFlushThatIsBehindIsToldAndEnds) {
  StallWorld world;
  DB db = world.open("manual", GetParam());
  world.files.shut();
  int writes = 0;
  for (; world.stalls.began.empty(); ++writes) {
    ASSERT_LT(writes, 1000);
    ASSERT_TRUE(db.put(fmt::format("key{:03}", writes), std::string(2000, 'v')).ok());
  }
  ASSERT_TRUE(db.flush().ok());
  EXPECT_NE(world.stalls.began.front().find("still being flushed"), std::string::npos) << world.stalls.began.front();
  world.expect_all_ended();
  EXPECT_GE(db.stats().stalls.delayed_writes, 1U);
  EXPECT_EQ(db.stats().stalls.reason, world.stalls.began.back());
  for (int i = 0; i < writes; ++i) EXPECT_TRUE(db.get(fmt::format("key{:03}", i))->has_value()) << i;
}

TEST_P(Stalls, ACompactionThatIsBehindIsToldAndEnds) {
  StallWorld world;
  {
    DB db = world.open("manual", GetParam());
    for (int i = 0; i < 20; ++i) ASSERT_TRUE(db.put("key", std::to_string(i)).ok() && db.flush().ok());
  }
  world.files.shut();
  DB db = world.open("leveled", GetParam());
  Batch batch;
  batch.put("other", "1");
  EXPECT_EQ(db.try_write(batch).code(), StatusCode::kBusy);
  EXPECT_TRUE(world.stalls.began.empty()) << "who does not wait is not held up";
  ASSERT_TRUE(db.write(batch).ok());
  ASSERT_EQ(world.stalls.began.size(), 1U);
  EXPECT_NE(world.stalls.began.front().find("compaction is behind"), std::string::npos);
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_TRUE(world.stalls.ended.empty()) << "nobody has written since";
  ASSERT_TRUE(db.try_write(batch).ok());
  world.expect_all_ended();
  EXPECT_EQ(**db.get("key"), "19");
}

INSTANTIATE_TEST_SUITE_P(BackgroundThreads, Stalls, testing::Values(1U, 2U));

/// Memory holds two memtables, one being written and one being flushed, however slow the disk is.
TEST(Stall, P8_AFullMemtableWaitsForTheOneBeforeIt) {
  constexpr std::uint64_t kMemtableBytes = 128 << 10;
  MemoryFileSystem memory;
  test::GatedFileSystem files(memory);
  DB db = test::open_db({.files = &files}, {.memory_bytes = 16 << 20, .memtable_bytes = kMemtableBytes});
  files.shut();
  std::atomic<bool> is_done = false;
  std::jthread writer([&] {
    const std::string value(1000, 'v');
    for (int i = 0; i < 2000; ++i) EXPECT_TRUE(db.put("key" + std::to_string(i), value).ok());
    is_done = true;
  });
  while (!is_done && db.stats().stalls.reason.empty()) std::this_thread::yield();
  EXPECT_LE(db.stats().memory.memtables, 2 * kMemtableBytes);
  EXPECT_FALSE(is_done) << "nobody waited";
  files.open();
  writer.join();
  EXPECT_TRUE(db.close().ok());
}

/// With one thread for everything, closing flushes sealed memtables or leaves them in the journal, and does not hang.
TEST(BackgroundThreads, OneDoesEverything) {
  StallWorld world;
  for (int opening = 0; opening < 3; ++opening) {
    DB db = world.open("leveled", 1);
    for (int i = 0; i < 400; ++i) {
      ASSERT_TRUE(db.put(fmt::format("key{:03}", i), fmt::format("{} {:500}", opening, i)).ok());
    }
    if (opening == 1) {
      ASSERT_TRUE(db.wait_idle().ok());
      EXPECT_GT(db.stats().flushes, 1U);
      EXPECT_GT(db.stats().compactions, 0U);
    }
    ASSERT_TRUE(db.close().ok());
  }
  const DB db = world.open("leveled", 1);
  for (int i = 0; i < 400; ++i) EXPECT_EQ(**db.get(fmt::format("key{:03}", i)), fmt::format("2 {:500}", i));
}

}  // namespace
}  // namespace tamis
