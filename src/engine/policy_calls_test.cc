// Policies look at every table, so no lock is held while they run.
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

/// A policy reads the clock whenever it is called; stats() must not wait for it meanwhile.
TEST(PolicyCalls, HappenWhileTheStateIsNotLocked) {
  MemoryFileSystem files;
  std::optional<DB> db;
  int calls = 0;
  int in_vain = 0;
  std::vector<std::future<Stats>> stats;  // Kept, because the destructor waits.
  const auto clock = [&]() -> std::uint64_t {
    if (!db || in_vain > 0) return 1;
    ++calls;
    stats.push_back(std::async(std::launch::async, [&] { return db->stats(); }));
    if (stats.back().wait_for(std::chrono::seconds(20)) != std::future_status::ready) ++in_vain;
    return 1;
  };
  Result<DB> opened = DB::open("/store", {.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10},
                               {.files = &files, .runs_in_background = false, .unix_seconds = clock});
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  db.emplace(*std::move(opened));
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(db->put("key", std::to_string(i)).ok());
    ASSERT_TRUE(db->flush().ok());
  }
  EXPECT_GT(db->stats().compactions, 0U);
  EXPECT_GT(calls, 10);
  EXPECT_EQ(in_vain, 0) << "somebody waited for a policy";
}

}  // namespace
}  // namespace tamis
