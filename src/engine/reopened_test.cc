// What a store holds is the same when it is opened with other options. The model test does this at random; here is one
// case of each capability.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBegin = 1'700'000'000'000;

std::string key(int i) { return fmt::format("key{:03}", i); }
std::string value(int i, char letter) { return fmt::format("{} ", i) + std::string(300, letter); }

class Reopened : public ::testing::Test {
 protected:
  static Options small() {
    Options options{.memory_bytes = 4 << 20, .memtable_bytes = 64 << 10, .table_bytes = 64 << 10};
    options.fanout = 2;
    return options;
  }
  void open(const Options& options) {
    db_ = DB();
    Result<DB> opened = DB::open("/store", options,
                                 {.files = &files_,
                                  .random_seed = 1,
                                  .runs_in_background = false,
                                  .unix_milliseconds = [this] { return kBegin + passed_; },
                                  .uptime_milliseconds = [this] { return passed_; }});
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db_ = *std::move(opened);
  }
  void put(int i, char letter) {
    ASSERT_TRUE(db_.put(key(i), value(i, letter)).ok());
    model_[key(i)] = value(i, letter);
  }
  void remove_range(int from, int to) {
    ASSERT_TRUE(db_.remove_range(key(from), key(to)).ok());
    model_.erase(model_.lower_bound(key(from)), model_.lower_bound(key(to)));
  }
  void expect_model(const std::string& where) {
    std::map<std::string, std::string> found;
    Iterator at = db_.scan();
    for (; at.valid(); at.next()) found.emplace(at.key(), at.value());
    EXPECT_TRUE(at.status().ok()) << where << ": " << at.status().to_text();
    EXPECT_TRUE(found == model_) << where << ": " << found.size() << " keys, not " << model_.size();
    for (int i = 0; i < 200; i += 7) EXPECT_EQ(*db_.exists(key(i)), model_.contains(key(i))) << where << ": " << i;
    EXPECT_TRUE(db_.verify()->ok()) << where;
  }

  MemoryFileSystem files_;
  std::uint64_t passed_ = 0;
  std::map<std::string, std::string> model_;
  DB db_;
};

/// The range deletes are alive when the policy changes: older runs overlap them.
TEST_F(Reopened, Rule25_RangeDeletesHideTheSameUnderAnotherPolicy) {
  Options options = small();
  options.compaction = "manual";
  open(options);
  for (int i = 0; i < 200; ++i) put(i, 'a');
  ASSERT_TRUE(db_.flush().ok());
  int from = 10;
  for (const char* policy : {"manual", "tiered", "leveled", "lazy", "tiered", "manual"}) {
    options.compaction = policy;
    options.block_bytes = options.block_bytes == 1024 ? 4096 : 1024;
    options.filter = options.filter == "none" ? "auto" : "none";
    open(options);
    expect_model(fmt::format("opened as {}", policy));
    remove_range(from, from + 25);
    put(from + 3, 'n');
    ASSERT_TRUE(db_.flush().ok());
    for (int i = 150; i < 200; ++i) put(i, 'b');
    remove_range(from + 140, from + 145);
    ASSERT_TRUE(db_.wait_idle().ok());
    expect_model(fmt::format("written as {}", policy));
    from += 13;
  }
  ASSERT_TRUE(db_.compact().ok());
  expect_model("compacted");
}

TEST_F(Reopened, Rule41_ValuesAreReadWhereverAnEarlierThresholdPutThem) {
  Options options = small();
  for (const std::uint64_t threshold : {100, 0, 301, 0, 100}) {
    options.value_bytes_apart = threshold;
    open(options);
    expect_model(fmt::format("opened with {}", threshold));
    for (int i = static_cast<int>(threshold % 7); i < 200; i += 3) put(i, 'a');
    ASSERT_TRUE(db_.flush().ok());
    expect_model(fmt::format("flushed with {}", threshold));
    ASSERT_TRUE(db_.compact().ok());
    expect_model(fmt::format("compacted with {}", threshold));
    EXPECT_GT(db_.stats().values.files, 0U);
  }
  options.value_bytes_apart = 0;
  open(options);
  for (int i = 0; i < 200; ++i) put(i, 'z');
  ASSERT_TRUE(db_.compact().ok());
  expect_model("all of it written again");
  EXPECT_EQ(db_.stats().values.files, 0U);
}

TEST_F(Reopened, Rule28_AnotherDefaultExpiryIsForLaterPutsAlone) {
  const auto due = [&](std::string_view wanted) {
    Iterator at = db_.scan();
    at.seek(wanted);
    return at.expires_at() ? (at.expires_at()->time_since_epoch() - std::chrono::milliseconds(kBegin)) / 1min : 0;
  };
  Options options = small();
  options.default_expiry = 10min;
  open(options);
  put(1, 'a');
  options.default_expiry = 0min;
  open(options);
  put(2, 'a');
  options.default_expiry = 60min;
  open(options);
  put(3, 'a');
  for (const bool is_compacted : {false, true}) {
    if (is_compacted) {
      ASSERT_TRUE(db_.compact().ok());
    }
    EXPECT_EQ(due(key(1)), 10);
    EXPECT_EQ(due(key(2)), 0);
    EXPECT_EQ(due(key(3)), 60);
  }
  passed_ = 11 * 60'000;
  options.default_expiry = 0min;
  open(options);
  model_.erase(key(1));
  expect_model("after ten minutes");
  passed_ = 61 * 60'000;
  ASSERT_TRUE(db_.compact().ok());
  model_.erase(key(3));
  expect_model("after an hour");
}

/// With little memory the transaction goes to tables at once (rule 37), with much to the journal.
TEST_F(Reopened, Rule37_TransactionsAreWholeWhateverTheMemory) {
  Options options = small();
  for (const std::uint64_t memory : {1 << 20, 64 << 20, 1 << 20}) {
    options.memory_bytes = memory;
    options.journal = memory == 1 << 20 ? "write" : "auto";
    open(options);
    expect_model(fmt::format("opened with {} bytes", memory));
    const Status done = db_.transact([&](Transaction& tx) -> Status {
      if (const auto read = tx.get(key(0)); !read.ok()) return read.status();
      for (int i = 0; i < 200; ++i) {
        if (Status put = tx.put(key(i), std::string(2000, static_cast<char>('a' + memory % 23))); !put.ok()) return put;
      }
      return tx.remove_range(key(20), key(40));
    });
    ASSERT_TRUE(done.ok()) << done.to_text();
    for (int i = 0; i < 200; ++i) model_[key(i)] = std::string(2000, static_cast<char>('a' + memory % 23));
    model_.erase(model_.lower_bound(key(20)), model_.lower_bound(key(40)));
    expect_model(fmt::format("written with {} bytes", memory));
  }
}

/// The value may be in a value file or a table, be the fold of operands, or expire.
TEST_F(Reopened, ConditionalPutsCompareTheSameValue) {
  Options options = small();
  options.merge_operator = "append";
  std::string expected = value(1, 'a');
  open(options);
  ASSERT_TRUE(*db_.put_if(key(1), std::nullopt, expected));
  int round = 0;
  for (const std::uint64_t threshold : {100, 0, 100}) {
    options.value_bytes_apart = threshold;
    options.compaction = threshold == 0 ? "tiered" : "leveled";
    options.default_expiry = threshold == 0 ? 0min : 10min;
    open(options);
    EXPECT_FALSE(*db_.put_if(key(1), std::nullopt, "other"));
    EXPECT_FALSE(*db_.put_if(key(1), expected + "x", "other"));
    const std::string next = value(++round, 'b');
    EXPECT_TRUE(*db_.put_if(key(1), expected, next)) << threshold;
    ASSERT_TRUE(db_.merge(key(1), "+").ok() && db_.flush().ok());
    expected = next + "+";
  }
  open(small());
  EXPECT_TRUE(*db_.remove_if(key(1), expected));
  EXPECT_FALSE(*db_.exists(key(1)));
}

}  // namespace
}  // namespace tamis
