// P7: opening deletes nothing that it cannot prove redundant, and names a missing file.
#include <gtest/gtest.h>

#include "crash/store_workload.h"
#include "faults/store_damage.h"
#include "support/faulty_file_system.h"

namespace tamis::test {
namespace {

const std::string kFolder(kStore);
const std::string kJournal = kFolder + "/000001.journal";

Result<DB> open_on(CrashFileSystem& files, const Options& options = {}) {
  return DB::open(kFolder, options, environment_on(files, 3));
}

void put_file(CrashFileSystem& files, const std::string& name, const std::string& text) {
  const auto file = *files.open_writable(kFolder + "/" + name, OpenMode::kCreate);
  const Bytes bytes = as_bytes(text);
  ASSERT_TRUE(file->write_at(0, std::span(&bytes, 1)).ok());
}

std::vector<std::string> names_in(CrashFileSystem& files, const std::string& folder) {
  std::vector<std::string> names;
  const std::vector<DirectoryEntry> entries = *files.list(folder);
  for (const DirectoryEntry& entry : entries) names.push_back(entry.name);
  return names;
}

bool has(CrashFileSystem& files, const std::string& name) { return files.file_size(kFolder + "/" + name)->has_value(); }

TEST(Files, P7_AMissingFileIsNamedAndNothingElseIsTouched) {
  const ClosedStore store = make_closed_store({}, 3);
  for (const std::string& path : store.files()) {
    for (const bool may_create : {false, true}) {
      MemoryDisk disk = store.disk;
      disk.remove(path);
      const std::uint64_t before = disk.content_hash();
      CrashFileSystem files(std::move(disk));
      Options options;
      options.create_if_missing = may_create;
      const Result<DB> db = open_on(files, options);
      ASSERT_FALSE(db.ok()) << path;
      EXPECT_NE(db.status().message().find(path.substr(kStore.size() + 1)), std::string_view::npos)
          << path << ": " << db.status().to_text();
      EXPECT_EQ(files.disk().content_hash(), before) << path;
    }
  }
}

TEST(Files, P7_AMissingTableIsNamedToAReaderToo) {
  const ClosedStore store = make_closed_store({}, 3);
  for (const std::string& path : store.files()) {
    if (!path.ends_with(".tms")) continue;
    MemoryDisk disk = store.disk;
    disk.remove(path);
    CrashFileSystem files(std::move(disk));
    Options options;
    options.read_only = true;
    const Result<DB> db = open_on(files, options);
    ASSERT_FALSE(db.ok()) << path;
    EXPECT_EQ(db.status().code(), StatusCode::kCorruption);
    EXPECT_NE(db.status().message().find(path), std::string_view::npos) << db.status().to_text();
  }
}

TEST(Files, P7_WhatIsNotOursStays) {
  CrashFileSystem files(make_closed_store({}, 4).disk);
  ASSERT_TRUE(files.make_directory(kFolder + "/lost+found").ok());
  for (const char* name : {"notes.txt", "000007.tms.bak", "7.tms", "MANIFEST", "current", ".hidden", "notes.tmp"}) {
    put_file(files, name, "mine");
  }
  for (int opening = 0; opening < 2; ++opening) {
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    ASSERT_TRUE(db->put("a", "b").ok());
    ASSERT_TRUE(db->flush().ok());
    ASSERT_TRUE(db->compact().ok());
  }
  for (const char* name : {"notes.txt", "000007.tms.bak", "7.tms", "MANIFEST", "current", ".hidden", "notes.tmp"}) {
    EXPECT_TRUE(has(files, name)) << name;
  }
  EXPECT_TRUE(files.list(kFolder + "/lost+found").ok());
}

TEST(Files, P7_TemporaryFilesAndUnfinishedOutputsGoAndUnreservedNumbersStay) {
  const ClosedStore store = make_closed_store({}, 5);
  CrashFileSystem files(store.disk);
  put_file(files, "000003.journal.tmp", "half");
  put_file(files, "CURRENT.tmp", "half");
  put_file(files, "000001.tms", "the output of a compaction that was not finished");
  put_file(files, "900001.tms", "a table from elsewhere");
  Result<DB> db = open_on(files);
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  EXPECT_FALSE(has(files, "000003.journal.tmp"));
  EXPECT_FALSE(has(files, "CURRENT.tmp"));
  EXPECT_FALSE(has(files, "000001.tms"));
  EXPECT_TRUE(has(files, "900001.tms"));
  Content found;
  EXPECT_EQ(read_all(*db, store.probed, found), "");
  EXPECT_EQ(found, store.content);
}

TEST(Files, P7_AReaderWritesNothing) {
  CrashFileSystem files(make_closed_store({}, 6).disk);
  {
    // A crash leaves something to recover.
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok());
    ASSERT_TRUE(db->put("only in", "the journal").ok());
    CrashFileSystem crashed(files.disk().after_crash(Loss::kNothing, 1));
    put_file(crashed, "CURRENT.tmp", "half");
    const std::uint64_t before = crashed.disk().content_hash();
    Options options;
    options.read_only = true;
    const Result<DB> reader = open_on(crashed, options);
    ASSERT_TRUE(reader.ok()) << reader.status().to_text();
    EXPECT_EQ(**reader->get("only in"), "the journal");
    EXPECT_EQ(crashed.disk().content_hash(), before);
  }
}

TEST(Files, Rule20_TheFileThatIsLockedStaysTheSame) {
  CrashFileSystem files;
  const auto lock_file = [&] { return files.disk().names().at(kFolder + "/LOCK"); };
  std::optional<MemoryDisk::FileId> first;
  for (int opening = 0; opening < 3; ++opening) {
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok());
    if (!first) first = lock_file();
    ASSERT_TRUE(db->close().ok());
    ASSERT_TRUE(has(files, "LOCK")) << "a process waiting for it would lock a file without a name";
    EXPECT_EQ(lock_file(), *first);
  }
}

/// A table with an unreserved number could not be told from a foreign file, and its number would be reused.
TEST(Files, Rule19_NumbersAreReservedBeforeTheyAreUsed) {
  CrashFileSystem files;
  std::vector<MemoryDisk> crashes;
  files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    if (call.starts_with("create") && call.ends_with(".tms")) crashes.push_back(disk);
  });
  {
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok());
    for (int i = 0; i < 150; ++i) ASSERT_TRUE(db->put("key", std::to_string(i)).ok() && db->flush().ok());
  }
  ASSERT_GT(crashes.size(), 150U);
  for (std::size_t i = 0; i < crashes.size(); ++i) {
    CrashFileSystem rebooted(crashes[i].after_crash(Loss::kNothing, i));
    Result<DB> db = open_on(rebooted);
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    std::uint64_t live = 0;
    for (const Stats::Level& level : db->stats().levels) live += level.tables;
    std::uint64_t there = 0;
    for (const std::string& name : names_in(rebooted, kFolder)) there += name.ends_with(".tms") ? 1 : 0;
    EXPECT_EQ(there, live) << "an output of an unfinished rewrite stays, in crash " << i;
    EXPECT_TRUE(db->put("key", "after").ok() && db->flush().ok()) << "crash " << i;
  }
}

/// A store after a crash that left a hole in its journal, with a record behind it.
MemoryDisk disk_with_a_hole() {
  CrashFileSystem files;
  Result<DB> db = open_on(files);
  EXPECT_TRUE(db.ok());
  for (const char* key : {"first", "second", "third"}) EXPECT_TRUE(db->put(key, std::string("value of ") + key).ok());
  CrashFileSystem crashed(files.disk().after_crash(Loss::kNothing, 1));
  const std::string before = *read_whole_file(crashed, kJournal);
  const Bytes zero = as_bytes(std::string_view("\0", 1));
  const auto file = *crashed.open_writable(kJournal, OpenMode::kExisting);
  EXPECT_TRUE(file->write_at(before.find("value of second"), std::span(&zero, 1)).ok() && file->sync().ok());
  return crashed.disk();
}

/// Opens the store, which then has what precedes the hole, and in lost/ what follows it.
void expect_saved(CrashFileSystem& files, const std::string& name = "000001.journal") {
  const Result<DB> db = open_on(files);
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  EXPECT_TRUE((*db->get("first")).has_value());
  EXPECT_FALSE((*db->get("third")).has_value()) << "not a prefix";
  const Result<std::string> lost = read_whole_file(files, kFolder + "/lost/" + name);
  ASSERT_TRUE(lost.ok()) << lost.status().to_text();
  EXPECT_NE(lost->find("value of third"), std::string::npos);
}

TEST(Files, Rule4_P7_RecordsBehindAHoleAreKeptInLost) {
  CrashFileSystem files(disk_with_a_hole());
  expect_saved(files);
  EXPECT_FALSE(has(files, "000001.journal"));
}

/// Saved first, then released: an opening that fails or ends at any call leaves the records for the next one.
TEST(Files, Rule4_Rule19_P7_RecordsBehindAHoleAreInLostBeforeTheirJournalIsFree) {
  const MemoryDisk disk = disk_with_a_hole();
  std::vector<MemoryDisk> crashes;
  CrashFileSystem dry(disk);
  dry.after_each_call([&](const MemoryDisk& now, auto) {
    crashes.push_back(now);
    for (const Loss loss : kAllLosses) crashes.push_back(now.after_crash(loss, crashes.size()));
  });
  ASSERT_TRUE(open_on(dry).ok());
  EXPECT_GT(crashes.size(), 100U);
  for (const MemoryDisk& crash : crashes) {
    CrashFileSystem files(crash);
    expect_saved(files);
    if (testing::Test::HasFailure()) return;
  }
  std::uint64_t failing = 1;
  for (bool was_reached = true; was_reached; ++failing) {
    CrashFileSystem files(disk);
    {
      FaultyFileSystem faulty(files, {FaultKind::kIoError, failing, false});
      (void)DB::open(kFolder, {}, environment_on(faulty, 3)).ok();
      was_reached = faulty.calls() >= failing;
    }
    expect_saved(files);
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(failing, 20U);
}

/// lost/ may be a user's file, or hold another journal of that name.
TEST(Files, Rule19_P7_WhatIsInTheWayOfLostCostsNoRecord) {
  CrashFileSystem files(disk_with_a_hole());
  put_file(files, "lost", "a user's note");
  EXPECT_FALSE(open_on(files).ok());
  EXPECT_TRUE(has(files, "000001.journal"));
  ASSERT_TRUE(files.rename(kFolder + "/lost", kFolder + "/note").ok());
  ASSERT_TRUE(files.make_directory(kFolder + "/lost").ok());
  put_file(files, "lost/000001.journal", "saved long ago");
  expect_saved(files, "000001.journal.1");
  EXPECT_EQ(*read_whole_file(files, kFolder + "/lost/000001.journal"), "saved long ago");
}

TEST(Files, AFolderWithoutAStoreIsSaidToBeOne) {
  CrashFileSystem files;
  Options options;
  options.create_if_missing = false;
  EXPECT_EQ(open_on(files, options).status().code(), StatusCode::kIoError);
  EXPECT_EQ(names_in(files, "/").size(), 0U);
  ASSERT_TRUE(files.make_directory(kFolder).ok());
  const Result<DB> db = open_on(files, options);
  EXPECT_NE(db.status().message().find("no store is here"), std::string_view::npos) << db.status().to_text();
  EXPECT_EQ(names_in(files, kFolder).size(), 0U);
}

}  // namespace
}  // namespace tamis::test
