// Writers, readers, iterators and snapshots at once, during flushes, compactions and evictions. TAMIS_SECONDS sets how
// long all crowds together run; scripts/check-threads runs them under TSan.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

constexpr std::uint64_t kKeys = 200;
constexpr std::uint64_t kWriters = 2;
constexpr std::uint64_t kRounds = 60;
constexpr std::uint64_t kStillKeys = 20 * kKeys;  // Never changed; more than the cache holds.
const std::vector<std::string> kPolicies = {"leveled", "tiered", "lazy"};

std::string key_of(std::uint64_t writer, std::uint64_t i) { return fmt::format("{}/{:05}", writer, i); }

std::string still_key(std::uint64_t i) { return fmt::format("9/{:05}", i); }

std::uint64_t number_in(std::string_view value) {
  std::uint64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

void expect_ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.to_text(); }

/// Decides when a crowd ends: after its rounds, or after its share of TAMIS_SECONDS.
class Closing {
 public:
  explicit Closing(std::size_t crowds) {
    const char* text = std::getenv("TAMIS_SECONDS");
    if (text == nullptr) return;
    end_ = std::chrono::steady_clock::now() + std::chrono::milliseconds(1000 * std::atoi(text) / crowds);
  }
  [[nodiscard]] bool has_come() const { return std::chrono::steady_clock::now() >= end_; }

 private:
  std::chrono::steady_clock::time_point end_ = {};
};

/// Every writer puts its keys round after round, with the round's number first in each value. A round is one batch, so
/// that all of its keys have the same number at every moment.
class Crowd {
 public:
  Crowd(DB& db, MemoryFileSystem& files, const Closing& closing) : db_(db), files_(files), closing_(closing) {}

  void run() {
    for (std::uint64_t i = 0; i < kStillKeys; ++i) {
      expect_ok(db_.put(still_key(i), std::string(100, static_cast<char>(i))));
    }
    std::vector<std::jthread> threads;
    for (std::uint64_t writer = 0; writer < kWriters; ++writer) threads.emplace_back([this, writer] { write(writer); });
    threads.emplace_back([this] { get(); });
    threads.emplace_back([this] { multi_get(); });
    threads.emplace_back([this] { walk(); });
    threads.emplace_back([this] { look_back(); });
    threads.emplace_back([this] { tend(); });
    threads.emplace_back([this] { inspect(); });
    threads.emplace_back([this] { change_memory(); });
  }

 private:
  [[nodiscard]] bool is_over() const { return finished_writers_ == kWriters; }

  void write(std::uint64_t writer) {
    Batch batch;
    for (std::uint64_t round = 1; round <= kRounds || !closing_.has_come(); ++round) {
      batch.clear();
      for (std::uint64_t i = 0; i < kKeys; ++i) batch.put(key_of(writer, i), fmt::format("{} {:40}", round, i));
      expect_ok(db_.write(batch, {.sync = round % 16 == 0}));
      finished_rounds_[writer].store(round, std::memory_order_release);
    }
    ++finished_writers_;
  }

  /// A get sees every write acknowledged before it.
  void get() {
    SplitMix64 random(1);
    std::string value;
    while (!is_over()) {
      const std::uint64_t writer = random.below(kWriters);
      const std::uint64_t known = finished_rounds_[writer].load(std::memory_order_acquire);
      const std::string key = key_of(writer, random.below(kKeys));
      const Result<bool> found = db_.get(key, &value, {.fills_cache = random.coin()});
      ASSERT_TRUE(found.ok()) << found.status().to_text();
      EXPECT_GE(*found ? number_in(value) : 0, known);
      const Result<std::optional<PinnedValue>> pinned = db_.get_pinned(key);
      ASSERT_TRUE(pinned.ok()) << pinned.status().to_text();
      const Result<bool> still = db_.get(still_key(random.below(kStillKeys)), &value);
      ASSERT_TRUE(still.ok()) << still.status().to_text();
      EXPECT_TRUE(*still);
      const Result<bool> absent = db_.get("3/absent", &value);
      ASSERT_TRUE(absent.ok());
      EXPECT_FALSE(*absent);
      EXPECT_GE(*pinned ? number_in((*pinned)->view()) : 0, known);  // Whatever was evicted meanwhile.
    }
  }

  /// One moment: two keys of a writer are from the same round.
  void multi_get() {
    SplitMix64 random(2);
    while (!is_over()) {
      const std::uint64_t writer = random.below(kWriters);
      const std::string a = key_of(writer, random.below(kKeys));
      const std::string b = key_of(writer, random.below(kKeys));
      const std::vector<std::string_view> keys = {a, b};
      const auto answers = db_.multi_get(keys);
      ASSERT_TRUE(answers[0].ok() && answers[1].ok());
      ASSERT_EQ(answers[0]->has_value(), answers[1]->has_value());
      EXPECT_EQ(number_in(answers[0]->value_or("0")), number_in(answers[1]->value_or("0")));
    }
  }

  /// Iterates to one end and back, in either direction.
  void walk() {
    SplitMix64 random(3);
    while (!is_over()) {
      const std::string prefix = fmt::format("{}/", random.below(kWriters));
      const bool backwards = random.coin();
      std::uint64_t count = 0;
      std::uint64_t round = 0;
      Iterator it = db_.scan({.prefix = prefix, .reverse = backwards, .fills_cache = random.coin()});
      for (; it.valid(); backwards ? it.previous() : it.next()) {
        if (count++ == 0) round = number_in(it.value());
        EXPECT_EQ(number_in(it.value()), round);
      }
      ASSERT_TRUE(it.status().ok()) << it.status().to_text();
      EXPECT_TRUE(count == 0 || count == kKeys) << count;
      for (backwards ? it.seek_to_first() : it.seek_to_last(); it.valid(); backwards ? it.next() : it.previous()) {
        EXPECT_EQ(number_in(it.value()), round);
        --count;
      }
      EXPECT_EQ(count, 0U);
    }
  }

  /// A snapshot always gives the same answer, whatever is compacted meanwhile.
  void look_back() {
    while (!is_over()) {
      const Snapshot then = db_.snapshot();
      const Result<std::optional<std::string>> first = db_.get(key_of(0, 7), {.snapshot = &then});
      for (int i = 0; i < 20; ++i) {
        const Result<std::optional<std::string>> again = db_.get(key_of(0, 7), {.snapshot = &then});
        ASSERT_TRUE(first.ok() && again.ok());
        EXPECT_EQ(*first, *again);
      }
    }
  }

  void tend() {
    while (!is_over()) {
      expect_ok(db_.flush());
      expect_ok(db_.compact());
      expect_ok(db_.wait_idle());
      expect_ok(db_.sync());
    }
  }

  /// The others notice nothing.
  void change_memory() {
    while (!is_over()) {
      for (const char* bytes : {"0", "8KiB", "auto"}) expect_ok(db_.set_option("filter_memory", bytes));
      for (const char* bytes : {"256KiB", "4MiB", "384KiB"}) expect_ok(db_.set_option("memory_bytes", bytes));
    }
  }

  void inspect() {
    while (!is_over()) {
      const Stats stats = db_.stats();
      EXPECT_LE(stats.levels.size(), 8U);
      EXPECT_EQ(stats.background_error, "");
      EXPECT_TRUE(db_.explain(key_of(1, 1)).ok());
      EXPECT_TRUE(db_.approximate_size({}).ok());
      EXPECT_FALSE(db_.plan().to_text().empty());
      const Result<VerifyReport> verified = db_.verify();
      ASSERT_TRUE(verified.ok()) << verified.status().to_text();
      EXPECT_TRUE(verified->ok()) << verified->problems.front().what;
      copy();
    }
  }

  /// The copy also has whole batches.
  void copy() {
    const Environment environment{.files = &files_, .runs_in_background = false};
    const std::string path = fmt::format("/copy-{}", ++copies_);
    expect_ok(db_.checkpoint(path));
    {
      const Result<DB> copy = DB::open(path, {.memory_bytes = 1 << 20, .memtable_bytes = 64 << 10}, environment);
      ASSERT_TRUE(copy.ok()) << copy.status().to_text();
      std::uint64_t count = 0;
      for (Iterator it = copy->scan(); it.valid(); it.next()) ++count;
      EXPECT_EQ(count % kKeys, 0U);
    }
    expect_ok(DB::destroy(path, environment));
  }

  DB& db_;
  MemoryFileSystem& files_;
  const Closing& closing_;
  std::uint64_t copies_ = 0;  // Used by inspect().
  std::atomic<std::uint64_t> finished_writers_ = 0;
  std::atomic<std::uint64_t> finished_rounds_[kWriters] = {};
};

/// So little memory that indexes, filters and blocks are unloaded.
Options tight_options(const std::string& policy) {
  return {.memory_bytes = 384 << 10,
          .memtable_bytes = 64 << 10,
          .block_bytes = 1024,
          .table_bytes = 16 << 10,
          .prefix_rule = {.kind = PrefixRule::Kind::kFirst, .argument = 2},
          .compaction = policy,
          .fanout = 3};
}

class Threads : public ::testing::TestWithParam<std::string> {};

TEST_P(Threads, ReadersSeeWholeBatchesWhateverRunsBehindThem) {
  const Closing closing(kPolicies.size());
  MemoryFileSystem files;
  Result<DB> db = DB::open("/store", tight_options(GetParam()), {.files = &files});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  Crowd(*db, files, closing).run();
  EXPECT_GT(db->stats().cache.evictions, 0U);
  const Result<VerifyReport> verified = db->verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_TRUE(verified->ok()) << verified->problems.front().what;
  expect_ok(db->close());
}

/// Iterates until the store is closed. The snapshot is destroyed last.
void walk_until_closed(Iterator it, Snapshot then, std::latch& moving) {
  for (int steps = 0; it.status().ok(); ++steps) {
    if (steps == 100) moving.count_down();
    if (it.valid()) {
      it.next();
    } else {
      it.seek_to_first();
    }
  }
  EXPECT_EQ(it.status().code(), StatusCode::kClosed);
  EXPECT_GT(then.sequence(), 0U);
}

TEST_P(Threads, AStoreGoesWhileIteratorsAndSnapshotsAreAlive) {
  constexpr int kWalkers = 6;
  for (int turn = 0; turn < 5; ++turn) {
    MemoryFileSystem files;
    std::vector<std::jthread> walkers;
    Result<DB> db = DB::open("/store", tight_options(GetParam()), {.files = &files});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    Batch batch;
    for (std::uint64_t i = 0; i < 2000; ++i) batch.put(key_of(1, i), fmt::format("{:20}", i));
    ASSERT_TRUE(db->write(batch).ok());
    std::latch moving(kWalkers);
    for (int i = 0; i < kWalkers; ++i) {
      walkers.emplace_back([&moving, it = db->scan(), then = db->snapshot()]() mutable {
        walk_until_closed(std::move(it), std::move(then), moving);
      });
      ASSERT_TRUE(db->write(batch).ok());  // Causes flushes and compactions.
    }
    moving.wait();
    EXPECT_EQ(db->close().code(), StatusCode::kBusy);
    { const DB gone = *std::move(db); }
  }
}

INSTANTIATE_TEST_SUITE_P(Policies, Threads, ::testing::ValuesIn(kPolicies));

}  // namespace
}  // namespace tamis
