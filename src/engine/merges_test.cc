// Merges: what readers see, whatever flushes and compactions have folded.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "support/crash_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBegin = 1'700'000'000'000;

/// Appends, but cannot append to or after a value with an 'x'.
MergeOperator picky() {
  const auto fold = [](std::string_view older, std::string_view newer, std::string& result) {
    if (older.find('x') != older.npos || newer.find('x') != newer.npos) return false;
    result.append(older).append(newer);
    return true;
  };
  return {"picky", fold};
}

Options with_operator(std::string_view name) { return {.merge_operator = std::string(name)}; }

/// A store whose clock the test moves, with an operator that shows the order in which it folds.
class MergingStore {
 public:
  explicit MergingStore(Options given = with_operator("append")) : options(std::move(given)) { open(); }

  void open() {
    const Status opened = try_open();
    ASSERT_TRUE(opened.ok()) << opened.to_text();
  }
  Status try_open() {
    db.reset();
    const Environment environment{.files = &files,
                                  .random_seed = 1,
                                  .runs_in_background = false,
                                  .unix_milliseconds = [this] { return clock.load(); },
                                  .uptime_milliseconds = [this] { return clock.load() - kBegin; }};
    Result<DB> opened = DB::open("/store", options, environment);
    if (!opened.ok()) return opened.status();
    db.emplace(*std::move(opened));
    return {};
  }
  void put(std::string_view key, std::string_view value, std::chrono::milliseconds expires_in = 0ms) {
    ASSERT_TRUE(db->put(key, value, {.expires_in = expires_in}).ok());
  }
  void merge(std::string_view key, std::string_view operand) {
    const Status merged = db->merge(key, operand);
    ASSERT_TRUE(merged.ok()) << merged.to_text();
  }
  /// By all reads of a key, which must agree.
  std::string get(std::string_view key, const Snapshot* snapshot = nullptr) {
    const ReadOptions read{.snapshot = snapshot};
    const Result<std::optional<std::string>> value = db->get(key, read);
    const std::string answer = !value.ok() ? value.status().to_text() : value->value_or("-");
    const Result<bool> exists = db->exists(key, read);
    EXPECT_EQ(exists.ok() ? "" : exists.status().to_text(), value.ok() ? "" : answer);
    if (exists.ok()) {
      EXPECT_EQ(*exists, answer != "-");
    }
    const Result<std::optional<PinnedValue>> pinned = db->get_pinned(key, read);
    EXPECT_EQ(!pinned.ok() ? pinned.status().to_text() : *pinned ? std::string((*pinned)->view()) : "-", answer);
    const std::vector<std::string_view> keys = {"nothing", key};
    const Result<std::optional<std::string>> together = db->multi_get(keys, read)[1];
    EXPECT_EQ(!together.ok() ? together.status().to_text() : together->value_or("-"), answer);
    const Result<Explanation> explained = db->explain(key, read);
    EXPECT_TRUE(explained.ok());
    if (explained.ok() && value.ok()) {
      EXPECT_EQ(explained->value.value_or("-"), answer);
    }
    return answer;
  }
  /// All keys and values, which must be the same backwards.
  std::string all(const Snapshot* snapshot = nullptr) {
    std::string forwards;
    std::string backwards;
    for (Iterator at = db->scan({.snapshot = snapshot}); at.valid(); at.next()) {
      forwards += fmt::format("{}={} ", at.key(), at.value());
    }
    for (Iterator at = db->scan({.reverse = true, .snapshot = snapshot}); at.valid(); at.advance()) {
      backwards.insert(0, fmt::format("{}={} ", at.key(), at.value()));
    }
    EXPECT_EQ(forwards, backwards);
    return forwards;
  }
  /// Moves everything to tables, if asked to.
  void settle(int depth) {
    const Status done = depth == 0 ? Status() : depth == 1 ? db->flush() : db->compact();
    ASSERT_TRUE(done.ok()) << done.to_text();
  }
  [[nodiscard]] std::uint64_t entries() const {
    std::uint64_t all = 0;
    for (const Stats::Level& level : db->stats().levels) all += level.entries;
    return all;
  }

  MemoryFileSystem files;
  std::atomic<std::uint64_t> clock = kBegin;
  Options options;
  std::optional<DB> db;
};

TEST(Merges, Rule31_AreFoldedInOrderWhereverTheyAre) {
  for (int depth = 0; depth < 27; ++depth) {
    SCOPED_TRACE(depth);
    MergingStore store;
    store.put("a", "1");
    store.settle(depth % 3);
    store.merge("a", "2");
    store.merge("b", "u");
    store.settle(depth / 3 % 3);
    store.merge("a", "3");
    store.merge("a", "4");
    store.merge("b", "v");
    store.settle(depth / 9);
    EXPECT_EQ(store.get("a"), "1234");
    EXPECT_EQ(store.get("b"), "uv");
    EXPECT_EQ(store.all(), "a=1234 b=uv ");
    store.open();
    EXPECT_EQ(store.all(), "a=1234 b=uv ");
    store.settle(2);
    EXPECT_EQ(store.all(), "a=1234 b=uv ");
    EXPECT_EQ(store.entries(), 2U);
  }
}

TEST(Merges, Rule31_EndAtADeleteARangeDeleteOrAnExpiredValue) {
  for (int depth = 0; depth < 9; ++depth) {
    SCOPED_TRACE(depth);
    MergingStore store;
    for (const char* key : {"a", "b", "c"}) store.merge(key, "old");
    store.settle(depth % 3);
    ASSERT_TRUE(store.db->remove("a").ok());
    ASSERT_TRUE(store.db->remove_range("b", "c").ok());
    store.put("c", "value", 10ms);
    store.settle(depth / 3);
    for (const char* key : {"a", "b", "c"}) store.merge(key, "+");
    EXPECT_EQ(store.all(), "a=+ b=+ c=value+ ");
    store.settle(depth / 3);
    EXPECT_EQ(store.all(), "a=+ b=+ c=value+ ") << "an operand does not fold onto what will expire";
    store.clock += 10;
    EXPECT_EQ(store.all(), "a=+ b=+ c=+ ");
    for (const char* key : {"a", "b", "c"}) EXPECT_EQ(store.get(key), "+");
    store.settle(2);
    EXPECT_EQ(store.all(), "a=+ b=+ c=+ ");
    EXPECT_EQ(store.entries(), 3U);
  }
}

TEST(Merges, Rule31_AreNotFoldedAcrossASnapshot) {
  for (int depth = 0; depth < 3; ++depth) {
    MergingStore store;
    store.put("k", "0");
    const Snapshot first = store.db->snapshot();
    store.merge("k", "1");
    store.merge("k", "2");
    const Snapshot second = store.db->snapshot();
    store.merge("k", "3");
    store.merge("k", "4");
    store.settle(depth);
    EXPECT_EQ(store.get("k", &first), "0");
    EXPECT_EQ(store.get("k", &second), "012");
    EXPECT_EQ(store.all(&second), "k=012 ");
    EXPECT_EQ(store.get("k"), "01234");
    if (depth > 0) {
      EXPECT_EQ(store.entries(), 3U) << "one per snapshot";
    }
  }
}

TEST(Merges, AFoldDoesNotExpire) {
  MergingStore store;
  store.put("k", "v", 10ms);
  EXPECT_TRUE(store.db->scan().expires_at());
  store.merge("k", "+");
  EXPECT_FALSE(store.db->scan().expires_at());
  EXPECT_FALSE(store.db->scan({.reverse = true}).expires_at());
}

TEST(Merges, Rule32_TheNameIsStoredAndCannotChange) {
  MergingStore store;
  store.merge("k", "1");
  EXPECT_EQ(store.db->keyspaces().front().options, "merge_operator=append\n");
  ASSERT_TRUE(store.db->keyspace("users", {.merge_operator = "max_u64"}).ok());
  EXPECT_EQ(store.db->keyspace("users", {.merge_operator = "min_u64"}).status().to_text(),
            "invalid argument: the keyspace 'users' has the merge operator 'max_u64', which cannot change");
  EXPECT_EQ(store.db->keyspace("users", {.merge_operator = ""}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(store.db->keyspace("users", {.fanout = 4, .merge_operator = "max_u64"}).ok());
  store.options.merge_operator = "";
  store.open();
  store.merge("k", "2");
  EXPECT_EQ(store.get("k"), "12");
  store.options.merge_operator = "add_i64";
  EXPECT_EQ(store.try_open().to_text(),
            "invalid argument: /store: keyspace 'default': it has the merge operator 'append', which cannot become "
            "'add_i64'");
}

TEST(Merges, NeedAnOperator) {
  MergingStore store(Options{});
  EXPECT_EQ(store.db->merge("k", "1").to_text(),
            "invalid argument: the keyspace 'default' has no merge operator; set merge_operator");
  Batch batch;
  batch.put("a", "1");
  batch.merge("k", "1");
  EXPECT_EQ(store.db->write(batch).code(), StatusCode::kInvalidArgument);
  Transaction transaction = store.db->begin();
  EXPECT_EQ(transaction.merge("k", "1").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(transaction.rollback().ok());
  EXPECT_EQ(store.all(), "");
  store.options.merge_operator = "append";  // A keyspace that has none may get one.
  store.open();
  store.merge("k", "1");
  EXPECT_EQ(store.all(), "k=1 ");
}

TEST(Merges, CannotRegisterAnOperatorThatNobodyCouldName) {
  MergeOperator unnamed = picky();
  unnamed.name = "";
  MergeOperator known = picky();
  known.name = "append";
  EXPECT_TRUE(check_options({.merge_operators = {picky()}}).ok());
  for (const std::vector<MergeOperator>& bad :
       {std::vector<MergeOperator>{unnamed}, {known}, {picky(), picky()}, {{"empty", {}}}}) {
    EXPECT_EQ(check_options({.merge_operators = bad}).code(), StatusCode::kInvalidArgument);
  }
}

/// Without the function, nothing is folded and nothing but reads of such keys fails.
TEST(Merges, Rule32_AStoreWithoutTheFunctionIsWhole) {
  MergingStore store(Options{.merge_operator = "picky", .merge_operators = {picky()}});
  store.put("a", "1");
  store.merge("a", "2");
  store.put("b", "value");
  store.options.merge_operators.clear();
  store.open();
  const std::string missing =
      "not supported: the merge operator 'picky' is not registered; add it to Options::merge_operators";
  EXPECT_EQ(store.get("a"), missing);
  EXPECT_EQ(store.get("b"), "value");
  EXPECT_EQ(store.db->merge("a", "3").code(), StatusCode::kNotSupported);
  EXPECT_EQ(store.db->explain("a")->operands, std::vector<std::string>{"2"});
  EXPECT_EQ(store.db->explain("a")->fold_error, missing);
  store.settle(1);
  store.put("c", "other");
  store.settle(2);
  EXPECT_TRUE(store.db->verify()->ok());
  ASSERT_TRUE(store.db->checkpoint("/copy").ok());
  EXPECT_EQ(store.get("a"), missing);
  store.db.reset();
  const Result<RepairReport> repaired = DB::repair("/store", false, {.files = &store.files});
  ASSERT_TRUE(repaired.ok()) << repaired.status().to_text();
  EXPECT_TRUE(repaired->lost.empty()) << repaired->to_text();
  store.options.merge_operators = {picky()};
  store.open();
  EXPECT_EQ(store.all(), "a=12 b=value c=other ");
  const Result<DB> copy = DB::open("/copy", store.options, {.files = &store.files});
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->get("a")->value(), "12");
}

/// The operands stay as they are, and only readers of the key are told.
TEST(Merges, Rule32_AFoldThatFailsIsTheReadersError) {
  for (int depth = 0; depth < 3; ++depth) {
    MergingStore store(Options{.merge_operator = "picky", .merge_operators = {picky()}});
    store.merge("a", "1");
    store.put("b", "x");
    store.merge("b", "2");
    store.merge("b", "3");
    store.merge("c", "4");
    store.settle(depth);
    EXPECT_EQ(store.get("b").substr(0, 60), "invalid argument: the merge operator 'picky' cannot fold val");
    EXPECT_EQ(store.get("a"), "1");
    EXPECT_EQ(store.get("c"), "4");
    Iterator at = store.db->scan();
    EXPECT_EQ(at.key(), "a");
    at.next();
    EXPECT_FALSE(at.valid());
    EXPECT_EQ(at.status().code(), StatusCode::kInvalidArgument);
    at.seek("c");
    EXPECT_TRUE(at.valid());
    EXPECT_EQ(at.value(), "4");
    at.previous();
    EXPECT_EQ(at.status().code(), StatusCode::kInvalidArgument);
    at.seek_before("b");
    EXPECT_EQ(at.value(), "1");
    store.put("b", "again");
    EXPECT_EQ(store.all(), "a=1 b=again c=4 ");
  }
}

TEST(Merges, BuiltInOperatorsFoldNumbers) {
  for (const auto& [name, expected] :
       std::map<std::string, std::int64_t>{{"add_i64", 4}, {"max_u64", 7}, {"min_u64", 2}}) {
    MergingStore store(with_operator(name));
    for (const std::int64_t number : {7, 2, -5}) {
      store.merge("k", pack_i64(name == "add_i64" || number > 0 ? number : 4));
      store.settle(1);
    }
    EXPECT_EQ(unpack_i64(store.get("k")), expected) << name;
  }
  MergingStore store(with_operator("add_i64"));
  store.put("k", pack_i64(std::numeric_limits<std::int64_t>::max()));
  store.merge("k", pack_i64(1));
  EXPECT_EQ(unpack_i64(store.get("k")), std::numeric_limits<std::int64_t>::min()) << "it wraps around";
  store.put("k", "seven");
  store.merge("k", pack_i64(1));
  EXPECT_EQ(store.get("k"), "invalid argument: the merge operator 'add_i64' cannot fold values of 5 and 8 bytes");
}

/// What a reader must see, by the definition: the operands since the last value, delete or range delete.
class Expected {
 public:
  struct Value {
    std::optional<std::string> base;
    std::uint64_t due = 0;
    std::string operands;
  };
  void put(const std::string& key, std::string value, std::uint64_t due) { values_[key] = {std::move(value), due, ""}; }
  void merge(const std::string& key, const std::string& operand) { values_[key].operands += operand; }
  void remove(const std::string& key) { values_.erase(key); }
  void remove_range(const std::string& from, const std::string& to) {
    if (from < to) values_.erase(values_.lower_bound(from), values_.lower_bound(to));
  }
  [[nodiscard]] std::string get(const std::string& key, std::uint64_t now) const {
    const auto found = values_.find(key);
    if (found == values_.end()) return "-";
    const Value& value = found->second;
    const bool is_due = value.due != 0 && value.due <= now;
    if (value.operands.empty()) return is_due || !value.base ? "-" : *value.base;
    return (is_due ? "" : value.base.value_or("")) + value.operands;
  }
  [[nodiscard]] std::string all(std::uint64_t now) const {
    std::string text;
    for (const auto& [key, value] : values_) {
      if (get(key, now) != "-") text += fmt::format("{}={} ", key, get(key, now));
    }
    return text;
  }

 private:
  std::map<std::string, Value> values_;
};

TEST(Merges, Rule31_RandomWritesReadTheSameWhateverIsFolded) {
  struct Kept {
    Snapshot snapshot;
    Expected expected;
    std::uint64_t time;
  };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    SplitMix64 random(seed);
    Options options = with_operator("append");
    options.compaction = seed % 3 == 0 ? "tiered" : seed % 3 == 1 ? "leveled" : "manual";
    MergingStore store(options);
    Expected expected;
    std::deque<Kept> kept;
    const auto key_of = [&] { return std::string(1, static_cast<char>('a' + random.below(5))); };
    for (int step = 0; step < 120; ++step) {
      const std::string key = key_of();
      const std::string bytes = fmt::format("{}", step % 10);
      const std::uint64_t choice = random.below(20);
      if (choice < 9) {
        store.merge(key, bytes);
        expected.merge(key, bytes);
      } else if (choice < 11) {
        const std::uint64_t lifetime = random.below(2) * (1 + random.below(40));
        store.put(key, bytes, std::chrono::milliseconds(lifetime));
        expected.put(key, bytes, lifetime == 0 ? 0 : store.clock + lifetime);
      } else if (choice == 11) {
        ASSERT_TRUE(store.db->remove(key).ok());
        expected.remove(key);
      } else if (choice == 12) {
        const std::string to = key_of();
        ASSERT_TRUE(store.db->remove_range(key, to).ok());
        expected.remove_range(key, to);
      } else if (choice == 13) {
        kept.push_back({store.db->snapshot(), expected, store.clock});
        if (kept.size() > 3) kept.pop_front();
      } else if (choice == 14) {
        store.clock += random.below(20);
      } else if (choice == 15 && random.below(3) == 0) {
        kept.clear();
        store.open();
      } else {
        store.settle(1 + static_cast<int>(random.below(2)));
      }
      ASSERT_EQ(store.all(), expected.all(store.clock)) << "step " << step;
      ASSERT_EQ(store.get(key), expected.get(key, store.clock));
      for (const Kept& old : kept) {
        ASSERT_EQ(store.all(&old.snapshot), old.expected.all(old.time)) << "step " << step;
        ASSERT_EQ(store.get(key, &old.snapshot), old.expected.get(key, old.time));
      }
    }
  }
}

TEST(Merges, InABatchAreFoldedInItsOrderAcrossKeyspaces) {
  MergingStore store;
  Keyspace users = *store.db->keyspace("users", {.merge_operator = "append"});
  Batch batch;
  batch.merge("k", "1");
  batch.put("k", "a");
  batch.merge("k", "2");
  batch.merge(users, "k", "u");
  batch.merge("k", "3");
  ASSERT_TRUE(store.db->write(batch).ok());
  EXPECT_EQ(store.get("k"), "a23");
  ASSERT_TRUE(users.merge("k", "v").ok());
  EXPECT_EQ(users.get("k")->value(), "uv");
}

TEST(Merges, Rule37_LargeCommitsMergeToo) {
  MergingStore store(Options{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .merge_operator = "append"});
  store.put("k", "0");
  Batch batch;
  const std::string large(400'000, 'v');
  batch.merge("k", "1");
  batch.put("large", large);
  batch.merge("k", "2");
  batch.merge("n", "3");
  ASSERT_TRUE(store.db->write(batch).ok());
  EXPECT_EQ(store.get("k"), "012");
  EXPECT_EQ(store.get("n"), "3");
  store.merge("k", "4");
  store.open();
  EXPECT_EQ(store.get("k"), "0124");
}

TEST(Merges, ATransactionFoldsItsOwnWrites) {
  MergingStore store;
  store.put("a", "0");
  store.merge("b", "s");
  Transaction transaction = store.db->begin();
  ASSERT_TRUE(transaction.merge("a", "1").ok());
  ASSERT_TRUE(transaction.merge("a", "2").ok());
  ASSERT_TRUE(transaction.merge("b", "t").ok());
  ASSERT_TRUE(transaction.merge("c", "u").ok());
  EXPECT_EQ(transaction.get("a")->value(), "012");
  EXPECT_EQ(transaction.get("b")->value(), "st");
  EXPECT_EQ(transaction.get("c")->value(), "u");
  ASSERT_TRUE(transaction.put("a", "p").ok());
  ASSERT_TRUE(transaction.merge("a", "3").ok());
  ASSERT_TRUE(transaction.remove("b").ok());
  ASSERT_TRUE(transaction.merge("b", "4").ok());
  EXPECT_EQ(transaction.get("a")->value(), "p3");
  EXPECT_EQ(transaction.get("b")->value(), "4");
  std::string forwards;
  for (Iterator at = transaction.scan(); at.valid(); at.next()) forwards += fmt::format("{}={} ", at.key(), at.value());
  EXPECT_EQ(forwards, "a=p3 b=4 c=u ");
  const std::vector<std::string_view> keys = {"a", "b", "c", "d"};
  std::string together;
  for (const auto& value : transaction.multi_get(keys)) together += value->value_or("-") + " ";
  EXPECT_EQ(together, "p3 4 u - ");
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(transaction.merge("c", std::to_string(i)).ok());
  EXPECT_EQ(transaction.get("c")->value(), "u0123456789") << "more writes than are compared one by one";
  ASSERT_TRUE(transaction.commit().ok());
  EXPECT_EQ(store.all(), "a=p3 b=4 c=u0123456789 ");
}

/// Rule 40.
TEST(Merges, Rule40_BlindOnesConflictWithReadersAndNotWithEachOther) {
  for (const Isolation isolation : {Isolation::kSerializable, Isolation::kSnapshot}) {
    MergingStore store;
    const auto begin = [&] { return store.db->begin({.isolation = isolation}); };
    Transaction first = begin();
    Transaction second = begin();
    ASSERT_TRUE(first.merge("k", "1").ok() && second.merge("k", "2").ok());
    EXPECT_TRUE(first.commit().ok());
    EXPECT_TRUE(second.commit().ok());
    EXPECT_EQ(store.get("k"), "12");

    Transaction putting = begin();
    Transaction merging = begin();
    ASSERT_TRUE(putting.put("k", "p").ok() && merging.merge("k", "3").ok());
    EXPECT_TRUE(merging.commit().ok());
    EXPECT_EQ(putting.commit().code(), isolation == Isolation::kSnapshot ? StatusCode::kConflict : StatusCode::kOk);

    merging = begin();
    ASSERT_TRUE(store.db->put("k", "q").ok());
    ASSERT_TRUE(merging.merge("k", "4").ok());
    EXPECT_EQ(merging.commit().code(), isolation == Isolation::kSnapshot ? StatusCode::kConflict : StatusCode::kOk);
    merging = begin();
    ASSERT_TRUE(store.db->remove_range("j", "l").ok());
    ASSERT_TRUE(merging.merge("k", "4").ok());
    EXPECT_EQ(merging.commit().code(), isolation == Isolation::kSnapshot ? StatusCode::kConflict : StatusCode::kOk);
  }
  MergingStore store;
  store.put("k", "0");
  for (const bool reads_beneath : {false, true}) {
    Transaction reader = store.db->begin();
    if (reads_beneath) {
      ASSERT_TRUE(reader.merge("k", "own").ok());
    }
    ASSERT_TRUE(reader.get("k").ok());
    ASSERT_TRUE(reader.put("other", "1").ok());
    store.merge("k", "1");
    EXPECT_EQ(reader.commit().code(), StatusCode::kConflict) << reads_beneath;
  }
}

TEST(Merges, ConditionalPutsCompareTheFold) {
  MergingStore store;
  store.merge("k", "1");
  store.merge("k", "2");
  EXPECT_FALSE(*store.db->put_if("k", "2", "new"));
  EXPECT_TRUE(*store.db->put_if("k", "12", "new"));
  EXPECT_EQ(store.get("k"), "new");
}

TEST(Merges, AFollowerFoldsThem) {
  MergingStore store;
  Result<DB> before = DB::open("/store", {.read_only = true, .follows = true}, {.files = &store.files});
  ASSERT_TRUE(before.ok()) << before.status().to_text();
  store.merge("k", "1");
  store.merge("k", "2");
  for (int depth = 0; depth < 3; ++depth) {
    store.settle(depth);
    ASSERT_TRUE(before->catch_up().ok());
    EXPECT_EQ(before->get("k")->value_or("-"), "12") << "it was opened before there was an operator";
    EXPECT_EQ(before->scan().value(), "12");
  }
}

TEST(Merges, ExplainShowsTheOperands) {
  MergingStore store;
  store.put("k", "0");
  store.settle(1);
  store.merge("k", "1");
  store.merge("k", "2");
  const Explanation explained = *store.db->explain("k");
  EXPECT_EQ(explained.value, "012");
  EXPECT_EQ(explained.operands, (std::vector<std::string>{"2", "1"}));
  ASSERT_EQ(explained.steps.size(), 4U);
  EXPECT_EQ(explained.steps[0].outcome, "merge operand");
  EXPECT_EQ(explained.steps[1].outcome, "merge operand");
  EXPECT_EQ(explained.steps[2].outcome, "absent");
  EXPECT_EQ(explained.steps[3].outcome, "found");
}

/// Threads add, others look: every look at all counters is a sum of whole batches.
TEST(Merges, ThreadsCountExactly) {
  constexpr int kThreads = 8;
  constexpr int kEach = 2000;
  MemoryFileSystem files;
  DB db = *DB::open("/store", {.memory_bytes = 4 << 20, .memtable_bytes = 64 << 10, .merge_operator = "add_i64"},
                    {.files = &files});
  std::atomic<int> running = kThreads;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        Batch batch;
        batch.merge("all", pack_i64(1));
        batch.merge(fmt::format("of{}", thread), pack_i64(1));
        batch.put(fmt::format("key{}/{}", thread, i), std::string(40, 'v'));
        ASSERT_TRUE(db.write(batch).ok());
      }
      --running;
    });
  }
  while (running > 0) {
    const Snapshot snapshot = db.snapshot();
    std::int64_t sum = 0;
    for (int thread = 0; thread < kThreads; ++thread) {
      const auto value = db.get(fmt::format("of{}", thread), {.snapshot = &snapshot});
      ASSERT_TRUE(value.ok()) << value.status().to_text();
      sum += value->has_value() ? *unpack_i64(**value) : 0;
    }
    const auto all = db.get("all", {.snapshot = &snapshot});
    ASSERT_EQ(all->has_value() ? *unpack_i64(**all) : 0, sum);
    if (sum % 3 == 0) {
      ASSERT_TRUE(db.flush().ok());
    }
    if (sum % 7 == 0) {
      ASSERT_TRUE(db.compact().ok());
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(unpack_i64(db.get("all")->value()), kThreads * kEach);
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(unpack_i64(db.get("all")->value()), kThreads * kEach);
}

/// A crash after every call: what was acknowledged is counted, and nothing is counted twice.
TEST(Merges, Rule34_NothingIsCountedTwiceAfterACrash) {
  const Options options{.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10, .merge_operator = "add_i64"};
  const auto environment = [](FileSystem& files) {
    return Environment{.files = &files, .random_seed = 1, .runs_in_background = false};
  };
  CrashFileSystem files;
  std::int64_t begun = 0;
  std::int64_t acknowledged = 0;
  std::uint64_t crashes = 0;
  files.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    for (const Loss loss : {Loss::kNothing, Loss::kEverything}) {
      CrashFileSystem rebooted(disk.after_crash(loss, ++crashes));
      Result<DB> db = DB::open("/store", options, environment(rebooted));
      if (!db.ok() && begun == 0) continue;
      ASSERT_TRUE(db.ok()) << call << ": " << db.status().to_text();
      for (int opened = 0; opened < 2; ++opened) {
        const Result<std::optional<std::string>> value = db->get("n");
        ASSERT_TRUE(value.ok()) << value.status().to_text();
        const std::int64_t counted = value->has_value() ? *unpack_i64(**value) : 0;
        ASSERT_GE(counted, acknowledged) << call;
        ASSERT_LE(counted, begun) << call;
        ASSERT_TRUE(opened == 0 ? db->flush().ok() : db->compact().ok());
        ASSERT_EQ(unpack_i64(db->get("n")->value_or(pack_i64(0))), counted) << call;
      }
    }
  });
  {
    DB db = *DB::open("/store", options, environment(files));
    for (int i = 0; i < 8; ++i) {
      ++begun;
      ASSERT_TRUE(db.merge("n", pack_i64(1), {.sync = true}).ok());
      ++acknowledged;
      if (i % 3 == 1) {
        ASSERT_TRUE(db.flush().ok());
      }
      if (i == 5) {
        ASSERT_TRUE(db.compact().ok());
      }
    }
  }
  EXPECT_GT(crashes, 100U);
}

}  // namespace
}  // namespace tamis
