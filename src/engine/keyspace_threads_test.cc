// Batches over keyspaces, checkpoints, drops and readers at once. scripts/check-threads runs these under TSan.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

constexpr int kWriters = 3;

class KeyspaceThreads : public ::testing::Test {
 protected:
  KeyspaceThreads() : db_(*DB::open("/store", options(), {.files = &files_})) {}

  static Options options() {
    Options options;
    options.memory_bytes = 4 << 20;
    options.memtable_bytes = 256 << 10;
    return options;
  }

  MemoryFileSystem files_;
  DB db_;
};

/// Each writer counts up, in the default keyspace and in two others, in one batch.
Status count_up(DB& db, const Keyspace& a, const Keyspace& b, int writer, int count) {
  const std::string key = fmt::format("writer {}", writer);
  const std::string value = fmt::format("{:06}{}", count, std::string(2000, '.'));
  Batch batch;
  batch.put(key, value);
  batch.put(a, key, value);
  batch.put(b, key, value.substr(0, 6));
  return db.write(batch);
}

std::vector<std::string> counts_in(Iterator it) {
  std::vector<std::string> counts;
  for (; it.valid(); it.next()) counts.emplace_back(it.value().substr(0, 6));
  EXPECT_TRUE(it.status().ok()) << it.status().to_text();
  return counts;
}

TEST_F(KeyspaceThreads, Rule33_CheckpointsAndSnapshotsBesideBatchesHoldWholeOnes) {
  const Keyspace a = *db_.keyspace("a");
  const Keyspace b = *db_.keyspace("b");
  std::atomic<bool> is_over = false;
  std::vector<std::jthread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back([&, writer] {
      for (int count = 0; !is_over; ++count) EXPECT_TRUE(count_up(db_, a, b, writer, count).ok());
    });
  }
  for (int i = 0; i < 12; ++i) {
    const std::string path = fmt::format("/copy{}", i);
    const Status copied = db_.checkpoint(path);
    ASSERT_TRUE(copied.ok()) << copied.to_text();
    Result<DB> copy = DB::open(path, options(), {.files = &files_});
    ASSERT_TRUE(copy.ok()) << copy.status().to_text();
    const std::vector<std::string> counts = counts_in(copy->scan());
    EXPECT_EQ(counts_in(copy->keyspace("a")->scan()), counts);
    EXPECT_EQ(counts_in(copy->keyspace("b")->scan()), counts);
    const Snapshot now = db_.snapshot();
    EXPECT_EQ(counts_in(a.scan({.snapshot = &now})), counts_in(db_.scan({.snapshot = &now})));
    EXPECT_EQ(counts_in(b.scan({.snapshot = &now})), counts_in(db_.scan({.snapshot = &now})));
  }
  is_over = true;
}

/// The first keyspace may be made after a checkpoint has begun.
TEST_F(KeyspaceThreads, Rule33_ACheckpointBesideTheFirstKeyspaceHoldsWholeBatches) {
  std::atomic<bool> is_over = false;
  std::jthread writer([&] {
    for (int count = 0; !is_over; ++count) {
      const Keyspace a = *db_.keyspace("a");
      const Keyspace b = *db_.keyspace("b");
      for (int i = 0; i < 100; ++i) EXPECT_TRUE(count_up(db_, a, b, i, count).ok());
      EXPECT_TRUE(db_.drop_keyspace("a").ok() && db_.drop_keyspace("b").ok());
    }
  });
  for (int i = 0; i < 12; ++i) {
    const std::string path = fmt::format("/copy{}", i);
    ASSERT_TRUE(db_.checkpoint(path).ok());
    Result<DB> copy = DB::open(path, options(), {.files = &files_});
    ASSERT_TRUE(copy.ok()) << copy.status().to_text();
    if (copy->keyspaces().size() < 3) continue;
    const std::vector<std::string> in_a = counts_in(copy->keyspace("a")->scan());
    const std::vector<std::string> in_b = counts_in(copy->keyspace("b")->scan());
    const std::vector<std::string> in_default = counts_in(copy->scan());
    EXPECT_EQ(in_a, in_b);
    ASSERT_LE(in_a.size(), in_default.size());
  }
  is_over = true;
}

/// A reader sees the keyspace as it is, or is told that it is gone; never a part of it.
TEST_F(KeyspaceThreads, Rule35_AReaderIsToldOfADropAndNeverFindsTheKeyspaceEmpty) {
  std::atomic<bool> is_over = false;
  std::atomic<int> found = 0;
  std::vector<std::jthread> readers;
  for (int reader = 0; reader < 3; ++reader) {
    readers.emplace_back([&, reader] {
      const std::vector<std::string_view> keys = {"key", "key"};
      while (!is_over) {
        const Keyspace keyspace = *db_.keyspace("a");
        const Result<bool> made = keyspace.exists("made");
        if (!made.ok() || !*made) continue;  // It is being filled.
        for (bool is_there = true; is_there && !is_over;) {
          const Snapshot now = db_.snapshot();
          const ReadOptions at{.snapshot = reader == 1 ? &now : nullptr};
          const Result<std::optional<std::string>> value = keyspace.get("key", at);
          EXPECT_TRUE(!value.ok() || *value == "value");
          const Result<std::optional<std::string>> many = keyspace.multi_get(keys, at)[1];
          EXPECT_TRUE(!many.ok() || *many == "value");
          const Iterator it = keyspace.scan({.snapshot = at.snapshot});
          EXPECT_EQ(it.valid(), it.status().ok());
          is_there = value.ok();
          found += is_there ? 1 : 0;
        }
      }
    });
  }
  for (int i = 0; i < 100 || (found < 1000 && i < 3000); ++i) {
    Keyspace keyspace = *db_.keyspace("a");
    EXPECT_TRUE(keyspace.put("key", "value").ok() && keyspace.put("made", "").ok());
    EXPECT_TRUE(i % 3 != 0 || db_.flush().ok());
    std::this_thread::yield();
    EXPECT_TRUE(db_.drop_keyspace("a").ok());
  }
  is_over = true;
  EXPECT_GT(found, 0);
}

/// Flushes and compactions of a keyspace that is dropped meanwhile are undone, and those of the others go on.
TEST_F(KeyspaceThreads, DropsBesideFlushesAndCompactionsLeaveTheOthersWhole) {
  const Keyspace stays = *db_.keyspace("stays");
  int count = 0;
  for (int round = 0; round < 30; ++round) {
    const Keyspace goes = *db_.keyspace("goes");
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(count_up(db_, goes, stays, i, count++).ok());
    std::jthread flusher([&] { EXPECT_TRUE(db_.flush().ok()); });
    ASSERT_TRUE(db_.drop_keyspace("goes").ok());
  }
  ASSERT_TRUE(db_.wait_idle().ok());
  EXPECT_EQ(counts_in(stays.scan()), counts_in(db_.scan()));
  std::uint64_t tables = 0;
  for (const KeyspaceInfo& info : db_.keyspaces()) tables += info.tables;
  std::uint64_t on_disk = 0;
  const std::vector<DirectoryEntry> entries = *files_.list("/store");
  for (const DirectoryEntry& entry : entries) on_disk += entry.name.ends_with(".tms") ? 1 : 0;
  EXPECT_EQ(on_disk, tables) << "what was written for a dropped keyspace is left";
  EXPECT_TRUE(db_.stats().background_error.empty()) << db_.stats().background_error;
}

}  // namespace
}  // namespace tamis
