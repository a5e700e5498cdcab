// Readers beside a writer: rules 42 and 43.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "follow/followed_store.h"
#include "io/file_names.h"
#include "io/memory_file_system.h"
#include "journal/journal_reader.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "tree/manifest_reader.h"

namespace tamis {
namespace {

using test::content_of;
using test::FollowedStore;
using test::ObservedFileSystem;
using test::open_follower;

/// Opens a follower and checks what it shows.
void expect_opens(FollowedStore& store, FileSystem& files, const std::string& where) {
  Result<DB> follower = open_follower(files);
  ASSERT_TRUE(follower.ok()) << where << ": " << follower.status().to_text();
  store.expect_prefix(*follower, follower->stats().sequence, where);
}

/// Every kind of change: commits, flushes, compactions, recycled journals, manifests, keyspaces, a large commit.
void write_everything(FollowedStore& store) {
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(store.commit().ok());
  store.add_keyspace("one");
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000, {.sync = i % 8 == 0}).ok());
  ASSERT_TRUE(store.db().flush().ok());
  store.add_keyspace("two");
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
  ASSERT_TRUE(store.commit(150 << 10).ok());
  store.drop_keyspace("one");
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
  ASSERT_TRUE(store.db().compact().ok());
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(store.commit(100).ok());
}

TEST(Follower, Rule42_ShowsAPrefixAfterEveryFileCallOfTheWriter) {
  MemoryFileSystem disk;
  ObservedFileSystem files(disk);
  FollowedStore store(files);
  store.open();
  ASSERT_TRUE(store.commit().ok());
  Result<DB> always = open_follower(disk);  // Catches up after each call,
  Result<DB> late = open_follower(disk);    // and this one after many.
  ASSERT_TRUE(always.ok() && late.ok());
  std::uint64_t calls = 0;
  std::uint64_t shown = 0;
  files.after_change = [&] {
    const std::string where = fmt::format("after call {}", ++calls);
    const Result<std::uint64_t> sequence = always->catch_up();
    ASSERT_TRUE(sequence.ok()) << where << ": " << sequence.status().to_text();
    ASSERT_GE(*sequence, shown) << where;
    if (*sequence != shown || calls % 5 == 0) store.expect_prefix(*always, *sequence, where);
    shown = *sequence;
    if (calls % 41 == 0) {
      const Result<std::uint64_t> reached = late->catch_up();
      ASSERT_TRUE(reached.ok()) << where << ": " << reached.status().to_text();
      EXPECT_EQ(*reached, *sequence) << where;
      store.expect_prefix(*late, *reached, where + ", late");
    }
    if (calls % 7 == 0) expect_opens(store, disk, where + ", anew");
  };
  write_everything(store);
  files.after_change = {};
  EXPECT_GT(calls, 500U);
  EXPECT_EQ(*always->catch_up(), store.newest());
  store.close();
  EXPECT_EQ(*always->catch_up(), store.newest()) << "after a clean close";
  store.expect_prefix(*always, store.newest(), "after a clean close");
  store.open();
  ASSERT_TRUE(store.commit().ok());
  EXPECT_EQ(*always->catch_up(), store.newest()) << "a journal that was continued";
  store.expect_prefix(*always, store.newest(), "a journal that was continued");
}

/// The writer works between any two calls of the follower.
TEST(Follower, Rule42_ShowsAPrefixWhateverTheWriterDoesWhileItReads) {
  MemoryFileSystem disk;
  FollowedStore store(disk);
  store.open();
  store.add_keyspace("one");
  ASSERT_TRUE(store.commit().ok());
  ObservedFileSystem files(disk);
  Result<DB> follower = open_follower(files);
  ASSERT_TRUE(follower.ok());
  std::uint64_t calls = 0;
  std::uint64_t at = 0;
  int burst = 0;
  files.before_read = [&] {
    if (++calls != at) return;
    for (int i = 0; i < 5 + 40 * (burst % 3); ++i) ASSERT_TRUE(store.commit(2000).ok());
    if (burst % 4 == 1) {
      ASSERT_TRUE(store.db().flush().ok());
    }
    if (burst % 4 == 2) {
      ASSERT_TRUE(store.db().compact().ok());
    }
    if (burst % 4 == 3) {
      store.drop_keyspace("one");
      store.add_keyspace("one");
    }
    ++burst;
  };
  std::uint64_t shown = 0;
  bool was_interrupted = true;
  for (std::uint64_t call = 1; was_interrupted; ++call) {
    for (const bool opens : {false, true}) {
      for (int i = 0; i < 30; ++i) ASSERT_TRUE(store.commit(1500).ok());
      if (call % 3 == 0) {
        ASSERT_TRUE(store.db().flush().ok());
      }
      const std::string where = fmt::format("interrupted at call {}{}", call, opens ? " of an opening" : "");
      calls = 0;
      at = call;
      if (opens) {
        expect_opens(store, files, where);
        continue;
      }
      const Result<std::uint64_t> sequence = follower->catch_up();
      was_interrupted = calls >= at;
      at = 0;
      ASSERT_TRUE(sequence.ok()) << where << ": " << sequence.status().to_text();
      EXPECT_GE(*sequence, shown) << where;
      shown = *sequence;
      store.expect_prefix(*follower, *sequence, where);
    }
  }
  EXPECT_GT(burst, 30);
}

std::uint64_t term_of(FileSystem& files) { return read_current(files, "/store")->term; }

/// Files of this kind, by number.
std::vector<std::string> files_of(FileSystem& files, FileKind kind) {
  std::vector<std::string> paths;
  for (const std::string& name : test::names_in(files, "/store")) {
    const std::optional<FileName> parsed = parse_file_name(name);
    if (parsed && parsed->kind == kind) paths.push_back("/store/" + name);
  }
  return paths;
}

/// The writer's process dies at any of its file calls, and another one recovers the store.
TEST(Follower, Rule42_GoesOnAfterACrashOfTheWriterInItsNewTerm) {
  bool has_died = true;
  int terms = 0;
  for (std::uint64_t call = 1; has_died; call += 37) {
    std::uint64_t calls = 0;
    MemoryFileSystem disk;
    ObservedFileSystem files(disk);
    FollowedStore store(files);
    store.open();
    store.add_keyspace("one");
    ASSERT_TRUE(store.commit().ok());
    Result<DB> follower = open_follower(disk);
    Result<DB> late = open_follower(disk);
    ASSERT_TRUE(follower.ok() && late.ok());
    const std::uint64_t term = term_of(disk);
    files.after_change = [&] {
      if (++calls == call) files.stop();
    };
    for (int i = 0; i < 60 && store.commit(2000, {.sync = i % 4 == 0}).ok(); ++i)
      ASSERT_TRUE(follower->catch_up().ok());
    has_died = calls >= call;
    if (!has_died) break;
    store.close();
    const std::string where = fmt::format("died at call {}", call);
    const std::uint64_t before = *follower->catch_up();
    store.expect_prefix(*follower, before, where);
    FollowedStore again = store.reopened(disk);
    terms += term_of(disk) > term ? 1 : 0;
    for (DB* const db : {&*follower, &*late}) {
      const Result<std::uint64_t> recovered = db->catch_up();
      ASSERT_TRUE(recovered.ok()) << where << ": " << recovered.status().to_text();
      EXPECT_GE(*recovered, before) << where << ": nothing is lost when a process dies";
      again.expect_prefix(*db, *recovered, where + ", recovered");
    }
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(again.commit(2000).ok());
    for (DB* const db : {&*follower, &*late}) {
      ASSERT_EQ(*db->catch_up(), again.newest()) << where;
      again.expect_prefix(*db, again.newest(), where + ", after more commits");
    }
  }
  EXPECT_GT(terms, 5);
}

/// The follower keeps the options that it was opened with.
TEST(Follower, Rule42_GoesOnWhenTheWriterIsOpenedWithOtherOptions) {
  MemoryFileSystem disk;
  FollowedStore store(disk);
  store.open();
  store.add_keyspace("one");
  Result<DB> follower = open_follower(disk);
  ASSERT_TRUE(follower.ok());
  Options options = test::kFollowed;
  for (const char* policy : {"tiered", "manual", "leveled"}) {
    options.compaction = policy;
    options.value_bytes_apart = options.value_bytes_apart == 0 ? 500 : 0;
    options.journal = options.journal == "write" ? "auto" : "write";
    options.codec = options.codec == "none" ? "lz4" : "none";
    options.block_bytes = options.block_bytes == 1024 ? 4096 : 1024;
    store.reopen_with(options);
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(store.commit(i % 2 == 0 ? 1000 : 10).ok());
      if (i % 25 == 0) {
        ASSERT_TRUE(store.db().flush().ok());
      }
      if (i % 20 != 0) continue;
      const Result<std::uint64_t> moved = follower->catch_up();
      ASSERT_TRUE(moved.ok()) << policy << ": " << moved.status().to_text();
      store.expect_prefix(*follower, store.newest(), policy);
    }
  }
}

/// A sync fails after the follower has read what it should have made durable; the program resumes.
TEST(Follower, Rule42_DiscardsWhatItTookFromJournalsWhenATermBegins) {
  int discarded = 0;
  for (std::uint64_t call = 1; call < 120; ++call) {
    CrashFileSystem disk;
    ASSERT_TRUE(DB::open("/store", test::kFollowed, test::without_threads(disk))->close().ok());
    FaultyFileSystem faulty(disk, {.kind = FaultKind::kIoErrorAfterwards, .at_call = call});
    ObservedFileSystem observed(faulty);
    FollowedStore written(observed);
    if (!written.try_open().ok()) continue;
    Result<DB> follower = open_follower(disk);
    ASSERT_TRUE(follower.ok());
    std::uint64_t shown = 0;
    std::uint64_t term = term_of(disk);
    const auto catch_up = [&] {
      const Result<std::uint64_t> sequence = follower->catch_up();
      ASSERT_TRUE(sequence.ok()) << "call " << call << ": " << sequence.status().to_text();
      if (*sequence == shown) return;
      if (*sequence < shown) {
        EXPECT_GT(term_of(disk), term) << "call " << call << ": backwards within a term";
        ++discarded;
      }
      term = term_of(disk);
      shown = *sequence;
    };
    observed.after_change = catch_up;
    for (int i = 0; i < 12; ++i) {
      if (written.commit(500, {.sync = true}).ok()) continue;
      (void)written.db().resume().ok();
    }
    observed.after_change = {};
    // What a failed write has left in the journal is gone after the next one.
    const bool is_committed = written.commit(500).ok() || (written.db().resume().ok() && written.commit(500).ok());
    ASSERT_TRUE(is_committed) << "call " << call;
    catch_up();
    EXPECT_EQ(shown, written.db().stats().sequence) << "call " << call;
    EXPECT_TRUE(content_of(follower->scan()) == content_of(written.db().scan())) << "call " << call;
  }
  EXPECT_GT(discarded, 0);
}

TEST(Follower, Rule43_ReadsFilesThatTheWriterHasRemoved) {
  MemoryFileSystem disk;
  FollowedStore store(disk, /*value_bytes_apart=*/500);
  store.open();
  store.add_keyspace("one");
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(store.commit(2000).ok());
  ASSERT_TRUE(store.db().flush().ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(store.commit(100).ok());
  Result<DB> follower = open_follower(disk);
  ASSERT_TRUE(follower.ok());
  const std::uint64_t sequence = follower->stats().sequence;
  Iterator entries = follower->scan();
  const Snapshot snapshot = follower->snapshot();
  std::vector<std::string> tables = files_of(disk, FileKind::kTable);
  const std::vector<std::string> values = files_of(disk, FileKind::kValues);
  ASSERT_FALSE(tables.empty() || values.empty());
  tables.insert(tables.end(), values.begin(), values.end());
  for (int i = 0; i < 60; ++i) ASSERT_TRUE(store.commit(2000).ok());
  store.drop_keyspace("one");
  ASSERT_TRUE(store.db().compact().ok());
  for (const std::string& table : tables) ASSERT_FALSE(*disk.file_size(table)) << table << " is still there";
  store.expect_prefix(*follower, sequence, "before it catches up");
  EXPECT_TRUE(follower->verify()->problems.empty());
  Result<Keyspace> one = follower->keyspace("one");
  ASSERT_TRUE(one.ok());
  ASSERT_EQ(*follower->catch_up(), store.newest());
  store.expect_prefix(*follower, store.newest(), "after it caught up");
  EXPECT_TRUE(store.is_prefix(sequence, 0, content_of(std::move(entries)))) << "the iterator keeps what it saw";
  EXPECT_TRUE(store.is_prefix(sequence, 0, content_of(follower->scan({.snapshot = &snapshot}))));
  EXPECT_TRUE(store.is_prefix(sequence, one->id(), content_of(one->scan({.snapshot = &snapshot}))));
  EXPECT_EQ(one->get("k0").status().code(), StatusCode::kInvalidArgument) << "it was dropped";
  EXPECT_FALSE(follower->keyspace("one").ok());
}

/// The writer's clock is an hour ahead of the follower's: what the writer's horizon has passed stays hidden.
TEST(Follower, Rule29_HidesWhatIsDueByItsClockOrTheWritersHorizon) {
  using std::chrono::hours;
  constexpr std::uint64_t kHour = 3'600'000;
  MemoryFileSystem disk;
  std::uint64_t ahead = 0;
  const std::uint64_t begin = 1'700'000'000'000;
  std::uint64_t passed = 0;
  Environment environment = test::without_threads(disk);
  environment.unix_milliseconds = [&] { return begin + ahead + passed; };
  environment.uptime_milliseconds = [&] { return kHour + ahead + passed; };
  Result<DB> writer = DB::open("/store", test::kFollowed, environment);
  ASSERT_TRUE(writer.ok());
  Environment followers = test::without_threads(disk);
  followers.unix_milliseconds = [&] { return begin + passed; };
  Result<DB> follower = DB::open("/store", test::follower_options(), followers);
  ASSERT_TRUE(follower.ok());
  ASSERT_TRUE(writer->put("a", "1", {.expires_in = hours(1)}).ok());
  ASSERT_TRUE(writer->put("b", "2", {.expires_in = hours(3)}).ok());
  ASSERT_TRUE(follower->catch_up().ok());
  EXPECT_EQ(content_of(follower->scan()), (test::Content{{"a", "1"}, {"b", "2"}}));
  const Snapshot snapshot = follower->snapshot();
  passed = kHour;
  EXPECT_EQ(content_of(follower->scan()), (test::Content{{"b", "2"}}));
  EXPECT_EQ(*follower->get("a"), std::nullopt);
  EXPECT_EQ(content_of(follower->scan({.snapshot = &snapshot})), (test::Content{{"a", "1"}, {"b", "2"}}));
  const Snapshot keeps = writer->snapshot();  // The flush drops nothing.
  ahead = 5 * kHour;
  ASSERT_TRUE(writer->flush().ok());
  ASSERT_TRUE(follower->catch_up().ok());
  EXPECT_TRUE(content_of(follower->scan()).empty());
  EXPECT_EQ(*follower->get("b"), std::nullopt);
}

/// Of every kind of file that a view needs.
TEST(Follower, Rule43_AMissingFileMakesTheViewStaleAndNothingElse) {
  for (const FileKind kind :
       {FileKind::kTable, FileKind::kValues, FileKind::kJournal, FileKind::kManifest, FileKind::kCurrent}) {
    MemoryFileSystem disk;
    FollowedStore store(disk, kind == FileKind::kValues ? 500 : 0);
    store.open();
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
    Result<DB> follower = open_follower(disk);
    ASSERT_TRUE(follower.ok());
    const std::uint64_t sequence = follower->stats().sequence;
    for (int i = 0; i < 40; ++i) ASSERT_TRUE(store.commit(2000).ok());
    ASSERT_TRUE(store.db().compact().ok());
    ASSERT_TRUE(store.commit().ok());
    const std::string path = files_of(disk, kind).back();
    ASSERT_TRUE(disk.rename(path, "/hidden").ok());
    EXPECT_EQ(follower->catch_up().status().code(), StatusCode::kStale) << path;
    store.expect_prefix(*follower, sequence, "while " + path + " is missing");
    const StatusCode opened = open_follower(disk).status().code();
    EXPECT_EQ(opened, kind == FileKind::kCurrent ? StatusCode::kIoError : StatusCode::kStale) << path;
    ASSERT_TRUE(disk.rename("/hidden", path).ok());
    EXPECT_EQ(*follower->catch_up(), store.newest()) << path;
    store.expect_prefix(*follower, store.newest(), "when " + path + " is back");
  }
}

/// Damage in a file that CURRENT names is damage. In a journal it is the end for now.
TEST(Follower, Rule42_TakesAnInvalidRecordForTheEndAndADamagedManifestForDamage) {
  MemoryFileSystem disk;
  FollowedStore store(disk);
  store.open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(store.commit().ok());
  const std::uint64_t sequence = store.newest();
  const std::string journal = files_of(disk, FileKind::kJournal).back();
  const std::uint64_t offset = [&] {
    JournalReader reader = *JournalReader::open(disk, journal);
    while (*reader.next_so_far()) {
    }
    return reader.offset();
  }();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(store.commit().ok());
  const auto flip = [&](const std::string& path, std::uint64_t at) {
    std::string bytes = *read_whole_file(disk, path);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    const Bytes written = as_bytes(bytes);
    ASSERT_TRUE((*disk.open_writable(path, OpenMode::kExisting))->write_at(0, std::span(&written, 1)).ok());
  };
  flip(journal, offset + 50);
  Result<DB> follower = open_follower(disk);
  ASSERT_TRUE(follower.ok()) << follower.status().to_text();
  store.expect_prefix(*follower, sequence, "before the invalid record");
  flip(journal, offset + 50);
  EXPECT_EQ(*follower->catch_up(), store.newest()) << "when it is valid";
  ASSERT_TRUE(store.db().flush().ok());
  flip(files_of(disk, FileKind::kManifest).back(), 4200);
  EXPECT_EQ(open_follower(disk).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis
