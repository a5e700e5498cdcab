// Values apart together with expiry, range deletes, transactions, a full disk (rule 41).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

#include "base/random.h"
#include "support/repair_world.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;
using test::Contents;
using test::RepairWorld;
using test::small_options;

constexpr std::uint64_t kMinute = 60'000;

std::string key_of(int i) { return fmt::format("key{:04}", i); }

std::string large(int i, std::size_t bytes = 400) {
  std::string value = fmt::format("value {} ", i);
  SplitMix64 random(static_cast<std::uint64_t>(i));
  while (value.size() < bytes) value += static_cast<char>('a' + random.below(26));
  return value;
}

Options apart_options(std::uint64_t value_bytes_apart = 100) {
  Options options = small_options();
  options.value_bytes_apart = value_bytes_apart;
  return options;
}

/// A store whose clock the test moves.
class TimedStore {
 public:
  explicit TimedStore(const Options& options = apart_options()) {
    Environment environment = world.environment();
    environment.unix_milliseconds = [this] { return 1'700'000'000'000 + passed; };
    environment.uptime_milliseconds = [this] { return 1000 + passed; };
    db = *DB::open("/store", options, environment);
  }
  void put(int i, const std::string& value, std::chrono::milliseconds expires_in = 0ms) {
    ASSERT_TRUE(db.put(key_of(i), value, {.expires_in = expires_in}).ok());
  }
  [[nodiscard]] std::uint64_t value_files() { return world.numbers(FileKind::kValues).size(); }
  [[nodiscard]] Contents all(const Snapshot* snapshot = nullptr) {
    Contents forwards;
    Contents backwards;
    Iterator at = db.scan({.snapshot = snapshot});
    for (; at.valid(); at.next()) forwards.emplace(at.key(), at.value());
    EXPECT_TRUE(at.status().ok()) << at.status().to_text();
    for (at.seek_to_last(); at.valid(); at.previous()) backwards.emplace(at.key(), at.value());
    EXPECT_TRUE(forwards == backwards);
    for (const auto& [key, value] : forwards) {
      EXPECT_EQ(db.get(key, {.snapshot = snapshot})->value_or("-"), value) << key;
      EXPECT_EQ(std::string((*db.get_pinned(key, {.snapshot = snapshot}))->view()), value) << key;
      const std::vector<std::string_view> keys = {key, "nothing"};
      EXPECT_EQ(db.multi_get(keys, {.snapshot = snapshot})[0]->value_or("-"), value) << key;
    }
    return forwards;
  }

  RepairWorld world;
  std::uint64_t passed = 0;
  DB db;
};

/// Kind 25 holds the due time and the pointer: all of the time's rules hold for it.
TEST(ValuesApartMixed, Rule41_Rule28_ThoseThatExpireAreHiddenOnTimeAndKeepTheirTime) {
  for (const bool compacts : {false, true}) {
    TimedStore store;
    store.put(1, large(1));
    store.put(2, large(2), 10min);
    store.put(3, "small", 10min);
    ASSERT_TRUE((compacts ? store.db.compact() : store.db.flush()).ok());
    EXPECT_EQ(store.db.stats().values.values, 2U);
    EXPECT_EQ(store.db.stats().expiry.entries, 2U);
    store.passed = 10 * kMinute - 1;
    EXPECT_EQ(store.all(), (Contents{{key_of(1), large(1)}, {key_of(2), large(2)}, {key_of(3), "small"}}));
    Iterator at = store.db.scan({.from = key_of(2)});
    ASSERT_TRUE(at.valid());
    const std::optional<ExpiryTime> due = at.expires_at();
    ASSERT_TRUE(due.has_value());
    EXPECT_EQ(due->time_since_epoch(), std::chrono::milliseconds(1'700'000'000'000) + 10min);
    at.next();
    at.previous();
    EXPECT_EQ(at.expires_at(), due) << "backwards";
    at = Iterator();
    const Snapshot before = store.db.snapshot();
    store.passed = 10 * kMinute;
    EXPECT_EQ(store.all(), (Contents{{key_of(1), large(1)}}));
    EXPECT_FALSE(*store.db.exists(key_of(2)));
    EXPECT_EQ(store.db.explain(key_of(2))->steps.back().outcome, "expired") << "and no value file is read";
    EXPECT_EQ(store.all(&before).size(), 3U);
    EXPECT_TRUE(store.db.verify()->ok());
  }
}

/// A table that has expired whole goes unread, and its value file with it.
TEST(ValuesApartMixed, Rule41_Rule28_ATableThatExpiresTakesItsValueFileAlong) {
  TimedStore store;
  for (int i = 0; i < 50; ++i) store.put(i, large(i), 1min);
  ASSERT_TRUE(store.db.flush().ok());
  for (int i = 50; i < 52; ++i) store.put(i, large(i));  // So few that the two tables are not merged.
  ASSERT_TRUE(store.db.flush().ok());
  EXPECT_EQ(store.value_files(), 2U);
  // Without its values, the table could not be read.
  const std::uint64_t expired = store.world.numbers(FileKind::kValues).front();
  store.passed = kMinute;
  ASSERT_TRUE(store.db.wait_idle().ok());
  EXPECT_EQ(store.db.stats().expiry.tables_dropped, 1U);
  ASSERT_EQ(store.value_files(), 1U);
  EXPECT_GT(store.world.numbers(FileKind::kValues).front(), expired);
  EXPECT_EQ(store.db.stats().values.values, 2U);
  EXPECT_EQ(store.all().size(), 2U);
}

/// A rewrite of values that expire keeps their kind: they are still hidden on time.
TEST(ValuesApartMixed, Rule41_CollectingGarbageKeepsTheDueTime) {
  TimedStore store;
  for (int i = 0; i < 200; ++i) store.put(i, large(i), 60min);
  ASSERT_TRUE(store.db.flush().ok());
  const std::uint64_t first = store.world.numbers(FileKind::kValues).front();
  for (int i = 0; i < 200; i += 2) store.put(i, large(i + 1000), 60min);
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  EXPECT_GT(store.world.numbers(FileKind::kValues).front(), first) << "the first file was rewritten";
  EXPECT_EQ(store.db.stats().expiry.entries, 200U);
  store.passed = 60 * kMinute - 1;
  EXPECT_EQ(store.all().size(), 200U);
  store.passed = 60 * kMinute;
  EXPECT_TRUE(store.all().empty());
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  EXPECT_EQ(store.value_files(), 0U);
}

/// Tables that a range delete covers go unread: what they point to is no longer live.
TEST(ValuesApartMixed, Rule41_Rule27_ARangeDeleteTakesValueFilesAlong) {
  TimedStore store;
  for (int i = 0; i < 100; ++i) store.put(i, large(i));
  ASSERT_TRUE(store.db.flush().ok());
  for (int i = 100; i < 200; ++i) store.put(i, large(i));
  ASSERT_TRUE(store.db.flush().ok());
  ASSERT_EQ(store.value_files(), 2U);
  {
    const Snapshot before = store.db.snapshot();
    ASSERT_TRUE(store.db.remove_range(key_of(0), key_of(100)).ok());
    ASSERT_TRUE(store.db.flush().ok() && store.db.wait_idle().ok());
    EXPECT_EQ(store.all().size(), 100U);
    EXPECT_EQ(store.all(&before).size(), 200U) << "the snapshot still needs the first file";
    EXPECT_EQ(store.db.explain(key_of(1))->steps.back().where, "range delete") << "and no value file is read";
  }
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  EXPECT_EQ(store.value_files(), 1U);
  EXPECT_EQ(store.db.stats().values.values, 100U);
  ASSERT_TRUE(store.db.remove_range(key_of(150), std::nullopt).ok());
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  EXPECT_EQ(store.db.stats().values.values, 50U);
  EXPECT_EQ(store.all().size(), 50U);
  EXPECT_TRUE(store.db.verify()->ok());
  ASSERT_TRUE(store.db.remove_range("", std::nullopt).ok());
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  EXPECT_EQ(store.value_files(), 0U);
}

TEST(ValuesApartMixed, KeyspacesWithDifferentThresholdsShareACommitAndARangeDelete) {
  TimedStore store(apart_options(0));
  Keyspace low = *store.db.keyspace("low", {.value_bytes_apart = 50});
  Keyspace high = *store.db.keyspace("high", {.value_bytes_apart = 300});
  for (int i = 0; i < 40; ++i) {
    Batch batch;
    for (const Keyspace* keyspace : {&low, &high}) batch.put(*keyspace, key_of(i), large(i, i % 2 == 0 ? 100 : 400));
    batch.put(key_of(i), large(i));
    ASSERT_TRUE(store.db.write(batch).ok());
  }
  ASSERT_TRUE(store.db.flush().ok());
  EXPECT_EQ(store.db.stats().values.values, 40U + 20U);
  EXPECT_EQ(store.value_files(), store.db.stats().values.files);
  ASSERT_TRUE(low.remove_range("", std::nullopt).ok());
  ASSERT_TRUE(low.compact().ok() && store.db.wait_idle().ok());
  EXPECT_EQ(store.db.stats().values.values, 20U);
  EXPECT_EQ(store.value_files(), store.db.stats().values.files);
  EXPECT_LE(store.db.stats().values.bytes, 20 * 400 + 64 * store.value_files())
      << "those of the other keyspace are gone";
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(*low.get(key_of(i)), std::nullopt);
    EXPECT_EQ(high.get(key_of(i))->value_or(""), large(i, i % 2 == 0 ? 100 : 400));
  }
  EXPECT_TRUE(store.db.verify()->ok());
}

/// A file that nothing opened yet stays on the disk while an iterator may read it.
TEST(ValuesApartMixed, Rule41_AFileIsRemovedOnlyWhenNoReaderHasItsVersion) {
  TimedStore store;
  store.put(0, "small");
  for (int i = 1; i < 40; ++i) store.put(i, large(i));
  ASSERT_TRUE(store.db.flush().ok());
  const std::uint64_t first = store.world.numbers(FileKind::kValues).front();
  const auto is_there = [&] { return store.world.files.file_size(value_file_path("/store", first))->has_value(); };
  Iterator at = store.db.scan();  // On the small value.
  for (int i = 1; i < 40; ++i) store.put(i, large(i + 1000));
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  EXPECT_TRUE(is_there());
  int seen = 0;
  for (; at.valid(); at.next()) EXPECT_EQ(at.value(), seen++ == 0 ? "small" : large(seen - 1));
  EXPECT_EQ(seen, 40) << at.status().to_text();
  at = Iterator();
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  store.put(1, "more");
  ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
  EXPECT_FALSE(is_there());
}

TEST(ValuesApartMixed, TransactionsReadThemAndConflictOverThem) {
  TimedStore store;
  for (int i = 0; i < 20; ++i) store.put(i, large(i));
  ASSERT_TRUE(store.db.flush().ok());
  Transaction tx = store.db.begin();
  EXPECT_EQ(tx.get(key_of(1))->value_or(""), large(1));
  ASSERT_TRUE(tx.put(key_of(2), large(1002)).ok());
  Contents seen;
  Iterator at = tx.scan();
  for (; at.valid(); at.next()) seen.emplace(at.key(), at.value());
  EXPECT_TRUE(at.status().ok());
  at = Iterator();
  EXPECT_EQ(seen.size(), 20U);
  EXPECT_EQ(seen.at(key_of(2)), large(1002)) << "its own write";
  EXPECT_EQ(seen.at(key_of(3)), large(3));
  store.put(1, large(1001));
  ASSERT_TRUE(store.db.flush().ok() && store.db.wait_idle().ok());
  EXPECT_EQ(tx.get(key_of(1))->value_or(""), large(1)) << "as of its begin";
  EXPECT_EQ(tx.commit().code(), StatusCode::kConflict);
  EXPECT_TRUE(*store.db.put_if(key_of(1), large(1001), large(2001)));
  EXPECT_FALSE(*store.db.put_if(key_of(1), large(1001), large(3001)));
  EXPECT_EQ(store.db.get(key_of(1))->value_or(""), large(2001));
}

/// A merge needs the value beneath its operands, wherever that is; the result goes apart if it is large.
TEST(ValuesApartMixed, Rule41_Rule31_OperandsAreFoldedOntoThem) {
  for (const int depth : {0, 1, 2}) {
    SCOPED_TRACE(depth);
    Options options = apart_options();
    options.merge_operator = "append";
    TimedStore store(options);
    Contents model;
    for (int i = 0; i < 20; ++i) {
      store.put(i, large(i));
      model[key_of(i)] = large(i);
    }
    ASSERT_TRUE(store.db.flush().ok());
    for (int i = 0; i < 20; i += 2) {
      const std::string operand = i % 4 == 0 ? "short" : large(i + 500);
      ASSERT_TRUE(store.db.merge(key_of(i), operand).ok());
      model[key_of(i)] += operand;
    }
    if (depth > 0) {
      ASSERT_TRUE((depth == 1 ? store.db.flush() : store.db.compact()).ok());
    }
    EXPECT_TRUE(store.all() == model);
    EXPECT_TRUE(store.db.verify()->ok());
    ASSERT_TRUE(store.db.compact().ok() && store.db.wait_idle().ok());
    EXPECT_TRUE(store.all() == model);
    EXPECT_EQ(store.value_files(), store.db.stats().values.files);
  }
}

/// Until the first large value nothing says that there are any: an older program can read the store.
TEST(ValuesApartMixed, Rule36_TheFeatureIsNamedFromTheFirstSuchValueOn) {
  TimedStore store;
  for (int i = 0; i < 10; ++i) store.put(i, "small");
  ASSERT_TRUE(store.db.flush().ok());
  for (int i = 5; i < 10; ++i) store.put(i, i < 8 ? "small again" : large(i));
  ASSERT_TRUE(store.db.flush().ok());
  std::string named;
  for (const std::uint64_t number : store.world.numbers(FileKind::kTable)) {
    const std::string path = table_path("/store", number);
    const TableFacts facts = read_properties(**store.world.files.open_readable(path), path)->facts;
    const bool names_it = facts.features.includes(Features::of(Feature::kValuesApart));
    named += fmt::format("{}+{} {}, ", facts.entries, facts.values_apart.size(), names_it);
  }
  EXPECT_EQ(named, "10+0 false, 3+0 false, 2+1 true, ");
  EXPECT_TRUE(store.db.verify()->ok());
  EXPECT_EQ(store.all().size(), 10U);
}

/// The flush fails as a whole and leaves nothing behind. With space again, it succeeds.
TEST(ValuesApartMixed, Rule41_AFullDiskCostsNothing) {
  std::uint64_t failed = 0;
  for (std::uint64_t spare = 0; spare < 60'000; spare += 3'000) {
    RepairWorld world;
    Contents model;
    DB db = world.open(apart_options());
    for (int i = 0; i < 100; ++i) {
      model[key_of(i)] = large(i);
      ASSERT_TRUE(db.put(key_of(i), large(i), {.sync = true}).ok());
    }
    std::uint64_t used = 0;
    for (const std::string& name : world.names()) used += world.files.file_size(world.path(name))->value_or(0);
    world.files.set_capacity(used + spare);
    const Status flushed = db.flush();
    if (!flushed.ok()) {
      ++failed;
      EXPECT_EQ(flushed.code(), StatusCode::kOutOfSpace) << flushed.to_text();
      EXPECT_TRUE(RepairWorld::contents(db) == model);
      // What was begun is removed, unless it is finished and the manifest may name it.
      EXPECT_EQ(world.numbers(FileKind::kValues).size(), world.numbers(FileKind::kTable).size());
    }
    world.files.set_capacity(~std::uint64_t{0});
    const Status retried = db.flush();
    ASSERT_TRUE(retried.ok()) << retried.to_text();
    EXPECT_TRUE(RepairWorld::contents(db) == model);
    ASSERT_TRUE(db.close().ok());
    DB again = world.open(apart_options());
    EXPECT_TRUE(RepairWorld::contents(again) == model);
    EXPECT_TRUE(again.verify()->ok());
    EXPECT_EQ(world.numbers(FileKind::kValues).size(), again.stats().values.files);
  }
  EXPECT_GT(failed, 3U);
}

}  // namespace
}  // namespace tamis
