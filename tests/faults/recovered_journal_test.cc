// Rule 2: recovered data is durable in tables before the first write; its journal gets no more records.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "crash/store_workload.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

Result<DB> open_on(CrashFileSystem& files) { return DB::open("/store", {}, environment_on(files, 1)); }

std::set<std::string> names_ending(CrashFileSystem& files, std::string_view end) {
  std::set<std::string> names;
  const std::vector<DirectoryEntry> entries = *files.list("/store");
  for (const DirectoryEntry& entry : entries) {
    if (entry.name.ends_with(end)) names.insert(entry.name);
  }
  return names;
}

/// A machine that lost power: some entries are only in the journal, and not all of them were synced.
MemoryDisk crashed_store() {
  CrashFileSystem files;
  Result<DB> db = open_on(files);
  EXPECT_TRUE(db.ok() && db->put("synced", "1", {.sync = true}).ok() && db->put("unsynced", "2").ok());
  return files.disk().after_crash(Loss::kNothing, 1);
}

TEST(RecoveredJournal, Rule2_IsNeverAppendedTo) {
  CrashFileSystem files(crashed_store());
  const std::set<std::string> before = names_ending(files, ".journal");
  ASSERT_EQ(before.size(), 1U);
  Result<DB> db = open_on(files);
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  ASSERT_TRUE(db->put("later", "3", {.sync = true}).ok());
  const std::vector<std::string> calls = files.call_log();
  for (const std::string& call : calls) EXPECT_FALSE(call.starts_with("write /store/" + *before.begin())) << call;
  const std::set<std::string> after = names_ending(files, ".journal");
  ASSERT_EQ(after.size(), 1U);
  EXPECT_GT(*after.begin(), *before.begin()) << "numbers are not reused";
}

TEST(RecoveredJournal, Rule2_WhatWasReplayedIsDurableBeforeTheFirstWrite) {
  CrashFileSystem files(crashed_store());
  {
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    EXPECT_EQ(names_ending(files, ".tms").size(), 1U);
  }
  CrashFileSystem recovered(crashed_store());
  Result<DB> db = open_on(recovered);
  ASSERT_TRUE(db.ok() && db->put("later", "3").ok());
  CrashFileSystem again(recovered.disk().after_crash(Loss::kEverything, 1));
  const Result<DB> found = open_on(again);
  ASSERT_TRUE(found.ok()) << found.status().to_text();
  EXPECT_EQ(found->get("unsynced")->value_or("lost"), "2");
}

TEST(RecoveredJournal, Rule2_OneThatWasClosedGoesOnAndMakesNoRun) {
  CrashFileSystem files;
  for (int i = 0; i < 50; ++i) {
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok() && db->put(fmt::format("key{:02}", i), "1").ok() && db->close().ok());
  }
  EXPECT_EQ(names_ending(files, ".journal").size(), 1U);
  EXPECT_TRUE(names_ending(files, ".tms").empty());
  const Result<DB> db = open_on(files);
  ASSERT_TRUE(db.ok());
  for (int i = 0; i < 50; ++i) EXPECT_TRUE(db->get(fmt::format("key{:02}", i))->has_value());
}

}  // namespace
}  // namespace tamis::test
