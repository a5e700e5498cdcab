// Rule 7 for readers of journals: zeros behind the last record are its end for every reader, and damage before them is
// damage.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "crash/store_workload.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

constexpr int kPuts = 200;

std::string key_of(int i) { return fmt::format("key{:04}", i); }

/// Puts through a window; `synced` of them are followed by a sync.
void put_some(DB& db, int synced) {
  for (int i = 0; i < kPuts; ++i) {
    ASSERT_TRUE(db.put(key_of(i), fmt::format("value of {}", i)).ok());
    ASSERT_TRUE(i + 1 != synced || db.sync().ok());
  }
  ASSERT_GT(db.stats().memory.journal, 0U);
}

std::string only_journal(CrashFileSystem& files) {
  std::string path;
  const std::vector<DirectoryEntry> entries = *files.list(std::string(kStore));
  for (const DirectoryEntry& entry : entries) {
    if (!entry.name.ends_with(".journal")) continue;
    EXPECT_EQ(path, "");
    path = fmt::format("{}/{}", kStore, entry.name);
  }
  return path;
}

/// The disk left by a killed process.
MemoryDisk killed_disk(int synced) {
  CrashFileSystem files;
  Result<DB> db = DB::open(std::string(kStore), {}, environment_on(files, 1));
  EXPECT_TRUE(db.ok());
  put_some(*db, synced);
  return files.disk().after_crash(Loss::kNothing, 1);
}

/// Changes one byte of the record that holds this text.
void damage(CrashFileSystem& files, const std::string& text) {
  const std::string path = only_journal(files);
  const std::size_t at = read_whole_file(files, path)->find(text);
  ASSERT_NE(at, std::string::npos);
  const Bytes other = as_bytes(std::string_view("#"));
  ASSERT_TRUE((*files.open_writable(path, OpenMode::kExisting))->write_at(at, std::span(&other, 1)).ok());
}

TEST(StoreWindow, Rule7_AKilledStoreIsReadBehindNothingButZeros) {
  CrashFileSystem files(killed_disk(0));
  const std::string journal = *read_whole_file(files, only_journal(files));
  ASSERT_GT(std::ranges::count(journal.substr(journal.size() / 2), '\0'), 10'000) << "allocated ahead";
  Options options;
  options.read_only = true;
  const Result<DB> db = DB::open(std::string(kStore), options, environment_on(files, 2));
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  for (int i = 0; i < kPuts; ++i) EXPECT_EQ(**db->get(key_of(i)), fmt::format("value of {}", i));
  const std::vector<std::string> calls = files.call_log();
  EXPECT_TRUE(calls.empty()) << calls.front();
  EXPECT_TRUE(db->verify()->ok());
}

TEST(StoreWindow, Rule7_ACleanCloseLeavesNoZerosAndTheJournalIsContinued) {
  CrashFileSystem files;
  std::string path;
  for (std::uint64_t opening = 1; opening <= 3; ++opening) {
    Result<DB> db = DB::open(std::string(kStore), {}, environment_on(files, opening));
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    put_some(*db, 0);
    ASSERT_TRUE(db->close().ok());
    EXPECT_TRUE(path.empty() || path == only_journal(files)) << "another journal";
    path = only_journal(files);
    EXPECT_LT(**files.file_size(path), 4096U + opening * kPuts * 100) << "the file is longer than its records";
  }
  Result<DB> db = DB::open(std::string(kStore), {}, environment_on(files, 4));
  EXPECT_EQ(db->stats().sequence, 3U * kPuts);
}

TEST(StoreWindow, Rule7_DamageToWhatWasSyncedIsNotTakenForTheTornTail) {
  CrashFileSystem files(killed_disk(150));
  damage(files, "value of 100");
  const Result<DB> db = DB::open(std::string(kStore), {}, environment_on(files, 2));
  EXPECT_EQ(db.status().code(), StatusCode::kCorruption) << db.status().to_text();
}

TEST(StoreWindow, Rule7_WhatWasNotSyncedIsCutAtTheFirstTornRecordAndTheRestIsSaved) {
  CrashFileSystem files(killed_disk(150));
  damage(files, "value of 180");
  const Result<DB> db = DB::open(std::string(kStore), {}, environment_on(files, 2));
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  EXPECT_EQ(db->stats().sequence, 180U);
  EXPECT_TRUE(db->get(key_of(179))->has_value());
  EXPECT_FALSE(db->get(key_of(180))->has_value());
  EXPECT_EQ(files.list(std::string(kStore) + "/lost")->size(), 1U);
}

}  // namespace
}  // namespace tamis::test
