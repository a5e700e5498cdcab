// P7: opening deletes nothing that it cannot prove redundant, and says which file is missing.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "crash/store_workload.h"
#include "faults/store_damage.h"

namespace tamis::test {
namespace {

const std::string kFolder(kStore);

Result<DB> open_on(MemoryFileSystem& files, const Options& options = {}) {
  return DB::open(kFolder, options, environment_on(files, 3));
}

void put_file(MemoryFileSystem& files, const std::string& name, const std::string& text) {
  const auto file = *files.open_writable(kFolder + "/" + name, OpenMode::kCreate);
  const Bytes bytes = as_bytes(text);
  ASSERT_TRUE(file->write_at(0, std::span(&bytes, 1)).ok());
}

std::vector<std::string> names_in(MemoryFileSystem& files, const std::string& folder) {
  std::vector<std::string> names;
  const std::vector<DirectoryEntry> entries = *files.list(folder);
  for (const DirectoryEntry& entry : entries) names.push_back(entry.name);
  return names;
}

bool has(MemoryFileSystem& files, const std::string& name) {
  return files.file_size(kFolder + "/" + name)->has_value();
}

TEST(Files, P7_AMissingFileIsNamedAndNothingElseIsTouched) {
  const ClosedStore store = make_closed_store({}, 3);
  for (const std::string& path : store.files()) {
    for (const bool may_create : {false, true}) {
      MemoryDisk disk = store.disk;
      disk.remove(path);
      const std::uint64_t before = disk.content_hash();
      MemoryFileSystem files(std::move(disk));
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
    MemoryFileSystem files(std::move(disk));
    Options options;
    options.read_only = true;
    const Result<DB> db = open_on(files, options);
    ASSERT_FALSE(db.ok()) << path;
    EXPECT_EQ(db.status().code(), StatusCode::kCorruption);
    EXPECT_NE(db.status().message().find(path), std::string_view::npos) << db.status().to_text();
  }
}

TEST(Files, P7_WhatIsNotOursStays) {
  MemoryFileSystem files(make_closed_store({}, 4).disk);
  ASSERT_TRUE(files.make_directory(kFolder + "/lost+found").ok());
  for (const char* name : {"notes.txt", "000007.tms.bak", "7.tms", "MANIFEST", "current", ".hidden"}) {
    put_file(files, name, "mine");
  }
  for (int opening = 0; opening < 2; ++opening) {
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    ASSERT_TRUE(db->put("a", "b").ok());
    ASSERT_TRUE(db->flush().ok());
    ASSERT_TRUE(db->compact().ok());
  }
  for (const char* name : {"notes.txt", "000007.tms.bak", "7.tms", "MANIFEST", "current", ".hidden"}) {
    EXPECT_TRUE(has(files, name)) << name;
  }
  EXPECT_TRUE(files.list(kFolder + "/lost+found").ok());
}

TEST(Files, P7_TemporaryFilesAndUnfinishedOutputsGoAndUnreservedNumbersStay) {
  const ClosedStore store = make_closed_store({}, 5);
  MemoryFileSystem files(store.disk);
  put_file(files, "000003.journal.tmp", "half");
  put_file(files, "CURRENT.tmp", "half");
  put_file(files, "000001.tms", "the output of a compaction that was not finished");
  put_file(files, "900001.tms", "a table from elsewhere");
  const Result<DB> db = open_on(files);
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
  MemoryFileSystem files(make_closed_store({}, 6).disk);
  put_file(files, "CURRENT.tmp", "half");
  {
    // A crash, so that there is something to recover.
    Result<DB> db = open_on(files);
    ASSERT_TRUE(db.ok());
    ASSERT_TRUE(db->put("only in", "the journal").ok());
    MemoryFileSystem crashed(files.disk().after_crash(Loss::kNothing, 1));
    const std::uint64_t before = crashed.disk().content_hash();
    Options options;
    options.read_only = true;
    const Result<DB> reader = open_on(crashed, options);
    ASSERT_TRUE(reader.ok()) << reader.status().to_text();
    EXPECT_EQ(**reader->get("only in"), "the journal");
    EXPECT_EQ(crashed.disk().content_hash(), before);
  }
}

TEST(Files, AFolderWithoutAStoreIsSaidToBeOne) {
  MemoryFileSystem files;
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
