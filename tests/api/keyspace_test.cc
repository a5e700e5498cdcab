// What <tamis/keyspace.h> promises of named trees, through the public headers.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "io/memory_file_system.h"

namespace tamis::test {
namespace {

class KeyspaceApi : public ::testing::Test {
 protected:
  KeyspaceApi() { open(); }

  void open(Options options = {}) {
    db_ = DB();
    Result<DB> opened = DB::open("/store", options, environment());
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db_ = *std::move(opened);
  }
  Environment environment() { return {.files = &files_, .runs_in_background = false}; }

  Keyspace make(std::string_view name, const KeyspaceOptions& options = {}) {
    Result<Keyspace> made = db_.keyspace(name, options);
    EXPECT_TRUE(made.ok()) << made.status().to_text();
    return made.ok() ? *std::move(made) : Keyspace();
  }
  std::string options_of(std::string_view name) {
    for (const KeyspaceInfo& info : db_.keyspaces()) {
      if (info.name == name) return info.options;
    }
    return "there is none";
  }
  std::size_t tables_on_disk() {
    const std::vector<DirectoryEntry> entries = *files_.list("/store");
    return static_cast<std::size_t>(
        std::ranges::count_if(entries, [](const DirectoryEntry& entry) { return entry.name.ends_with(".tms"); }));
  }

  MemoryFileSystem files_;
  DB db_;
};

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;
constexpr StatusCode kClosed = StatusCode::kClosed;

std::string value_in(const Keyspace& keyspace, std::string_view key, const Snapshot* snapshot = nullptr) {
  const Result<std::optional<std::string>> value = keyspace.get(key, {.snapshot = snapshot});
  return value.ok() ? value->value_or("absent") : value.status().to_text();
}

/// What every call of the handle answers.
std::vector<Status> all_answers(Keyspace& keyspace, const Snapshot* snapshot = nullptr) {
  std::string value;
  std::vector<std::optional<std::string>> values;
  const std::vector<std::string_view> keys = {"key"};
  const ReadOptions options{.snapshot = snapshot};
  std::vector<Status> answers = {keyspace.get("key", options).status(),
                                 keyspace.get("key", &value, options).status(),
                                 keyspace.exists("key", options).status(),
                                 keyspace.get_pinned("key", options).status(),
                                 keyspace.multi_get(keys, options).front().status(),
                                 keyspace.multi_get(keys, &values, options),
                                 keyspace.scan({.snapshot = snapshot}).status(),
                                 keyspace.explain("key", options).status()};
  if (snapshot == nullptr) {
    answers.insert(answers.end(), {keyspace.put("key", "value"), keyspace.remove("key"), keyspace.compact(),
                                   keyspace.approximate_size({}).status()});
  }
  return answers;
}

void expect_all(const std::vector<Status>& answers, StatusCode code) {
  for (std::size_t i = 0; i < answers.size(); ++i) {
    EXPECT_EQ(answers[i].code(), code) << "answer " << i << ": " << answers[i].to_text();
  }
}

TEST_F(KeyspaceApi, TheSameKeyHasAValueInEach) {
  Keyspace users = make("users");
  Keyspace towns = make("towns");
  EXPECT_EQ(users.name(), "users");
  ASSERT_TRUE(db_.put("key", "in none").ok() && users.put("key", "in users").ok() && towns.put("key", "in towns").ok());
  for (const bool is_flushed : {false, true}) {
    ASSERT_TRUE(!is_flushed || db_.flush().ok());
    EXPECT_EQ(value_in(users, "key"), "in users");
    EXPECT_EQ(value_in(towns, "key"), "in towns");
    EXPECT_EQ(**db_.get("key"), "in none");
  }
  ASSERT_TRUE(users.remove("key").ok() && users.compact().ok());
  EXPECT_EQ(value_in(users, "key"), "absent");
  EXPECT_EQ(value_in(towns, "key"), "in towns");
  expect_all(all_answers(towns), StatusCode::kOk);
}

TEST_F(KeyspaceApi, TheDefaultOneHasANameToo) {
  Keyspace same = make("default");
  EXPECT_EQ(same.id(), 0U);
  ASSERT_TRUE(same.put("key", "value").ok());
  EXPECT_EQ(**db_.get("key"), "value");
  EXPECT_EQ(db_.drop_keyspace("default").code(), kInvalid);
  EXPECT_EQ(db_.keyspace("default", {.codec = "none"}).status().code(), kInvalid) << "its options are the store's";
  EXPECT_EQ(db_.keyspaces().size(), 1U);
}

TEST_F(KeyspaceApi, OptionsAreStoredAndChangedOneByOne) {
  (void)make("a", {.block_bytes = 1024, .codec = "none"});
  EXPECT_EQ(options_of("a"), "block_bytes=1KiB\ncodec=none\n");
  open();
  (void)make("a");
  EXPECT_EQ(options_of("a"), "block_bytes=1KiB\ncodec=none\n");
  (void)make("a", {.codec = "lz4", .fanout = 5});
  EXPECT_EQ(options_of("a"), "block_bytes=1KiB\ncodec=lz4\nfanout=5\n");
  open();
  EXPECT_EQ(options_of("a"), "block_bytes=1KiB\ncodec=lz4\nfanout=5\n");
}

TEST_F(KeyspaceApi, OptionsApplyToTheTablesOfTheirKeyspaceAlone) {
  Keyspace fine = make("fine", {.codec = "none", .codec_last = "none"});
  Keyspace packed = make("packed", {.codec = "lz4", .codec_last = "lz4"});
  for (int i = 0; i < 500; ++i) {
    const std::string key = fmt::format("key{:04}", i);
    ASSERT_TRUE(fine.put(key, std::string(200, 'v')).ok() && packed.put(key, std::string(200, 'v')).ok());
  }
  ASSERT_TRUE(db_.flush().ok());
  const std::uint64_t plain_bytes = *fine.approximate_size({});
  EXPECT_GT(plain_bytes, 500U * 200U);
  EXPECT_LT(*packed.approximate_size({}), plain_bytes / 3);
  (void)make("fine", {.codec = "lz4", .codec_last = "lz4"});
  ASSERT_TRUE(fine.compact().ok());
  EXPECT_LT(*fine.approximate_size({}), plain_bytes / 3);
}

TEST_F(KeyspaceApi, BadNamesAndOptionsMakeNothing) {
  EXPECT_EQ(db_.keyspace("").status().code(), kInvalid);
  EXPECT_EQ(db_.keyspace(std::string(256, 'n')).status().code(), kInvalid);
  EXPECT_EQ(db_.keyspace("a", {.codec = "gzip"}).status().code(), kInvalid);
  EXPECT_EQ(db_.keyspace("a", {.block_bytes = 3}).status().code(), kInvalid);
  EXPECT_EQ(db_.keyspace("a", {.fanout = 0}).status().code(), kInvalid);
  EXPECT_EQ(db_.keyspace("a", {.compaction = "upwards"}).status().code(), kInvalid);
  EXPECT_EQ(db_.keyspaces().size(), 1U);
  (void)make("a", {.codec = "none"});
  EXPECT_EQ(db_.keyspace("a", {.filter = "sieve"}).status().code(), kInvalid);
  EXPECT_EQ(options_of("a"), "codec=none\n");
  KeyspaceOptions options;
  EXPECT_EQ(set_keyspace_option(options, "memory_bytes", "1000000").code(), kInvalid);
  EXPECT_EQ(set_keyspace_option(options, "nothing", "1").code(), kInvalid);
  EXPECT_TRUE(set_keyspace_option(options, "codec", "zstd").ok());
  EXPECT_EQ(options.codec, "zstd");
}

TEST_F(KeyspaceApi, ANameMayHaveAnyBytesUpTo255) {
  const std::vector<std::string> names = {std::string(255, 'n'), std::string("\0\n=/..", 6), "Default", "\xff"};
  for (const std::string& name : names) ASSERT_TRUE(make(name).put("key", name).ok());
  open();
  std::vector<std::string> found;
  for (const KeyspaceInfo& info : db_.keyspaces()) found.push_back(info.name);
  ASSERT_EQ(found.size(), names.size() + 1);
  EXPECT_EQ(found.front(), "default");
  for (const std::string& name : names) EXPECT_EQ(value_in(make(name), "key"), name);
  EXPECT_EQ(std::vector<std::string>(found.begin() + 1, found.end()), names) << "in the order in which they were made";
}

TEST_F(KeyspaceApi, ABatchIsOneCommitAndASnapshotSeesAllOfItOrNothing) {
  Keyspace a = make("a");
  Keyspace b = make("b");
  Batch batch;
  batch.put(a, "key", "1");
  batch.put("key", "1");
  batch.put(b, "key", "1");
  batch.remove(a, "key");
  batch.put(a, "key", "last");
  const Snapshot before = db_.snapshot();
  ASSERT_TRUE(db_.write(batch).ok());
  const Snapshot after = db_.snapshot();
  EXPECT_EQ(after.sequence() - before.sequence(), 5U);
  ASSERT_TRUE(a.remove("key").ok() && b.put("key", "2").ok());
  for (const bool is_flushed : {false, true}) {
    ASSERT_TRUE(!is_flushed || (a.compact().ok() && b.compact().ok()));
    EXPECT_EQ(value_in(a, "key", &before), "absent");
    EXPECT_EQ(value_in(b, "key", &before), "absent");
    EXPECT_EQ(value_in(a, "key", &after), "last");
    EXPECT_EQ(value_in(b, "key", &after), "1");
    EXPECT_EQ(value_in(a, "key"), "absent");
    EXPECT_EQ(value_in(b, "key"), "2");
  }
}

TEST_F(KeyspaceApi, ABatchOfAnotherStoresKeyspaceIsRefused) {
  Result<DB> other = DB::open("/other", {}, environment());
  Keyspace theirs = *other->keyspace("a");
  Keyspace ours = make("a");
  Batch batch;
  batch.put(theirs, "key", "value");
  EXPECT_EQ(db_.write(batch).code(), kInvalid);
  batch.put(ours, "key", "value");
  EXPECT_EQ(batch.status().code(), kInvalid) << "keyspaces of two stores";
  Batch of_none;
  of_none.put(Keyspace(), "key", "value");
  EXPECT_EQ(db_.write(of_none).code(), kClosed);
  EXPECT_EQ(db_.stats().sequence, 0U);
}

/// The second store may be where the first one was in memory.
TEST_F(KeyspaceApi, ABatchOfAStoreThatWasClosedIsRefusedByTheNextOne) {
  for (int i = 0; i < 20; ++i) {
    Batch batch;
    batch.put(make("a"), "key", "value");
    open();
    EXPECT_EQ(db_.write(batch).code(), kInvalid);
  }
}

TEST_F(KeyspaceApi, Rule35_ADroppedKeyspaceIsSeenByOlderSnapshotsAlone) {
  Keyspace dropped = make("a");
  ASSERT_TRUE(dropped.put("key", "in a table").ok() && db_.flush().ok() && dropped.put("other", "in memory").ok());
  std::optional<Snapshot> before = db_.snapshot();
  ASSERT_TRUE(db_.put("something", "else").ok());
  ASSERT_EQ(tables_on_disk(), 1U);
  ASSERT_TRUE(db_.drop_keyspace("a").ok());
  EXPECT_EQ(db_.drop_keyspace("a").code(), kInvalid) << "there is none any more";
  expect_all(all_answers(dropped), kInvalid);
  expect_all(all_answers(dropped, &*before), StatusCode::kOk);
  Keyspace next = make("a");
  EXPECT_GT(next.id(), dropped.id());
  EXPECT_EQ(value_in(next, "key"), "absent");
  ASSERT_TRUE(next.put("key", "of the next one").ok());
  EXPECT_EQ(value_in(dropped, "key", &*before), "in a table");
  EXPECT_EQ(value_in(dropped, "other", &*before), "in memory");
  EXPECT_EQ(value_in(next, "key", &*before), "absent");
  expect_all(all_answers(dropped), kInvalid);
  ASSERT_TRUE(db_.wait_idle().ok());
  EXPECT_EQ(tables_on_disk(), 1U) << "the snapshot needs it";
  before.reset();
  ASSERT_TRUE(db_.wait_idle().ok());
  EXPECT_EQ(tables_on_disk(), 0U);
  EXPECT_EQ(value_in(next, "key"), "of the next one");
}

/// Its sequence may be that of the drop, and what it would read may be gone.
TEST_F(KeyspaceApi, Rule35_ASnapshotFromAfterTheDropSeesNothingOfIt) {
  Keyspace dropped = make("a");
  ASSERT_TRUE(dropped.put("key", "value").ok());
  ASSERT_TRUE(db_.drop_keyspace("a").ok());
  const Snapshot after = db_.snapshot();
  expect_all(all_answers(dropped, &after), kInvalid);
}

TEST_F(KeyspaceApi, Rule35_AnIteratorKeepsTheFilesOfADroppedKeyspace) {
  Keyspace dropped = make("a");
  ASSERT_TRUE(dropped.put("key", "value").ok() && db_.flush().ok());
  std::optional<Iterator> it = dropped.scan();
  ASSERT_TRUE(db_.drop_keyspace("a").ok());
  ASSERT_TRUE(db_.wait_idle().ok());
  EXPECT_EQ(tables_on_disk(), 1U);
  it->seek_to_first();
  ASSERT_TRUE(it->valid());
  EXPECT_EQ(it->value(), "value");
  it.reset();
  ASSERT_TRUE(db_.wait_idle().ok());
  EXPECT_EQ(tables_on_disk(), 0U);
}

TEST_F(KeyspaceApi, WhatIsDroppedStaysDropped) {
  ASSERT_TRUE(make("a").put("key", "value").ok() && make("b").put("key", "value").ok());
  ASSERT_TRUE(db_.flush().ok() && db_.drop_keyspace("a").ok());
  open();
  EXPECT_EQ(db_.keyspaces().size(), 2U);
  EXPECT_EQ(value_in(make("a"), "key"), "absent");
  EXPECT_EQ(value_in(make("b"), "key"), "value");
  EXPECT_EQ(tables_on_disk(), 1U);
  EXPECT_EQ(db_.drop_keyspace("c").code(), kInvalid);
}

/// The writers form groups. One member's dropped keyspace is not the group's.
TEST_F(KeyspaceApi, ABatchForADroppedKeyspaceFailsAlone) {
  Keyspace dropped = make("a");
  Keyspace other = make("b");
  ASSERT_TRUE(db_.drop_keyspace("a").ok());
  constexpr int kThreads = 6;
  constexpr int kWrites = 200;
  std::vector<std::thread> writers;
  std::vector<int> wrong(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    writers.emplace_back([&, t] {
      for (int i = 0; i < kWrites; ++i) {
        Batch batch;
        batch.put(t % 2 == 0 ? dropped : other, fmt::format("{} {}", t, i), "value");
        batch.put(other, fmt::format("{} {} too", t, i), "value");
        wrong[static_cast<std::size_t>(t)] +=
            db_.write(batch).code() == (t % 2 == 0 ? kInvalid : StatusCode::kOk) ? 0 : 1;
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(std::ranges::count(wrong, 0), kThreads);
  std::size_t found = 0;
  for (Iterator it = other.scan(); it.valid(); it.next()) ++found;
  EXPECT_EQ(found, 2U * (kThreads / 2) * kWrites);
}

TEST_F(KeyspaceApi, AReadOnlyStoreOpensThemAndMakesNone) {
  ASSERT_TRUE(make("a").put("key", "value").ok() && make("b").put("key", "value").ok() && db_.drop_keyspace("b").ok());
  Options options;
  options.read_only = true;
  for (const bool is_closed : {false, true}) {
    if (is_closed) {
      open();
      ASSERT_TRUE(db_.flush().ok());
    }
    open(options);
    Keyspace a = make("a");
    EXPECT_EQ(value_in(a, "key"), "value");
    EXPECT_EQ(a.put("key", "other").code(), StatusCode::kNotSupported);
    EXPECT_EQ(db_.keyspace("b").status().code(), kInvalid);
    EXPECT_EQ(db_.drop_keyspace("a").code(), StatusCode::kNotSupported);
    EXPECT_EQ(db_.keyspaces().size(), 2U);
  }
}

TEST_F(KeyspaceApi, AHandleOutlivesItsStoreAndIsClosed) {
  Keyspace a = make("a");
  Keyspace of_default = make("default");
  ASSERT_TRUE(a.put("key", "value").ok());
  EXPECT_TRUE(db_.close().ok()) << "a Keyspace does not keep a store open";
  expect_all(all_answers(a), kClosed);
  db_ = DB();
  expect_all(all_answers(a), kClosed);
  expect_all(all_answers(of_default), kClosed);
  EXPECT_EQ(a.name(), "a");
  open();
  expect_all(all_answers(a), kClosed);
  EXPECT_EQ(value_in(make("a"), "key"), "value");
}

TEST_F(KeyspaceApi, ASnapshotOfAnotherStoreIsRefused) {
  Result<DB> other = DB::open("/other", {}, environment());
  const Snapshot theirs = other->snapshot();
  Keyspace a = make("a");
  expect_all(all_answers(a, &theirs), kInvalid);
}

TEST_F(KeyspaceApi, CountersDoNotForgetADroppedKeyspace) {
  Keyspace a = make("a");
  ASSERT_TRUE(a.put("key", "value").ok());
  EXPECT_EQ(value_in(a, "key"), "value");
  EXPECT_EQ(value_in(a, "none"), "absent");
  for (const bool is_dropped : {false, true}) {
    ASSERT_TRUE(!is_dropped || db_.drop_keyspace("a").ok());
    EXPECT_EQ(db_.stats().gets, 2U);
    EXPECT_EQ(db_.stats().gets_found, 1U);
    EXPECT_EQ(db_.stats().memtable_hits, 1U);
  }
}

TEST_F(KeyspaceApi, TheListSaysWhatEachHolds) {
  Keyspace a = make("a");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(a.put(fmt::format("{}", i), "value").ok());
  ASSERT_TRUE(db_.flush().ok() && a.remove("3").ok() && db_.put("key", "value").ok());
  const std::vector<KeyspaceInfo> infos = db_.keyspaces();
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[0].entries, 1U);
  EXPECT_EQ(infos[0].tables, 0U);
  EXPECT_EQ(infos[1].entries, 11U);
  EXPECT_EQ(infos[1].tables, 1U);
  EXPECT_GT(infos[1].bytes_on_disk, 100U);
  EXPECT_GT(infos[1].memtable_bytes, 0U);
}

TEST_F(KeyspaceApi, P8_AKeyspaceThatIsNotWrittenTakesNoMemtable) {
  const std::uint64_t before = db_.stats().memory.memtables;
  for (int i = 0; i < 20; ++i) (void)make(fmt::format("idle {}", i));
  EXPECT_EQ(db_.stats().memory.memtables, before);
  EXPECT_EQ(db_.keyspaces()[1].memtable_bytes, 0U);
  ASSERT_TRUE(make("written").put("key", "value").ok());
  EXPECT_GT(db_.stats().memory.memtables, before);
}

}  // namespace
}  // namespace tamis::test
