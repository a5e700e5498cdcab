// Rules 33 to 35: several keyspaces share one journal and one sequence. No crash leaves half of a batch, each keyspace
// replays only what its own tables lack, and an id names one keyspace for ever.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "crash/store_workload.h"
#include "faults/store_faults.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kMemtableBytes = 256 << 10;
constexpr int kPutsPerFlush = 50;  // Of put_in_both, about.
const std::string kFolder(kStore);

Result<DB> open(FileSystem& files, std::uint64_t seed = 1, std::uint64_t memtable_bytes = kMemtableBytes) {
  Options options;
  options.memory_bytes = 4 << 20;
  options.memtable_bytes = memtable_bytes;
  return DB::open(kFolder, options, environment_on(files, seed));
}

std::string key_of(int i) { return fmt::format("key{:04}", i); }

/// One commit: a large value in the default keyspace and a small one in another.
Status put_in_both(DB& db, const Keyspace& other, int i, std::size_t bytes = 4000) {
  Batch batch;
  batch.put(key_of(i), std::string(bytes, 'v'));
  batch.put(other, key_of(i), "small");
  return db.write(batch);
}

std::map<std::string, KeyspaceInfo> keyspaces_of(const DB& db) {
  std::map<std::string, KeyspaceInfo> infos;
  for (const KeyspaceInfo& info : db.keyspaces()) infos[info.name] = info;
  return infos;
}

std::vector<std::string> keys_of(Iterator it) {
  std::vector<std::string> keys;
  for (; it.valid(); it.next()) keys.emplace_back(it.key());
  EXPECT_TRUE(it.status().ok()) << it.status().to_text();
  return keys;
}

/// Opens the store on this disk. Empty, or why it does not hold the first commits of put_in_both and nothing else.
std::string check_prefix(const MemoryDisk& disk, std::size_t* found = nullptr) {
  CrashFileSystem files(disk);
  Result<DB> db = open(files, 99);
  if (!db.ok()) return db.status().to_text();
  const bool has_other = keyspaces_of(*db).contains("other");
  const std::vector<std::string> in_default = keys_of(db->scan());
  const std::vector<std::string> in_other = has_other ? keys_of(db->keyspace("other")->scan()) : in_default;
  if (found != nullptr) *found = in_default.size();
  if (!has_other && !in_default.empty()) return "a keyspace is gone";
  if (in_default != in_other) {
    return fmt::format("half of a batch: {} keys in one keyspace, {} in the other", in_default.size(), in_other.size());
  }
  for (std::size_t i = 0; i < in_default.size(); ++i) {
    if (in_default[i] != key_of(static_cast<int>(i))) return "not a prefix: " + in_default[i];
  }
  return {};
}

/// Checks the disk after every call, with every loss.
class CrashWatch {
 public:
  explicit CrashWatch(CrashFileSystem& files) : files_(files) {
    files_.after_each_call([this](const MemoryDisk& disk, std::string_view call) {
      for (const Loss loss : kAllLosses) {
        const MemoryDisk image = disk.after_crash(loss, ++crashes_);
        if (!disk.names().contains(kFolder + "/CURRENT")) continue;
        const std::string wrong = check_prefix(image);
        if (!wrong.empty() && violation_.empty()) {
          violation_ = fmt::format("after {}, lost {}: {}", call, to_string(loss), wrong);
        }
      }
    });
  }
  ~CrashWatch() { files_.after_each_call(nullptr); }
  CrashWatch(const CrashWatch&) = delete;
  CrashWatch& operator=(const CrashWatch&) = delete;

  [[nodiscard]] const std::string& violation() const { return violation_; }
  [[nodiscard]] std::uint64_t crashes() const { return crashes_; }

 private:
  CrashFileSystem& files_;
  std::uint64_t crashes_ = 0;
  std::string violation_;
};

TEST(Keyspaces, Rule33_AFlushOfOneKeyspaceLeavesNoHalfOfABatch) {
  CrashFileSystem files;
  Result<DB> db = open(files);
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  Result<Keyspace> other = db->keyspace("other");
  ASSERT_TRUE(other.ok()) << other.status().to_text();
  for (int i = 0; i < kPutsPerFlush - 20; ++i) ASSERT_TRUE(put_in_both(*db, *other, i).ok());
  ASSERT_EQ(keyspaces_of(*db).at("default").tables, 0U);
  CrashWatch watch(files);
  for (int i = kPutsPerFlush - 20; i < kPutsPerFlush; ++i) ASSERT_TRUE(put_in_both(*db, *other, i).ok());
  const std::map<std::string, KeyspaceInfo> infos = keyspaces_of(*db);
  EXPECT_GE(infos.at("default").tables, 1U);
  EXPECT_EQ(infos.at("other").tables, 0U) << "only one of the two is to be flushed";
  EXPECT_EQ(watch.violation(), "");
  EXPECT_GT(watch.crashes(), 100U);
}

/// The journal's records of the last commits are lost while the memtables have them.
TEST(Keyspaces, Rule33_WhatAFailedJournalLacksBecomesDurableAtOnce) {
  int resumed = 0;
  for (std::uint64_t failing = 1, calls = 1; failing <= calls; ++failing) {
    SCOPED_TRACE(fmt::format("call {} of a sync", failing));
    const auto begin = [](FileSystem& files, std::optional<Keyspace>& other) {
      Result<DB> db = open(files);
      other = *db->keyspace("other");
      for (int i = 0; i < 3; ++i) EXPECT_TRUE(put_in_both(*db, *other, i).ok());
      return db;
    };
    std::optional<Keyspace> other;
    std::uint64_t before = 0;
    {
      CrashFileSystem memory;
      FaultyFileSystem dry(memory);
      Result<DB> db = begin(dry, other);
      before = dry.calls();
      ASSERT_TRUE(db->sync().ok());
      calls = dry.calls() - before;
    }
    CrashFileSystem memory;
    FaultyFileSystem faulty(memory, {FaultKind::kIoError, before + failing, false});
    Result<DB> db = begin(faulty, other);
    EXPECT_FALSE(db->sync().ok());
    CrashWatch watch(memory);
    ASSERT_TRUE(db->resume().ok());
    ++resumed;
    ASSERT_TRUE(put_in_both(*db, *other, 3).ok());
    EXPECT_EQ(watch.violation(), "");
    EXPECT_GT(watch.crashes(), 10U);
  }
  EXPECT_GT(resumed, 0);
}

/// What a killed process wrote is in the page cache alone, and the machine fails while the next process recovers it.
TEST(Keyspaces, Rule33_ACrashDuringRecoveryLeavesNoHalfOfABatch) {
  CrashFileSystem files;
  Result<DB> db = open(files);
  Result<Keyspace> other = db->keyspace("other");
  const int puts = 65;  // The last ones are in no table of either.
  for (int i = 0; i < puts; ++i) ASSERT_TRUE(put_in_both(*db, *other, i).ok());
  ASSERT_GE(keyspaces_of(*db).at("default").tables, 1U);
  ASSERT_EQ(keyspaces_of(*db).at("other").tables, 0U);
  CrashFileSystem killed(files.disk());
  CrashWatch watch(killed);
  const Result<DB> recovered = open(killed, 2, 100 << 10);  // It is flushed in several steps.
  ASSERT_TRUE(recovered.ok()) << recovered.status().to_text();
  EXPECT_GT(recovered->stats().flushes, 2U);
  EXPECT_EQ(keys_of(recovered->scan()).size(), static_cast<std::size_t>(puts));
  EXPECT_EQ(watch.violation(), "");
  EXPECT_GT(watch.crashes(), 20U);
}

TEST(Keyspaces, Rule33_ACheckpointEndsAtOneSequenceForAll) {
  CrashFileSystem files;
  Result<DB> db = open(files);
  Result<Keyspace> other = db->keyspace("other");
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(put_in_both(*db, *other, i).ok());
  ASSERT_TRUE(db->checkpoint("/copy").ok());
  for (int i = 60; i < 120; ++i) ASSERT_TRUE(put_in_both(*db, *other, i).ok());
  Result<DB> copy = DB::open("/copy", {}, environment_on(files, 2));
  ASSERT_TRUE(copy.ok()) << copy.status().to_text();
  EXPECT_EQ(keys_of(copy->scan()).size(), 60U);
  EXPECT_EQ(keys_of(copy->keyspace("other")->scan()).size(), 60U);
  EXPECT_EQ(copy->stats().sequence, 120U);
}

TEST(Keyspaces, Rule34_EachReplaysOnlyWhatItsTablesLack) {
  MemoryDisk disk;
  int puts = 0;
  for (std::uint64_t opening = 1; opening <= 4; ++opening) {
    CrashFileSystem now(disk.after_crash(Loss::kNothing, opening));
    Result<DB> db = open(now, opening);
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    Result<Keyspace> other = db->keyspace("other");
    EXPECT_EQ(db->stats().sequence, static_cast<std::uint64_t>(2 * puts));
    const std::uint64_t tables = keyspaces_of(*db).at("other").tables;
    for (int i = 0; i < kPutsPerFlush * 3 / 2; ++i) ASSERT_TRUE(put_in_both(*db, *other, puts++).ok());
    EXPECT_GE(keyspaces_of(*db).at("default").tables, 1U);
    EXPECT_EQ(keyspaces_of(*db).at("other").tables, tables) << "only one of the two is to be flushed";
    CrashFileSystem killed(now.disk());
    const Result<DB> recovered = open(killed, opening + 10);
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_text();
    for (const KeyspaceInfo& info : recovered->keyspaces()) {
      EXPECT_EQ(info.entries, static_cast<std::uint64_t>(puts)) << info.name << " lacks an entry or has one twice";
    }
    disk = now.disk();
  }
  EXPECT_EQ(check_prefix(disk), "");
}

/// Counted: what the writes would take without the bound, and what they take.
TEST(Keyspaces, Rule34_AnIdleKeyspaceDoesNotKeepJournals) {
  CrashFileSystem files;
  Result<DB> db = open(files);
  Result<Keyspace> idle = db->keyspace("idle");
  ASSERT_TRUE(idle->put("once", "and never again").ok());
  std::uint64_t most_bytes = 0;
  std::uint64_t written = 0;
  for (int i = 0; written < 40 * kMemtableBytes; ++i) {
    ASSERT_TRUE(db->put(key_of(i % 100), std::string(4000, 'v')).ok());
    written += 4000;
    most_bytes = std::max(most_bytes, db->stats().journal.bytes);
  }
  EXPECT_GT(most_bytes, 3 * kMemtableBytes) << "a keyspace with one key is flushed at once";
  EXPECT_LT(most_bytes, 6 * kMemtableBytes);
  EXPECT_EQ(keyspaces_of(*db).at("idle").tables, 1U);
  CrashFileSystem rebooted(files.disk().after_crash(Loss::kEverything, 1));
  Result<DB> again = open(rebooted, 2);
  ASSERT_TRUE(again.ok()) << again.status().to_text();
  EXPECT_EQ(again->keyspace("idle")->get("once")->value_or("nothing"), "and never again");
}

/// The journal that a write failed in may be gone when the keyspace is next written.
TEST(Keyspaces, Rule34_AKeyspaceWhoseFirstWriteFailedNeedsOnlyItsLaterJournals) {
  for (std::uint64_t failing = 1, calls = 1; failing <= calls; ++failing) {
    SCOPED_TRACE(fmt::format("call {} of the first write", failing));
    const auto begin = [](FileSystem& files, std::optional<Keyspace>& other) {
      Result<DB> db = open(files);
      other = *db->keyspace("other");
      EXPECT_TRUE(db->put("a", "1").ok());
      return db;
    };
    std::optional<Keyspace> other;
    std::uint64_t before = 0;
    {
      CrashFileSystem memory;
      FaultyFileSystem dry(memory);
      Result<DB> db = begin(dry, other);
      before = dry.calls();
      ASSERT_TRUE(other->put("b", "2", {.sync = true}).ok());
      calls = dry.calls() - before;
    }
    CrashFileSystem memory;
    FaultyFileSystem faulty(memory, {FaultKind::kIoError, before + failing, false});
    Result<DB> db = begin(faulty, other);
    EXPECT_FALSE(other->put("b", "2", {.sync = true}).ok());
    ASSERT_TRUE(db->resume().ok());
    ASSERT_TRUE(db->put("c", "3").ok() && db->flush().ok());
    ASSERT_TRUE(other->put("d", "4").ok());
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(db->put(key_of(i), std::string(4000, 'v')).ok());
    EXPECT_EQ(keyspaces_of(*db).at("other").tables, 0U);
    CrashFileSystem rebooted(memory.disk().after_crash(Loss::kEverything, failing));
    Result<DB> again = open(rebooted, 2);
    ASSERT_TRUE(again.ok()) << again.status().to_text();
    EXPECT_EQ(again->keyspace("other")->get("d")->value_or("nothing"), "4");
  }
}

TEST(Keyspaces, Rule35_AnIdIsGivenOnce) {
  CrashFileSystem files;
  std::uint32_t newest = 0;
  for (std::uint64_t opening = 1; opening <= 3; ++opening) {
    Result<DB> db = open(files, opening);
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    for (int i = 0; i < 3; ++i) {
      Result<Keyspace> made = db->keyspace("name");
      ASSERT_TRUE(made.ok()) << made.status().to_text();
      EXPECT_GT(made->id(), newest);
      newest = made->id();
      ASSERT_TRUE(made->put("key", "value").ok());
      ASSERT_TRUE(db->drop_keyspace("name").ok());
    }
  }
  EXPECT_EQ(newest, 9U);
}

TEST(Keyspaces, Rule35_EntriesOfADroppedKeyspaceAreSkippedInTheJournal) {
  CrashFileSystem files;
  Result<DB> db = open(files);
  Result<Keyspace> dropped = db->keyspace("name");
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(put_in_both(*db, *dropped, i).ok());
  ASSERT_TRUE(db->drop_keyspace("name").ok());
  ASSERT_TRUE(db->put("after", "the drop").ok());
  for (const bool is_made_again : {false, true}) {
    ASSERT_TRUE(!is_made_again || db->keyspace("name")->put("new", "value").ok());
    CrashFileSystem rebooted(files.disk().after_crash(Loss::kNothing, 1));
    Result<DB> again = open(rebooted, 2);
    ASSERT_TRUE(again.ok()) << again.status().to_text();
    EXPECT_EQ(keys_of(again->scan()).size(), 6U);
    EXPECT_EQ(keyspaces_of(*again).contains("name"), is_made_again);
    EXPECT_EQ(again->stats().sequence, is_made_again ? 12U : 11U);
    EXPECT_EQ(keys_of(again->keyspace("name")->scan()).size(), is_made_again ? 1U : 0U);
  }
}

std::string only_journal(CrashFileSystem& files) {
  std::string path;
  const std::vector<DirectoryEntry> entries = *files.list(kFolder);
  for (const DirectoryEntry& entry : entries) {
    if (entry.name.ends_with(".journal")) path = kFolder + "/" + entry.name;
  }
  return path;
}

TEST(Keyspaces, Rule35_AnEntryOfAKeyspaceThatWasNeverMadeIsDamage) {
  CrashFileSystem files;
  Result<DB> db = open(files);
  ASSERT_TRUE(db->keyspace("first")->put("a", "1").ok());
  CrashFileSystem before(files.disk().after_crash(Loss::kNothing, 1));
  ASSERT_TRUE(db->keyspace("other")->put("b", "2").ok());
  CrashFileSystem after(files.disk().after_crash(Loss::kNothing, 1));
  const std::string journal = *read_whole_file(after, only_journal(after));
  const Bytes bytes = as_bytes(std::string_view(journal));
  ASSERT_EQ(only_journal(before), only_journal(after));
  ASSERT_TRUE((*before.open_writable(only_journal(before), OpenMode::kExisting))->write_at(0, {&bytes, 1}).ok());
  const Result<DB> opened = open(before, 2);
  EXPECT_EQ(opened.status().code(), StatusCode::kCorruption) << opened.status().to_text();
  EXPECT_NE(opened.status().message().find("keyspace 2"), std::string_view::npos) << opened.status().to_text();
  EXPECT_TRUE(open(after, 2).ok());
}

}  // namespace
}  // namespace tamis::test
