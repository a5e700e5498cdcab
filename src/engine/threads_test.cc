// Writers, readers, walkers and snapshots at once, while flushes and compactions run behind them.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <atomic>
#include <charconv>
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

std::string key_of(std::uint64_t writer, std::uint64_t i) { return fmt::format("{}/{:05}", writer, i); }

std::uint64_t number_in(std::string_view value) {
  std::uint64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

/// Every writer puts its keys round after round, the round's number in front of each value; in a batch, so that all
/// of its keys have the same number at every moment.
class Crowd {
 public:
  explicit Crowd(DB& db) : db_(db) {}

  void run() {
    std::vector<std::jthread> threads;
    for (std::uint64_t writer = 0; writer < kWriters; ++writer) threads.emplace_back([this, writer] { write(writer); });
    threads.emplace_back([this] { get(); });
    threads.emplace_back([this] { multi_get(); });
    threads.emplace_back([this] { walk(); });
    threads.emplace_back([this] { look_back(); });
    threads.emplace_back([this] { tend(); });
  }

 private:
  void write(std::uint64_t writer) {
    Batch batch;
    for (std::uint64_t round = 1; round <= kRounds; ++round) {
      batch.clear();
      for (std::uint64_t i = 0; i < kKeys; ++i) batch.put(key_of(writer, i), fmt::format("{} {:40}", round, i));
      const Status written = db_.write(batch, {.sync = round % 16 == 0});
      EXPECT_TRUE(written.ok()) << written.to_text();
      finished_rounds_[writer].store(round, std::memory_order_release);
    }
    ++finished_writers_;
  }

  /// What was acknowledged before the get is there.
  void get() {
    SplitMix64 random(1);
    std::string value;
    while (finished_writers_ < kWriters) {
      const std::uint64_t writer = random.below(kWriters);
      const std::uint64_t known = finished_rounds_[writer].load(std::memory_order_acquire);
      const Result<bool> found = db_.get(key_of(writer, random.below(kKeys)), &value);
      ASSERT_TRUE(found.ok()) << found.status().to_text();
      EXPECT_GE(*found ? number_in(value) : 0, known);
      const Result<bool> absent = db_.get("3/absent", &value);
      ASSERT_TRUE(absent.ok());
      EXPECT_FALSE(*absent);
    }
  }

  /// One moment: two keys of a writer are of the same round.
  void multi_get() {
    SplitMix64 random(2);
    while (finished_writers_ < kWriters) {
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

  void walk() {
    SplitMix64 random(3);
    while (finished_writers_ < kWriters) {
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
    }
  }

  /// A snapshot says the same again and again, whatever is compacted meanwhile.
  void look_back() {
    while (finished_writers_ < kWriters) {
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
    while (finished_writers_ < kWriters) {
      const Status flushed = db_.flush();
      EXPECT_TRUE(flushed.ok()) << flushed.to_text();
      const Status compacted = db_.compact();
      EXPECT_TRUE(compacted.ok()) << compacted.to_text();
      EXPECT_LE(db_.stats().levels.size(), 8U);
      const Result<Explanation> explained = db_.explain(key_of(1, 1));
      EXPECT_TRUE(explained.ok());
    }
  }

  DB& db_;
  std::atomic<std::uint64_t> finished_writers_ = 0;
  std::atomic<std::uint64_t> finished_rounds_[kWriters] = {};
};

struct Behind {
  std::string compaction;
  std::uint32_t background_threads;
};
void PrintTo(const Behind& behind, std::ostream* out) {
  *out << behind.compaction << ", threads " << behind.background_threads;
}

class Threads : public ::testing::TestWithParam<Behind> {};

TEST_P(Threads, ReadersSeeWholeBatchesWhateverRunsBehindThem) {
  MemoryFileSystem files;
  const Options options{.memory_bytes = 1 << 20,  // Indexes and filters come and go.
                        .memtable_bytes = 64 << 10,
                        .block_bytes = 1024,
                        .table_bytes = 16 << 10,
                        .prefix_rule = {.kind = PrefixRule::Kind::kFirst, .argument = 2},
                        .compaction = GetParam().compaction,
                        .fanout = 3,
                        .background_threads = GetParam().background_threads};
  Result<DB> db = DB::open("/store", options, {.files = &files});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  Crowd(*db).run();
  const Result<VerifyReport> verified = db->verify();
  ASSERT_TRUE(verified.ok());
  EXPECT_TRUE(verified->ok()) << verified->problems.front().what;
  const Status closed = db->close();
  EXPECT_TRUE(closed.ok()) << closed.to_text();
}

INSTANTIATE_TEST_SUITE_P(Policies, Threads,
                         ::testing::Values(Behind{"leveled", 2}, Behind{"leveled", 1}, Behind{"tiered", 2},
                                           Behind{"lazy", 2}));

}  // namespace
}  // namespace tamis
