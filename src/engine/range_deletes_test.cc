// Range deletes, through the whole store: rules 25, 26 and 27.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "io/file_names.h"
#include "io/memory_file_system.h"
#include "support/counting_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "support/open_db.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using Model = std::map<std::string, std::string>;

std::string key(int i) { return fmt::format("{:06}", i); }

Options small_store(std::string compaction = "leveled") {
  Options options{.memory_bytes = 4 << 20, .memtable_bytes = 256 << 10, .table_bytes = 64 << 10};
  options.compaction = std::move(compaction);
  return options;
}

Model contents(const DB& db, const ScanOptions& options = {}) {
  Model all;
  Iterator at = db.scan(options);
  for (; at.valid(); at.next()) all.emplace(at.key(), at.value());
  EXPECT_TRUE(at.status().ok()) << at.status().to_text();
  return all;
}

/// Every way to read a key gives the same answer.
void expect_value(const DB& db, std::string_view key, const std::optional<std::string>& value,
                  const Snapshot* snapshot = nullptr) {
  const ReadOptions options{.snapshot = snapshot};
  EXPECT_EQ(*db.get(key, options), value) << key;
  EXPECT_EQ(*db.exists(key, options), value.has_value()) << key;
  const auto pinned = *db.get_pinned(key, options);
  EXPECT_EQ(pinned.has_value(), value.has_value()) << key;
  EXPECT_TRUE(!pinned || !value || pinned->view() == *value);
  const std::vector<std::string_view> keys = {key};
  EXPECT_EQ(*db.multi_get(keys, options).front(), value) << key;
  const Explanation explanation = *db.explain(key, options);
  EXPECT_EQ(explanation.value, value) << key;
  Iterator at = db.scan({.snapshot = snapshot});
  at.seek(key);
  EXPECT_EQ(at.valid() && at.key() == key, value.has_value()) << key;
  Iterator back = db.scan({.reverse = true, .snapshot = snapshot});
  back.seek(key);
  EXPECT_EQ(back.valid() && back.key() == key, value.has_value()) << key;
}

void flush(DB& db) { ASSERT_TRUE(db.flush().ok()); }

TEST(RangeDeletes, HideWhatWasWrittenBeforeAndNothingElse) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  for (const bool flushes : {false, true}) {
    for (const char* k : {"a", "b", "c", "d"}) ASSERT_TRUE(db.put(k, "old").ok());
    if (flushes) flush(db);
    ASSERT_TRUE(db.remove_range("b", "d").ok());
    if (flushes) flush(db);
    expect_value(db, "a", "old");
    expect_value(db, "b", std::nullopt);
    expect_value(db, "c", std::nullopt);
    expect_value(db, "d", "old");
    ASSERT_TRUE(db.put("c", "new").ok());
    expect_value(db, "c", "new");
    EXPECT_EQ(contents(db), (Model{{"a", "old"}, {"c", "new"}, {"d", "old"}}));
    if (flushes) flush(db);
    expect_value(db, "c", "new");
  }
}

TEST(RangeDeletes, OfAnEmptyRangeWriteNothing) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  ASSERT_TRUE(db.put("b", "1").ok());
  const std::uint64_t before = db.snapshot().sequence();
  EXPECT_TRUE(db.remove_range("b", "b").ok());
  EXPECT_TRUE(db.remove_range("c", "a").ok());
  EXPECT_TRUE(db.remove_range("", "").ok());
  EXPECT_EQ(db.snapshot().sequence(), before);
  expect_value(db, "b", "1");
}

TEST(RangeDeletes, WithoutAnEndReachTheLastKey) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  const std::string last(1000, '\xff');
  for (const std::string& k : {std::string("a"), std::string("m"), last}) ASSERT_TRUE(db.put(k, "1").ok());
  ASSERT_TRUE(db.remove_range("b", std::nullopt).ok());
  EXPECT_EQ(contents(db), (Model{{"a", "1"}}));
  flush(db);
  EXPECT_EQ(contents(db), (Model{{"a", "1"}}));
  ASSERT_TRUE(db.close().ok());
  db = test::open_db(files, small_store());
  EXPECT_EQ(contents(db), (Model{{"a", "1"}}));
  ASSERT_TRUE(db.remove_range("", std::nullopt).ok());
  EXPECT_EQ(contents(db), Model());
}

TEST(RangeDeletes, InABatchCoverWhatTheBatchHasPutBefore) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  Keyspace users = *db.keyspace("users");
  ASSERT_TRUE(users.put("a", "other").ok());
  Batch batch;
  batch.put("a", "1");
  batch.remove_range("a", "c");
  batch.put("b", "2");
  batch.remove_range(users, "a", std::nullopt);
  std::string kinds;
  for (const Batch::Operation& change : batch) {
    kinds += change.kind == Batch::Operation::Kind::kRemoveRange ? fmt::format("[{},{})", change.key, change.value)
                                                                 : std::string(change.key);
  }
  EXPECT_EQ(kinds, "a[a,c)b[a,)");
  ASSERT_TRUE(db.write(batch).ok());
  EXPECT_EQ(contents(db), (Model{{"b", "2"}}));
  EXPECT_EQ(*users.get("a"), std::nullopt);
  batch.clear();
  batch.remove_range("a", std::string(Batch::kMaxKeyBytes + 1, 'k'));
  EXPECT_EQ(batch.status().code(), StatusCode::kInvalidArgument);
}

TEST(RangeDeletes, OfALargeCommitAreInOrder) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  ASSERT_TRUE(db.put(key(7), "before").ok());
  Batch batch;
  Model model;
  for (int i = 0; i < 3000; ++i) {
    if (i % 1000 == 500) {
      batch.remove_range(key(0), key(400));
      model.erase(model.begin(), model.lower_bound(key(400)));
    }
    const std::string value = fmt::format("{:1000}", i);
    batch.put(key(i % 700), value);
    model[key(i % 700)] = value;
  }
  ASSERT_GT(batch.byte_size(), (4U << 20) / 4);
  ASSERT_TRUE(db.write(batch).ok());
  EXPECT_EQ(contents(db), model);
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(contents(db), model);
  ASSERT_TRUE(db.close().ok());
  db = test::open_db(files, small_store());
  EXPECT_EQ(contents(db), model);
}

/// Snapshots before, between and after, through flushes and compactions.
TEST(RangeDeletes, LeaveSnapshotsWhatTheySaw) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  std::vector<Snapshot> snapshots;
  std::vector<Model> models;
  Model model;
  std::mt19937 random(1);
  const auto keep = [&] {
    snapshots.push_back(db.snapshot());
    models.push_back(model);
  };
  for (int round = 0; round < 12; ++round) {
    for (int i = 0; i < 40; ++i) {
      const std::string k = key(static_cast<int>(random() % 100));
      model[k] = std::to_string(random());
      ASSERT_TRUE(db.put(k, model[k]).ok());
    }
    keep();
    int from = static_cast<int>(random() % 100);
    int to = from + static_cast<int>(random() % 60);
    ASSERT_TRUE(db.remove_range(key(from), key(to)).ok());
    model.erase(model.lower_bound(key(from)), model.lower_bound(key(to)));
    keep();
    if (round % 3 == 0) flush(db);
    ASSERT_TRUE(round % 5 != 4 || db.compact().ok());
    for (std::size_t i = 0; i < snapshots.size(); ++i) {
      ASSERT_EQ(contents(db, {.snapshot = &snapshots[i]}), models[i]) << round << ' ' << i;
    }
    if (round % 4 == 3) {
      snapshots.erase(snapshots.begin() + 1);
      models.erase(models.begin() + 1);
    }
  }
  snapshots.clear();
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(contents(db), model);
}

/// A table's bounds have to include what its range deletes cover: put k is newer than the delete, and must not become
/// older by a compaction that goes past it.
TEST(Rule25, APutAboveARangeDeleteIsNotHiddenByItAfterCompactions) {
  for (const char* compaction : {"leveled", "tiered", "lazy"}) {
    MemoryFileSystem files;
    DB db = test::open_db(files, small_store(compaction));
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(db.put(key(i), std::string(500, 'o')).ok());
    flush(db);
    ASSERT_TRUE(db.compact().ok());
    std::optional<Snapshot> keeps_old = db.snapshot();
    ASSERT_TRUE(db.put(key(1), "point").ok());
    ASSERT_TRUE(db.remove_range(key(0), key(1000)).ok());
    flush(db);
    ASSERT_TRUE(db.put(key(500), "new").ok());
    flush(db);
    ASSERT_TRUE(db.compact({.from = key(400), .to = key(600)}).ok());
    expect_value(db, key(500), "new");
    ASSERT_TRUE(db.compact().ok());
    expect_value(db, key(500), "new");
    expect_value(db, key(100), std::nullopt);
    expect_value(db, key(100), std::string(500, 'o'), &*keeps_old);
    keeps_old.reset();
    ASSERT_TRUE(db.close().ok());
    db = test::open_db(files, small_store(compaction));
    EXPECT_EQ(contents(db), (Model{{key(500), "new"}}));
  }
}

TEST(Rule25, ARangeDeleteStaysWhileAnOlderRunOverlapsIt) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store("manual"));
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(db.put(key(i), "old").ok());
  flush(db);
  const Snapshot before = db.snapshot();
  ASSERT_TRUE(db.remove_range(key(100), key(300)).ok());
  flush(db);
  ASSERT_TRUE(db.put(key(350), "newer").ok());
  flush(db);
  for (int i = 0; i < 3; ++i) {
    expect_value(db, key(200), std::nullopt);
    expect_value(db, key(200), "old", &before);
    expect_value(db, key(350), "newer");
    ASSERT_TRUE(db.compact({.from = key(340), .to = key(360)}).ok());
  }
}

/// No filter, prefix filter or run index knows of the keys that a range delete covers.
TEST(Rule26, NothingSkipsARangeDelete) {
  MemoryFileSystem files;
  Options options = small_store("tiered");
  options.prefix_rule = {PrefixRule::Kind::kFirst, 4};
  DB db = test::open_db(files, options);
  for (int run = 0; run < 8; ++run) {  // Enough for a run index.
    for (int i = run; i < 800; i += 8) ASSERT_TRUE(db.put(key(i), "old").ok());
    flush(db);
  }
  ASSERT_TRUE(db.put("zzz", "far from the range").ok());
  ASSERT_TRUE(db.remove_range(key(100), key(700)).ok());
  flush(db);
  ASSERT_TRUE(db.wait_idle().ok());
  for (int i = 0; i < 800; i += 7) {
    const bool is_deleted = i >= 100 && i < 700;
    expect_value(db, key(i), is_deleted ? std::nullopt : std::optional<std::string>("old"));
  }
  EXPECT_EQ(contents(db, {.prefix = "0001"}), Model());
  EXPECT_EQ(contents(db, {.prefix = "0000"}).size(), 100U);
  EXPECT_EQ(contents(db, {.prefix = "0007"}).size(), 100U);
}

/// The newest table with this many entries or fewer.
std::string path_of_newest_table(FileSystem& files) {
  std::string newest;
  for (const std::string& name : test::names_in(files, "/store")) {
    const std::optional<FileName> parsed = parse_file_name(name);
    if (parsed && parsed->kind == FileKind::kTable) newest = std::max(newest, "/store/" + name);
  }
  return newest;
}

/// Each byte of a table with range deletes is changed. A store says that it is damaged, or gives the right answer.
TEST(Rule26, DamagedRangeDeletesAreAnErrorAndNeverNone) {
  MemoryFileSystem files;
  {
    DB db = test::open_db(files, small_store("manual"));
    for (const char* k : {"a", "m", "z"}) ASSERT_TRUE(db.put(k, "old").ok());
    flush(db);
    ASSERT_TRUE(db.put("b", "new").ok());
    ASSERT_TRUE(db.remove_range("g", "p").ok());
    flush(db);
    ASSERT_TRUE(db.close().ok());
  }
  const std::string path = path_of_newest_table(files);
  const std::string whole = *read_whole_file(files, path);
  int refusals = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    test::put_file(files, path, damaged);
    const Result<DB> db = DB::open("/store", {.read_only = true}, {.files = &files, .runs_in_background = false});
    if (!db.ok()) continue;
    const auto found = db->get("m");
    ASSERT_TRUE(!found.ok() || !*found) << at;
    const std::vector<std::string_view> keys = {"m"};
    const auto many = db->multi_get(keys);
    ASSERT_TRUE(!many.front().ok() || !*many.front()) << at;
    const auto pinned = db->get_pinned("m");
    ASSERT_TRUE(!pinned.ok() || !*pinned) << at;
    for (const bool reverse : {false, true}) {
      Iterator scan = db->scan({.reverse = reverse});
      for (; scan.valid(); scan.advance()) ASSERT_NE(scan.key(), "m") << at;
      ASSERT_EQ(found.ok() || scan.status().code() == StatusCode::kCorruption, true) << at;
    }
    refusals += found.ok() ? 0 : 1;
    EXPECT_TRUE(found.ok() || found.status().code() == StatusCode::kCorruption) << found.status().to_text();
    EXPECT_EQ(*db->get("z"), "old");  // Outside of the extent.
  }
  EXPECT_GT(refusals, 20);
}

/// An opening of which a read fails leaves the store readable. Every way to read is the first one once.
TEST(Rule26, RangeDeletesThatCouldNotBeReadAreReadAgain) {
  MemoryFileSystem files;
  {
    DB db = test::open_db(files, small_store("manual"));
    for (const char* k : {"a", "m", "z"}) ASSERT_TRUE(db.put(k, "old").ok());
    flush(db);
    ASSERT_TRUE(db.remove_range("g", "p").ok());
    flush(db);
    ASSERT_TRUE(db.close().ok());
  }
  const auto answers = std::to_array<bool (*)(const DB&)>({
      [](const DB& db) { return !*db.get("m"); },
      [](const DB& db) { return !*db.exists("m"); },
      [](const DB& db) { return !*db.get_pinned("m"); },
      [](const DB& db) { return !*db.multi_get(std::vector<std::string_view>{"m"}).front(); },
      [](const DB& db) { return !db.explain("m")->found; },
      [](const DB& db) {
        return contents(db) == Model{{"a", "old"}, {"z", "old"}};
      },
  });
  int opened = 0;
  for (const auto answers_rightly : answers) {
    for (std::uint64_t call = 1;; ++call) {
      FaultyFileSystem faulty(files, {FaultKind::kIoError, call});
      const Result<DB> db = DB::open("/store", {.read_only = true}, {.files = &faulty, .runs_in_background = false});
      if (faulty.fired() == 0) break;
      if (!db.ok()) continue;
      ++opened;
      EXPECT_TRUE(answers_rightly(*db)) << call;
    }
  }
  EXPECT_GE(opened, 6);
}

/// A store of several tables in the last level, all keys deleted but a few at both ends.
class Rule27 : public testing::Test {
 protected:
  static constexpr int kKeys = 4000;

  void load() {
    for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(db.put(key(i), fmt::format("{:200}", i)).ok());
    ASSERT_TRUE(db.compact().ok());
    ASSERT_GE(test::live_tables(db), 8U);
  }
  [[nodiscard]] std::uint64_t bytes() const {
    std::uint64_t total = 0;
    for (const Stats::Level& level : db.stats().levels) total += level.bytes;
    return total;
  }

  MemoryFileSystem disk;
  test::CountingFileSystem files{disk};
  DB db = test::open_db({.files = &files, .random_seed = 1, .runs_in_background = false}, small_store());
};

TEST_F(Rule27, TablesThatAreCoveredWholeGoUnread) {
  load();
  const std::uint64_t before = bytes();
  ASSERT_TRUE(db.remove_range("x", "y").ok());  // The first one begins a journal.
  const std::uint64_t written = db.stats().bytes_written;
  ASSERT_TRUE(db.remove_range(key(200), key(kKeys - 200)).ok());
  EXPECT_LT(db.stats().bytes_written - written, 200U);
  flush(db);
  const std::uint64_t reads = files.reads();
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_LT(files.reads() - reads, 20U);
  EXPECT_LT(bytes(), before / 4);
  EXPECT_EQ(test::tables_on_disk(disk), test::live_tables(db));
  EXPECT_EQ(contents(db).size(), 400U);
}

/// Of the tables with removed keys, and of a run with larger ones, which a scan from the first key does not come to.
TEST_F(Rule27, ASeekAcrossThemOpensOneTable) {
  load();
  for (int i = kKeys; i < kKeys + 500; ++i) ASSERT_TRUE(db.put(key(i), fmt::format("{:200}", i)).ok());
  flush(db);
  ASSERT_TRUE(db.remove_range(key(0), key(kKeys - 200)).ok());
  const std::uint64_t reads = files.reads();
  const Iterator at = db.scan();
  ASSERT_TRUE(at.valid());
  EXPECT_EQ(at.key(), key(kKeys - 200));
  EXPECT_LE(files.reads() - reads, 4U) << "properties, range deletes, index and block";
}

TEST_F(Rule27, ASnapshotThatSeesThemKeepsThem) {
  load();
  const std::uint64_t before = bytes();
  std::optional<Snapshot> sees = db.snapshot();
  ASSERT_TRUE(db.remove_range("", std::nullopt).ok());
  flush(db);
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_GE(bytes(), before);
  EXPECT_EQ(contents(db, {.snapshot = &*sees}).size(), std::size_t{kKeys});
  EXPECT_EQ(contents(db).size(), 0U);
  sees.reset();
  ASSERT_TRUE(db.compact().ok());
  EXPECT_LT(bytes(), before / 100);
}

TEST_F(Rule27, ATableWithANewerEntryStays) {
  load();
  ASSERT_TRUE(db.remove_range("", std::nullopt).ok());
  ASSERT_TRUE(db.put(key(2000), "newer").ok());
  flush(db);
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_EQ(contents(db), (Model{{key(2000), "newer"}}));
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(contents(db), (Model{{key(2000), "newer"}}));
}

/// What the removed tables deleted stays deleted: the range delete stays until nothing older is beneath it.
TEST_F(Rule27, DeletesInARemovedTableAreNotMissed) {
  load();
  for (int i = 1000; i < 3000; ++i) ASSERT_TRUE(db.remove(key(i)).ok());
  ASSERT_TRUE(db.remove_range(key(1500), key(1600)).ok());
  flush(db);
  ASSERT_TRUE(db.remove_range(key(900), key(3100)).ok());
  flush(db);
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_EQ(contents(db).size(), std::size_t{kKeys - 2200});
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(contents(db).size(), std::size_t{kKeys - 2200});
}

/// A seek over a deleted range reads about as little as one in a store that never held it.
TEST_F(Rule27, ASeekOverADeletedRangeReadsFewBlocks) {
  load();
  const auto reads_of_seek = [&](std::string_view from, std::string_view first, bool reverse) {
    Iterator at = db.scan({.reverse = reverse, .fills_cache = false});
    const std::uint64_t before = files.reads();
    at.seek(from);
    EXPECT_TRUE(at.valid() && at.key() == first) << at.status().to_text();
    return files.reads() - before;
  };
  const std::uint64_t plain = reads_of_seek(key(3800), key(3800), false);
  ASSERT_TRUE(db.remove_range(key(200), key(3800)).ok());
  EXPECT_LE(reads_of_seek(key(200), key(3800), false), 2 * plain + 4);
  EXPECT_LE(reads_of_seek(key(3799), key(199), true), 2 * plain + 4);
  flush(db);
  ASSERT_TRUE(db.wait_idle().ok());
  EXPECT_LE(reads_of_seek(key(200), key(3800), false), 2 * plain + 4);
  EXPECT_LE(reads_of_seek(key(3799), key(199), true), 2 * plain + 4);
}

TEST(RangeDeletes, AreExplained) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  ASSERT_TRUE(db.put("b", "1").ok());
  ASSERT_TRUE(db.remove_range("a", "c").ok());
  const Explanation explanation = *db.explain("b");
  EXPECT_FALSE(explanation.found);
  EXPECT_EQ(explanation.steps.back().where, "range delete");
  EXPECT_EQ(explanation.steps.back().outcome, "hides it");
}

TEST(RangeDeletes, AreInCheckpointsAndVerified) {
  MemoryFileSystem files;
  DB db = test::open_db(files, small_store());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(db.put(key(i), "1").ok());
  flush(db);
  ASSERT_TRUE(db.remove_range(key(10), key(90)).ok());
  ASSERT_TRUE(db.checkpoint("/copy").ok());
  const auto report = db.verify();
  ASSERT_TRUE(report.ok());
  EXPECT_TRUE(report->problems.empty());
  Result<DB> copy = DB::open("/copy", small_store(), {.files = &files, .runs_in_background = false});
  ASSERT_TRUE(copy.ok()) << copy.status().to_text();
  EXPECT_EQ(contents(*copy).size(), 20U);
}

}  // namespace
}  // namespace tamis
