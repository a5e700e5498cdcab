// The counts of stats() are complete when the call that caused them has returned.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <string>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

constexpr int kFlushes = 50;

TEST(Counters, HaveTheTablesOfAFlushWhenItReturnsAndTheFlushWhenNothingIsLeftToDo) {
  MemoryFileSystem files;
  Result<DB> opened = DB::open("/db", {.compaction = "manual"}, {.files = &files});
  ASSERT_TRUE(opened.ok()) << opened.status().to_text();
  for (int i = 0; i < kFlushes; ++i) {
    ASSERT_TRUE(opened->put(fmt::format("{:05}", i), std::string(1000, 'v')).ok());
    ASSERT_TRUE(opened->flush().ok());
    const Stats flushed = opened->stats();
    // The entry is in the journal, and again in the tables.
    EXPECT_GE(flushed.bytes_written, flushed.bytes_written_by_users + flushed.bytes_on_disk) << "flush " << i;
    ASSERT_TRUE(opened->wait_idle().ok());
    EXPECT_EQ(opened->stats().flushes, static_cast<std::uint64_t>(i) + 1);
  }
}

}  // namespace
}  // namespace tamis
