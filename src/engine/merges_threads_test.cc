// Rule 31 beside flushes and compactions: threads that merge, and readers of one moment.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "io/memory_file_system.h"
#include "tamis/db.h"
#include "tamis/merge.h"

namespace tamis {
namespace {

/// Threads add, others look: every look at all counters is a sum of whole batches.
TEST(MergesThreads, Rule31_ThreadsCountExactly) {
  constexpr int kThreads = 8;
  constexpr int kEach = 2000;
  MemoryFileSystem files;
  DB db = *DB::open("/store", {.memory_bytes = 4 << 20, .memtable_bytes = 64 << 10, .merge_operator = "add_i64"},
                    {.files = &files});
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        Batch batch;
        batch.merge("all", pack_i64(1));
        batch.merge(fmt::format("of{}", thread), pack_i64(1));
        batch.put(fmt::format("key{}/{}", thread, i), std::string(40, 'v'));
        ASSERT_TRUE(db.write(batch).ok());
      }
      --running;
    });
  }
  while (running > 0) {
    const Snapshot snapshot = db.snapshot();
    std::int64_t sum = 0;
    for (int thread = 0; thread < kThreads; ++thread) {
      const auto value = db.get(fmt::format("of{}", thread), {.snapshot = &snapshot});
      ASSERT_TRUE(value.ok()) << value.status().to_text();
      sum += value->has_value() ? *unpack_i64(**value) : 0;
    }
    const auto all = db.get("all", {.snapshot = &snapshot});
    ASSERT_EQ(all->has_value() ? *unpack_i64(**all) : 0, sum);
    if (sum % 3 == 0) {
      ASSERT_TRUE(db.flush().ok());
    }
    if (sum % 7 == 0) {
      ASSERT_TRUE(db.compact().ok());
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unpack_i64(db.get("all")->value()), kThreads * kEach);
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(unpack_i64(db.get("all")->value()), kThreads * kEach);
}

}  // namespace
}  // namespace tamis
