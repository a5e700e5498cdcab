// Values that expire: what readers see, and what rewrites drop.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/memory_file_system.h"
#include "support/store_contents.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBegin = 1'700'000'000'000;
constexpr std::uint64_t kMinute = 60'000;
constexpr std::uint64_t kTenYears = 10ULL * 365 * 24 * 60 * kMinute;

/// A store on a machine whose clock and uptime the test moves.
class ExpiringStore {
 public:
  explicit ExpiringStore(Options options = {}) : options_(std::move(options)) { open(); }

  void open() {
    db.reset();
    const Environment environment{.files = &files,
                                  .random_seed = 1,
                                  .runs_in_background = false,
                                  .unix_milliseconds =
                                      [this] {
                                        ++clock_calls;
                                        return clock.load();
                                      },
                                  .uptime_milliseconds = [this] { return uptime.load(); }};
    Result<DB> opened = DB::open("/store", options_, environment);
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db.emplace(*std::move(opened));
  }
  void pass(std::uint64_t milliseconds) {
    clock += milliseconds;
    uptime += milliseconds;
  }
  void put(std::string_view key, std::string_view value, std::chrono::milliseconds expires_in = 0ms) {
    ASSERT_TRUE(db->put(key, value, {.expires_in = expires_in}).ok());
  }
  std::string get(std::string_view key, const Snapshot* snapshot = nullptr) {
    const ReadOptions options{.snapshot = snapshot};
    const Result<std::optional<std::string>> value = db->get(key, options);
    EXPECT_TRUE(value.ok()) << value.status().to_text();
    const std::string answer = value.ok() ? value->value_or("-") : "?";
    EXPECT_EQ(*db->exists(key, options), answer != "-");
    const Result<std::optional<PinnedValue>> pinned = db->get_pinned(key, options);
    EXPECT_EQ(pinned.ok() && pinned->has_value() ? std::string((*pinned)->view()) : "-", answer);
    const std::vector<std::string_view> keys = {"nothing", key};
    EXPECT_EQ(db->multi_get(keys, options)[1]->value_or("-"), answer);
    return answer;
  }
  std::string all(const Snapshot* snapshot = nullptr) { return test::contents_of(*db, snapshot); }
  void settle(int depth) { test::settle(*db, depth); }
  [[nodiscard]] std::uint64_t entries() const {
    std::uint64_t entries = 0;
    for (const KeyspaceInfo& keyspace : db->keyspaces()) entries += keyspace.entries;
    return entries;
  }

  MemoryFileSystem files;
  std::atomic<std::uint64_t> clock = kBegin;
  std::atomic<std::uint64_t> uptime = 1000;
  std::atomic<int> clock_calls = 0;
  std::optional<DB> db;

 private:
  Options options_;
};

TEST(Expiry, Rule28_AValueIsHiddenFromTheMillisecondOnInWhichItIsDueWhereverItLies) {
  for (const int depth : {0, 1, 2}) {
    SCOPED_TRACE(depth);
    ExpiringStore store;
    store.put("a", "stays");
    store.put("b", "old");
    store.put("b", "goes", 10min);
    store.put("c", "goes", 10min);
    store.settle(depth);
    store.pass(10 * kMinute - 1);
    EXPECT_EQ(store.get("b"), "goes");
    EXPECT_EQ(store.all(), "a=stays b=goes c=goes ");
    store.pass(1);
    EXPECT_EQ(store.get("b"), "-") << "and what is beneath it is not shown";
    EXPECT_EQ(store.get("c"), "-");
    EXPECT_EQ(store.all(), "a=stays ");
    store.open();
    EXPECT_EQ(store.get("b"), "-");
    EXPECT_EQ(store.all(), "a=stays ");
    ASSERT_TRUE(store.db->compact().ok());
    EXPECT_EQ(store.get("b"), "-");
    EXPECT_EQ(store.entries(), 1U);
  }
}

TEST(Expiry, AnotherPutOrADeleteReplacesTheTime) {
  for (const int depth : {0, 1, 2}) {
    SCOPED_TRACE(depth);
    ExpiringStore store;
    for (const char* key : {"a", "b", "c", "d"}) store.put(key, "first", 1min);
    store.settle(depth);
    store.put("a", "for ever");
    store.put("b", "longer", 10min);
    ASSERT_TRUE(store.db->remove("c").ok());
    store.settle(depth);
    EXPECT_EQ(store.all(), "a=for ever b=longer d=first ");
    store.pass(kMinute);
    EXPECT_EQ(store.all(), "a=for ever b=longer ");
    store.pass(10 * kMinute);
    EXPECT_EQ(store.all(), "a=for ever ");
  }
}

/// The value beneath has another level: the rewrite must leave something that hides it.
TEST(Expiry, Rule28_ARewriteThatDropsAnExpiredValueBringsNothingBack) {
  ExpiringStore store({.compaction = "manual"});
  store.put("k", "beneath");
  ASSERT_TRUE(store.db->compact().ok());
  store.put("k", "expires", 1min);
  store.pass(kMinute);
  ASSERT_TRUE(store.db->flush().ok());
  EXPECT_EQ(store.get("k"), "-");
  store.open();
  EXPECT_EQ(store.get("k"), "-");
  ASSERT_TRUE(store.db->compact().ok());
  EXPECT_EQ(store.get("k"), "-");
  EXPECT_EQ(store.entries(), 0U);
}

TEST(Expiry, Rule29_AClockThatJumpsAheadDestroysNothing) {
  for (const bool reopens : {false, true}) {
    ExpiringStore store;
    store.put("k", "value", 60min);
    ASSERT_TRUE(store.db->flush().ok());
    store.clock += kTenYears;
    EXPECT_EQ(store.get("k"), "-") << "readers follow the clock";
    for (int i = 0; i < 3; ++i) {
      if (reopens) store.open();
      store.put("other", "value", 1min);
      ASSERT_TRUE(store.db->compact().ok());
      ASSERT_TRUE(store.db->wait_idle().ok());
      store.pass(kMinute);
    }
    store.clock -= kTenYears;
    if (reopens) store.open();
    EXPECT_EQ(store.get("k"), "value");
    store.pass(57 * kMinute - 1);
    EXPECT_EQ(store.get("k"), "value");
    store.pass(1);
    EXPECT_EQ(store.get("k"), "-");
    ASSERT_TRUE(store.db->compact().ok());
    EXPECT_EQ(store.get("k"), "-");
  }
}

TEST(Expiry, Rule29_AClockThatJumpsBackShowsNothingAgainThatTheHorizonHasPassed) {
  for (const bool reopens : {false, true}) {
    ExpiringStore store;
    store.put("k", "value", 1min);
    store.put("l", "value", 3min);
    store.pass(2 * kMinute);
    store.put("m", "value");
    ASSERT_TRUE(store.db->flush().ok());
    store.clock -= kTenYears;
    if (reopens) store.open();
    EXPECT_EQ(store.all(), "l=value m=value ");
    store.put("n", "value", 1min);
    EXPECT_EQ(store.get("n"), "value") << "what is put now is not hidden at once";
  }
}

TEST(Expiry, Rule29_AnotherOwnerWhoseClockIsAheadDestroysNothing) {
  ExpiringStore store;
  store.put("k", "value", 60min);
  ASSERT_TRUE(store.db->flush().ok());
  store.clock += kTenYears;
  store.uptime = 5;  // Another machine, or this one after a restart.
  store.open();
  ASSERT_TRUE(store.db->compact().ok());
  store.open();
  ASSERT_TRUE(store.db->compact().ok());
  store.clock -= kTenYears;
  store.open();
  EXPECT_EQ(store.get("k"), "value");
}

TEST(Expiry, Rule30_SnapshotsAndIteratorsKeepWhatTheySaw) {
  for (const int depth : {0, 1, 2}) {
    SCOPED_TRACE(depth);
    ExpiringStore store;
    store.put("a", "1", 1min);
    store.put("b", "2", 2min);
    store.put("c", "3");
    store.settle(depth);
    auto first = std::make_unique<Snapshot>(store.db->snapshot());
    Iterator before = store.db->scan();
    store.pass(kMinute);
    auto second = std::make_unique<Snapshot>(store.db->snapshot());
    store.pass(kMinute);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(store.all(first.get()), "a=1 b=2 c=3 ");
      EXPECT_EQ(store.get("a", first.get()), "1");
      EXPECT_EQ(store.all(second.get()), "b=2 c=3 ");
      EXPECT_EQ(store.get("a", second.get()), "-");
      EXPECT_EQ(store.get("b", second.get()), "2");
      EXPECT_EQ(store.all(), "c=3 ");
      ASSERT_TRUE(store.db->compact().ok());
    }
    std::string seen;
    for (; before.valid(); before.next()) seen += before.key();
    EXPECT_EQ(seen, "abc");
    EXPECT_EQ(store.entries(), 3U);
    first.reset();
    ASSERT_TRUE(store.db->compact().ok());
    EXPECT_EQ(store.all(second.get()), "b=2 c=3 ");
    EXPECT_EQ(store.entries(), 2U);
    second.reset();
    ASSERT_TRUE(store.db->compact().ok());
    EXPECT_EQ(store.entries(), 1U);
  }
}

/// The clock was set back between two snapshots: the younger one has the earlier time.
TEST(Expiry, Rule30_EverySnapshotThatSeesAnEntryMustBePastItsTime) {
  ExpiringStore store;
  store.put("a", "1", 1min);
  ASSERT_TRUE(store.db->flush().ok());
  store.clock -= 5 * kMinute;
  const Snapshot early = store.db->snapshot();
  store.clock += 5 * kMinute;
  store.pass(2 * kMinute);
  const Snapshot late = store.db->snapshot();
  ASSERT_TRUE(store.db->compact().ok());
  EXPECT_EQ(store.get("a", &early), "1");
  EXPECT_EQ(store.get("a", &late), "-");
  EXPECT_EQ(store.get("a"), "-");
}

TEST(Expiry, AGetReadsTheClockOnlyForAValueThatExpires) {
  ExpiringStore store;
  store.put("stays", "1");
  store.put("goes", "1", 1min);
  for (const int depth : {0, 1, 2}) {
    store.settle(depth);
    store.clock_calls = 0;
    EXPECT_TRUE(store.db->get("stays")->has_value());
    EXPECT_TRUE(store.db->get_pinned("stays")->has_value());
    EXPECT_FALSE(store.db->get("absent")->has_value());
    EXPECT_EQ(store.clock_calls, 0);
    EXPECT_TRUE(store.db->get("goes")->has_value());
    EXPECT_EQ(store.clock_calls, 1);
  }
}

TEST(Expiry, AStoreWithoutItNeverReadsTheClockToRead) {
  ExpiringStore store;
  store.put("a", "1");
  store.clock_calls = 0;
  const std::vector<std::string_view> keys = {"a", "b"};
  (void)store.db->multi_get(keys);
  const Snapshot snapshot = store.db->snapshot();
  EXPECT_EQ(store.db->get("a", {.snapshot = &snapshot})->value_or("-"), "1");
  for (Iterator at = store.db->scan(); at.valid(); at.next()) EXPECT_FALSE(at.expires_at());
  EXPECT_EQ(store.clock_calls, 0);
}

TEST(Expiry, TimesAreGivenToBatchesAndShownByIteratorsAndOperations) {
  ExpiringStore store;
  const ExpiryTime at{std::chrono::milliseconds(kBegin + 5 * kMinute)};
  Batch batch;
  batch.put("a", "1", 1min);
  batch.put("b", "2", at);
  batch.put("c", "3");
  batch.put("d", "4", kNeverExpires);
  std::vector<Batch::Operation> operations(batch.begin(), batch.end());
  EXPECT_EQ(operations[0].expires_in, 1min);
  EXPECT_EQ(operations[0].value, "1");
  EXPECT_FALSE(operations[0].expires_at);
  EXPECT_EQ(operations[1].expires_at, at);
  EXPECT_EQ(operations[1].value, "2");
  EXPECT_EQ(operations[2].expires_in, 0ms);
  EXPECT_EQ(operations[3].expires_in, kNeverExpires);
  ASSERT_TRUE(store.db->write(batch, {.expires_in = 2min}).ok());
  const std::vector<std::optional<std::uint64_t>> expected = {kBegin + kMinute, kBegin + 5 * kMinute,
                                                              kBegin + 2 * kMinute, std::nullopt};
  for (const bool reverse : {false, true}) {
    Iterator entry = store.db->scan({.reverse = reverse});
    for (std::size_t i = 0; i < 4; ++i, entry.advance()) {
      const std::optional<std::uint64_t>& due = expected[reverse ? 3 - i : i];
      ASSERT_EQ(entry.expires_at().has_value(), due.has_value());
      if (!due) continue;
      EXPECT_EQ(static_cast<std::uint64_t>(entry.expires_at()->time_since_epoch().count()), *due);
    }
  }
  store.pass(2 * kMinute);
  EXPECT_EQ(store.all(), "b=2 d=4 ");
}

TEST(Expiry, ANegativeTimeIsRefused) {
  ExpiringStore store;
  EXPECT_EQ(store.db->put("a", "1", {.expires_in = -1ms}).code(), StatusCode::kInvalidArgument);
  Batch batch;
  batch.put("a", "1", -1ms);
  EXPECT_EQ(batch.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.db->write(batch).code(), StatusCode::kInvalidArgument);
  Batch past;
  past.put("a", "1", std::chrono::system_clock::time_point() - 1h);
  ASSERT_TRUE(store.db->write(past).ok());
  EXPECT_EQ(store.get("a"), "-");
}

TEST(Expiry, AKeyspaceHasADefaultThatAPutCanReplace) {
  ExpiringStore store;
  Keyspace sessions = *store.db->keyspace("sessions", {.default_expiry = 1min});
  Keyspace users = *store.db->keyspace("users");
  const auto fill = [&] {
    ASSERT_TRUE(sessions.put("a", "1").ok());
    ASSERT_TRUE(sessions.put("b", "2", {.expires_in = 10min}).ok());
    ASSERT_TRUE(sessions.put("c", "3", {.expires_in = kNeverExpires}).ok());
    ASSERT_TRUE(users.put("a", "4").ok());
    Batch batch;
    batch.put(sessions, "d", "5");
    batch.put(users, "d", "6");
    batch.put("d", "7");
    ASSERT_TRUE(store.db->write(batch).ok());
  };
  const auto keys = [](const Keyspace& keyspace) {
    std::string all;
    for (Iterator at = keyspace.scan(); at.valid(); at.next()) all += at.key();
    return all;
  };
  for (int i = 0; i < 2; ++i) {
    fill();
    EXPECT_EQ(keys(sessions), "abcd");
    store.pass(kMinute);
    EXPECT_EQ(keys(sessions), "bc");
    EXPECT_EQ(keys(users), "ad");
    EXPECT_EQ(store.all(), "d=7 ");
    store.open();
    sessions = *store.db->keyspace("sessions");
    users = *store.db->keyspace("users");
  }
  for (const KeyspaceInfo& keyspace : store.db->keyspaces()) {
    EXPECT_EQ(keyspace.options, keyspace.name == "sessions" ? "default_expiry=1min\n" : "");
  }
}

TEST(Expiry, TheStoresOptionIsTheDefaultOfTheDefaultKeyspace) {
  ExpiringStore store({.default_expiry = 1min});
  store.put("a", "1");
  ASSERT_TRUE(store.db->remove("b").ok());
  store.pass(kMinute);
  EXPECT_EQ(store.all(), "");
}

TEST(Expiry, LargeCommitsAndCheckpointsKeepTheTimes) {
  ExpiringStore store({.memory_bytes = 1 << 20, .memtable_bytes = 128 << 10});
  Batch batch;
  for (int i = 0; i < 400; ++i) batch.put(fmt::format("k{:03}", i), std::string(1000, 'v'), i % 2 == 0 ? 1min : 10min);
  ASSERT_TRUE(store.db->write(batch).ok());
  ASSERT_TRUE(store.db->checkpoint("/copy").ok());
  store.pass(kMinute);
  const Environment environment{
      .files = &store.files, .random_seed = 1, .runs_in_background = false, .unix_milliseconds = [&] {
        return store.clock.load();
      }};
  DB copy = *DB::open("/copy", {}, environment);
  for (DB* db : {&*store.db, &copy}) {
    int keys = 0;
    for (Iterator at = db->scan(); at.valid(); at.next()) ++keys;
    EXPECT_EQ(keys, 200);
  }
}

TEST(Expiry, ExplainSaysThatAValueHasExpired) {
  ExpiringStore store;
  store.put("a", "1", 1min);
  for (const int depth : {0, 1}) {
    store.settle(depth);
    Explanation living = *store.db->explain("a");
    EXPECT_TRUE(living.found);
    EXPECT_EQ(living.steps.back().outcome, "found");
    store.clock += kMinute;
    Explanation expired = *store.db->explain("a");
    EXPECT_FALSE(expired.found);
    EXPECT_EQ(expired.steps.back().outcome, "expired");
    store.clock -= kMinute;
  }
}

TEST(Expiry, ATransactionTakesLifetimesAndReadsAtItsTime) {
  ExpiringStore store;
  store.put("a", "1", 1min);
  {
    Transaction transaction = store.db->begin();
    Batch batch;
    batch.put("b", "2", 1min);
    ASSERT_TRUE(transaction.write(batch).ok());
    EXPECT_EQ(transaction.get("b")->value_or("-"), "2");
    store.pass(kMinute);
    EXPECT_EQ(transaction.get("a")->value_or("-"), "1") << "it reads as of its begin";
    EXPECT_EQ(store.get("a"), "-");
    ASSERT_TRUE(transaction.commit().ok());
  }
  EXPECT_EQ(store.get("b"), "2") << "the lifetime begins with the commit";
  store.open();
  EXPECT_EQ(store.get("b"), "2");
  store.pass(kMinute);
  EXPECT_EQ(store.get("b"), "-");
}

TEST(Expiry, TablesThatHaveExpiredGoUnreadAndTheStoreSaysSo) {
  ExpiringStore store;
  for (int i = 0; i < 1000; ++i) store.put(fmt::format("k{:04}", i), std::string(100, 'v'), 1min);
  ASSERT_TRUE(store.db->flush().ok());
  EXPECT_EQ(store.db->stats().expiry.entries, 1000U);
  EXPECT_EQ(store.db->stats().expiry.expired, 0U);
  store.open();
  store.pass(kMinute);
  EXPECT_EQ(store.db->stats().expiry.expired, 1000U);
  const std::uint64_t written = store.db->stats().bytes_written;
  ASSERT_TRUE(store.db->wait_idle().ok());
  const Stats stats = store.db->stats();
  EXPECT_EQ(stats.expiry.entries, 0U);
  EXPECT_EQ(stats.expiry.tables_dropped, 1U);
  EXPECT_EQ(stats.bytes_on_disk, 0U);
  EXPECT_LT(stats.bytes_written - written, 1000U) << "nothing but an edit of the manifest";
  EXPECT_EQ(store.all(), "");
}

TEST(Expiry, ATableOfWhichMostHasExpiredIsRewrittenWithoutAWrite) {
  ExpiringStore store;
  for (int i = 0; i < 1000; ++i) {
    store.put(fmt::format("k{:04}", i), std::string(100, 'v'), i % 4 == 0 ? std::chrono::milliseconds() : 1min);
  }
  ASSERT_TRUE(store.db->flush().ok());
  const std::uint64_t before = store.db->stats().bytes_on_disk;
  store.pass(kMinute);
  ASSERT_TRUE(store.db->wait_idle().ok());
  EXPECT_EQ(store.entries(), 250U);
  EXPECT_LT(store.db->stats().bytes_on_disk, before / 2);
}

}  // namespace
}  // namespace tamis
