// The work that closing leaves for the next opening.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "io/memory_file_system.h"
#include "support/faulty_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

using test::open_db;

void put(DB& db, std::uint64_t mebibytes) {
  const std::string value(1 << 14, 'v');
  for (std::uint64_t i = 0; i < mebibytes * 64; ++i) ASSERT_TRUE(db.put(fmt::format("key {:06}", i), value).ok());
}

std::uint64_t journal_bytes(FileSystem& files) {
  std::uint64_t sum = 0;
  for (const std::string& name : test::names_in(files, "/store")) {
    if (name.ends_with(".journal")) sum += **files.file_size("/store/" + name);
  }
  return sum;
}

TEST(Close, FlushesWhatWouldTakeLongToReadBack) {
  MemoryFileSystem files;
  DB db = open_db(files);
  put(db, 6);
  ASSERT_TRUE(db.close().ok());
  EXPECT_LT(journal_bytes(files), 10'000U);
  DB again = open_db(files);
  EXPECT_EQ(again.stats().levels.at(0).runs, 1U);
  EXPECT_TRUE(again.get("key 000383")->has_value());
}

/// The journal still has everything.
TEST(Close, OfAStoreThatCannotBeFlushedAnyMoreIsCleanAndKeepsEverything) {
  MemoryFileSystem files;
  std::uint64_t calls = 0;
  {
    FaultyFileSystem counting(files);
    DB db = open_db(counting);
    put(db, 6);
    calls = counting.calls();
  }
  std::uint64_t clean_without_space = 0;
  for (std::uint64_t skipped = 0; skipped < 40; ++skipped) {
    SCOPED_TRACE(skipped);
    MemoryFileSystem fresh;
    FaultyFileSystem full(fresh, {.kind = FaultKind::kNoSpace, .at_call = calls + 1 + skipped});
    DB db = open_db(full);
    put(db, 6);
    const Status closed = db.close();
    clean_without_space += closed.ok() ? full.fired() : 0;
    EXPECT_TRUE(closed.ok() || closed.code() == StatusCode::kOutOfSpace) << closed.to_text();
    DB again = open_db(fresh);
    for (const char* key : {"key 000000", "key 000200", "key 000383"}) EXPECT_TRUE(again.get(key)->has_value()) << key;
  }
  EXPECT_GT(clean_without_space, 5U) << "a table that cannot be written is no reason";
}

TEST(Close, LeavesLittleInTheJournal) {
  MemoryFileSystem files;
  DB db = open_db(files);
  put(db, 1);
  ASSERT_TRUE(db.close().ok());
  DB again = open_db(files);
  EXPECT_TRUE(again.stats().levels.empty());
  EXPECT_TRUE(again.get("key 000063")->has_value());
}

/// A recycled file has its old length: bytes after the end would be searched for records.
TEST(Close, LeavesNothingBehindTheEndOfTheJournal) {
  MemoryFileSystem files;
  DB db = open_db(files);
  for (int i = 0; i < 3; ++i) {
    put(db, 3);
    ASSERT_TRUE(db.flush().ok());
  }
  ASSERT_TRUE(db.put("last", "one").ok());
  ASSERT_TRUE(db.close().ok());
  EXPECT_LT(journal_bytes(files), 10'000U);
}

}  // namespace
}  // namespace tamis
