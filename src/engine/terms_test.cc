// What an open store writes into the headers of CURRENT and of its journals: terms, features, commit times.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "io/file.h"
#include "io/file_names.h"
#include "journal/journal_reader.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "tamis/db.h"
#include "tree/current_format.h"

namespace tamis {
namespace {

Environment environment(FileSystem& files) { return {.files = &files, .random_seed = 1, .runs_in_background = false}; }

DB open(FileSystem& files) {
  Result<DB> db = DB::open("/store", {}, environment(files));
  EXPECT_TRUE(db.ok()) << db.status().to_text();
  return std::move(*db);
}

Current current(FileSystem& files) {
  return *decode_current(as_bytes(*read_whole_file(files, "/store/CURRENT")), "CURRENT");
}

void write_current(FileSystem& files, const Current& current) {
  const CurrentBytes encoded = encode_current(current);
  const Bytes bytes = encoded;
  ASSERT_TRUE((*files.open_writable("/store/CURRENT", OpenMode::kReplace))->write_at(0, std::span(&bytes, 1)).ok());
}

/// The headers of all journals, by number.
std::vector<JournalHeader> journals(FileSystem& files) {
  std::vector<JournalHeader> headers;
  const std::vector<DirectoryEntry> entries = *files.list("/store");
  for (const DirectoryEntry& entry : entries) {
    const std::optional<FileName> name = parse_file_name(entry.name);
    if (!name || name->kind != FileKind::kJournal) continue;
    headers.push_back(JournalReader::open(files, "/store/" + entry.name)->header());
  }
  std::ranges::sort(headers, {}, &JournalHeader::number);
  return headers;
}

TEST(Terms, Rule42_ARecoveryThatWasNotCleanBeginsATerm) {
  CrashFileSystem files;
  DB db = open(files);
  const std::uint64_t first = current(files).term;
  EXPECT_GT(first, 0U);
  EXPECT_EQ(journals(files).back().term, first);
  ASSERT_TRUE(db.put("key", "1", {.sync = true}).ok());
  CrashFileSystem rebooted(files.disk().after_crash(Loss::kNothing, 1));
  DB again = open(rebooted);
  EXPECT_EQ(current(rebooted).term, first + 1);
  EXPECT_EQ(journals(rebooted).back().term, first + 1);
  ASSERT_TRUE(again.put("key", "2", {.sync = true}).ok());
  EXPECT_EQ(again.get("key")->value(), "2");
  EXPECT_EQ(current(rebooted).term, first + 1) << "writes and flushes keep it";
  ASSERT_TRUE(again.flush().ok());
  EXPECT_EQ(journals(rebooted).back().term, first + 1);
}

TEST(Terms, Rule42_ACleanCloseKeepsTheTerm) {
  CrashFileSystem files;
  std::uint64_t term = 0;
  for (int i = 0; i < 3; ++i) {
    DB db = open(files);
    ASSERT_TRUE(db.put("key", "value").ok());
    if (i == 0) term = current(files).term;
    ASSERT_TRUE(db.close().ok());
    EXPECT_EQ(current(files).term, term);
    EXPECT_EQ(journals(files).back().term, term);
  }
}

TEST(Terms, Rule42_AReaderBeginsNone) {
  CrashFileSystem files;
  DB db = open(files);
  ASSERT_TRUE(db.put("key", "value", {.sync = true}).ok());
  CrashFileSystem rebooted(files.disk().after_crash(Loss::kNothing, 1));
  const std::uint64_t before = current(rebooted).term;
  ASSERT_TRUE(DB::open("/store", {.read_only = true}, environment(rebooted)).ok());
  EXPECT_EQ(current(rebooted).term, before);
}

/// Whatever failed first: the journal, a flush, the manifest.
TEST(Terms, Rule42_ARestartOfWritesBeginsATerm) {
  std::uint64_t restarts = 0;
  bool goes_on = true;
  for (std::uint64_t call = 1; goes_on; ++call) {
    CrashFileSystem files;
    ASSERT_TRUE(open(files).close().ok());
    FaultyFileSystem faulty(files, {.kind = FaultKind::kIoError, .at_call = call});
    Result<DB> db = DB::open("/store", {}, environment(faulty));
    if (!db.ok()) continue;
    const std::uint64_t before = current(files).term;
    const bool was_written = db->put("key", "value", {.sync = true}).ok() && db->flush().ok();
    goes_on = faulty.calls() >= call;
    if (!goes_on || was_written || db->put("key", "1").ok()) continue;  // Writes have not stopped.
    ASSERT_TRUE(db->resume().ok()) << "call " << call;
    EXPECT_EQ(current(files).term, before + 1) << "call " << call;
    ASSERT_TRUE(db->put("key", "2", {.sync = true}).ok()) << "call " << call;
    EXPECT_EQ(journals(files).back().term, before + 1) << "call " << call;
    ++restarts;
    CrashFileSystem rebooted(files.disk().after_crash(Loss::kEverything, 1));
    EXPECT_EQ(open(rebooted).get("key")->value(), "2") << "call " << call;
  }
  EXPECT_GT(restarts, 5U);
}

/// A crash between the two must not lead to two journals of one term.
TEST(Terms, Rule42_ATermIsDurableInCurrentBeforeAJournalHasIt) {
  CrashFileSystem files;
  std::uint64_t checked = 0;
  files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    CrashFileSystem image(disk.after_crash(Loss::kEverything, 1));
    const Result<std::optional<std::uint64_t>> size = image.file_size("/store/CURRENT");
    if (!size.ok() || !*size) return;
    for (const JournalHeader& journal : journals(image)) {
      EXPECT_LE(journal.term, current(image).term) << call;
      ++checked;
    }
  });
  { DB db = open(files); }
  DB db = open(files);
  ASSERT_TRUE(db.put("key", "value", {.sync = true}).ok());
  EXPECT_GT(checked, 20U);
}

TEST(Features, OnesThatWritersNeedAllowReadersOnly) {
  CrashFileSystem files;
  {
    DB db = open(files);
    ASSERT_TRUE(db.put("key", "value", {.sync = true}).ok());
    ASSERT_TRUE(db.close().ok());
  }
  Current changed = current(files);
  changed.features.to_write = 1 << 9;
  write_current(files, changed);
  const std::size_t calls = files.call_log().size();
  EXPECT_EQ(DB::open("/store", {}, environment(files)).status().to_text(),
            "not supported: /store/CURRENT: feature 9, needed to write to the store, is not known to this build; use a "
            "newer tamis");
  EXPECT_EQ(files.call_log().size(), calls) << "nothing was written";
  const Result<DB> reader = DB::open("/store", {.read_only = true}, environment(files));
  ASSERT_TRUE(reader.ok()) << reader.status().to_text();
  EXPECT_EQ(reader->get("key")->value(), "value");
}

TEST(Features, UnknownOnesAreRefusedByOneLookAtCurrent) {
  CrashFileSystem files;
  ASSERT_TRUE(open(files).close().ok());
  Current changed = current(files);
  changed.features = {.to_read = std::uint32_t{1} << 31};
  write_current(files, changed);
  for (const bool read_only : {false, true}) {
    EXPECT_EQ(DB::open("/store", {.read_only = read_only}, environment(files)).status().to_text(),
              "not supported: /store/CURRENT: feature 31, needed to read it, is not known to this build; use a newer "
              "tamis");
  }
}

std::vector<std::uint64_t> commit_times(FileSystem& files) {
  std::vector<std::uint64_t> times;
  for (const JournalHeader& header : journals(files)) {
    JournalReader reader = *JournalReader::open(files, journal_path("/store", header.number));
    while (const std::optional<JournalRecord> record = *reader.next()) times.push_back(record->commit_time);
  }
  return times;
}

TEST(CommitTimes, ComeFromTheEnvironmentsClock) {
  CrashFileSystem files;
  Environment with_clock = environment(files);
  std::uint64_t now = 1'234'567'890;
  with_clock.unix_milliseconds = [&] { return now * 1000; };
  DB db = *DB::open("/store", {}, with_clock);
  ASSERT_TRUE(db.put("a", "1").ok());
  now += 5;
  ASSERT_TRUE(db.put("b", "2").ok());
  EXPECT_EQ(commit_times(files), (std::vector<std::uint64_t>{1'234'567'890'000, 1'234'567'895'000}));
}

TEST(CommitTimes, AreTheMachinesWithinASecond) {
  CrashFileSystem files;
  const auto now = [] {
    const auto since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since_1970).count());
  };
  DB db = *DB::open("/store", {}, {.files = &files, .runs_in_background = false});
  const std::uint64_t before = now();
  ASSERT_TRUE(db.put("a", "1").ok());
  const std::uint64_t after = now();
  const std::vector<std::uint64_t> times = commit_times(files);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_GE(times[0] + 1000, before);
  EXPECT_LE(times[0], after);
}

}  // namespace
}  // namespace tamis
