// Which journals a store may continue, and when it may release one.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/store_workload.h"
#include "faults/store_faults.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

const std::string kFolder(kStore);

std::size_t journals_on(CrashFileSystem& files) {
  std::size_t count = 0;
  const std::vector<DirectoryEntry> entries = *files.list(kFolder);
  for (const DirectoryEntry& entry : entries) count += entry.name.ends_with(".journal") ? 1 : 0;
  return count;
}

void expect_value(const DB& db, std::string_view key, std::string_view value) {
  const Result<std::optional<std::string>> found = db.get(key);
  ASSERT_TRUE(found.ok()) << found.status().to_text();
  EXPECT_EQ(found->value_or("nothing"), value) << key;
}

/// The mark of a clean close can be read from the page cache even if its sync failed; nothing may rely on it then.
TEST(Journals, Rule2_P5_ACloseThatFailedIsNotContinued) {
  for (std::uint64_t failing = 1, calls = 1; failing <= calls; ++failing) {
    SCOPED_TRACE(fmt::format("call {} of close", failing));
    const auto open_and_put = [](FileSystem& files) {
      Result<DB> db = DB::open(kFolder, {}, environment_on(files, 1));
      EXPECT_TRUE(db.ok() && db->put("a", "1", {.sync = true}).ok());
      return db;
    };
    std::uint64_t before_close = 0;
    {
      CrashFileSystem copy;
      FaultyFileSystem dry(copy);
      Result<DB> db = open_and_put(dry);
      before_close = dry.calls();
      ASSERT_TRUE(db->close().ok());
      calls = dry.calls() - before_close;
    }
    CrashFileSystem memory;
    FaultyFileSystem faulty(memory, {FaultKind::kIoError, before_close + failing, false});
    (void)open_and_put(faulty)->close().ok();
    Result<DB> db = DB::open(kFolder, {}, environment_on(memory, 2));
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    ASSERT_TRUE(db->put("b", "2", {.sync = true}).ok());
    EXPECT_EQ(synced_again(memory.call_log()), "");
    CrashFileSystem rebooted(memory.disk().after_crash(Loss::kEverything, failing));
    const Result<DB> after = DB::open(kFolder, {}, environment_on(rebooted, 3));
    ASSERT_TRUE(after.ok()) << after.status().to_text();
    expect_value(*after, "a", "1");
    expect_value(*after, "b", "2");
  }
}

/// Formerly its file became the next journal and was synced again: both when it was the current one, and when it had
/// already been flushed and was synced only for its successor.
TEST(Journals, Rule5_P5_OneThatCouldNotBeSyncedIsNotRecycled) {
  for (const bool is_flushed : {false, true}) {
    const auto begin = [&](FileSystem& files) {
      Result<DB> db = DB::open(kFolder, {}, environment_on(files, 1));
      EXPECT_TRUE(db.ok() && db->put("a", "1").ok());
      EXPECT_TRUE(!is_flushed || db->flush().ok());
      return db;
    };
    for (std::uint64_t failing = 1, calls = 1; failing <= calls; ++failing) {
      SCOPED_TRACE(fmt::format("call {} of a put, {} a flush", failing, is_flushed ? "after" : "without"));
      std::uint64_t before_put = 0;
      {
        CrashFileSystem copy;
        FaultyFileSystem dry(copy);
        Result<DB> db = begin(dry);
        before_put = dry.calls();
        ASSERT_TRUE(db->put("b", "2", {.sync = true}).ok());
        calls = dry.calls() - before_put;
      }
      CrashFileSystem memory;
      FaultyFileSystem faulty(memory, {FaultKind::kIoError, before_put + failing, false});
      Result<DB> db = begin(faulty);
      ASSERT_EQ(db->put("b", "2", {.sync = true}).code(), StatusCode::kIoError);
      ASSERT_TRUE(db->resume().ok());
      for (int i = 0; i < 3; ++i) ASSERT_TRUE(db->put("b", "2", {.sync = true}).ok() && db->flush().ok());
      EXPECT_EQ(synced_again(memory.call_log()), "");
    }
  }
}

/// A store closed while a flush was pending: two journals, "a" in the first and "b" in the second.
std::optional<MemoryDisk> store_of_two_journals(std::uint64_t failing_call) {
  CrashFileSystem files;
  {
    FaultyFileSystem faulty(files, {FaultKind::kIoError, failing_call, true});
    Result<DB> db = DB::open(kFolder, {}, environment_on(faulty, 1));
    if (!db.ok() || !db->put("a", "1").ok() || db->flush().ok()) return std::nullopt;
    faulty.heal();
    if (!db->close().ok()) return std::nullopt;
  }
  Result<DB> db = DB::open(kFolder, {}, environment_on(files, 2));
  if (!db.ok() || journals_on(files) != 2) return std::nullopt;
  const std::uint64_t flushes = db->stats().flushes;
  if (!db->put("b", "2").ok() || !db->close().ok()) return std::nullopt;
  EXPECT_EQ(flushes, 0U);
  return files.disk();
}

TEST(Journals, Rule3_StayUntilTheEditThatFreesThemIsDurable) {
  int stores = 0;
  for (std::uint64_t failing_call = 1; failing_call < 80; ++failing_call) {
    const std::optional<MemoryDisk> disk = store_of_two_journals(failing_call);
    if (!disk) continue;
    ++stores;
    CrashFileSystem files(*disk);
    std::vector<MemoryDisk> crashes;
    files.after_each_call([&](const MemoryDisk& now, std::string_view) { crashes.push_back(now); });
    {
      Result<DB> db = DB::open(kFolder, {}, environment_on(files, 3));
      ASSERT_TRUE(db.ok() && db->put("c", "3").ok() && db->flush().ok()) << db.status().to_text();
    }
    for (std::size_t i = 0; i < crashes.size(); ++i) {
      SCOPED_TRACE(fmt::format("call {} failed, crash after call {}", failing_call, i));
      CrashFileSystem rebooted(crashes[i].after_crash(Loss::kNothing, i));
      const Result<DB> after = DB::open(kFolder, {}, environment_on(rebooted, 4));
      ASSERT_TRUE(after.ok()) << after.status().to_text();
      expect_value(*after, "a", "1");
      expect_value(*after, "b", "2");
    }
  }
  EXPECT_GT(stores, 0) << "no failed call left a flush pending";
}

}  // namespace
}  // namespace tamis::test
