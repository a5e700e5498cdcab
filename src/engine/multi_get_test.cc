// multi_get answers as get does, wherever the keys are.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "support/faulty_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

using Answer = Result<std::optional<std::string>>;

constexpr std::uint64_t kNumbers = 3000;

std::string key_of(std::uint64_t number) {
  return number == 0 ? std::string() : fmt::format("{}key{:06}", number % 3 == 0 ? "" : "some long prefix/", number);
}

std::vector<Answer> multi_get(const DB& db, const std::vector<std::string>& keys, const ReadOptions& options = {}) {
  return db.multi_get(std::vector<std::string_view>(keys.begin(), keys.end()), options);
}

void expect_as_get(const DB& db, const std::vector<std::string>& keys, const ReadOptions& options = {}) {
  const std::vector<Answer> answers = multi_get(db, keys, options);
  ASSERT_EQ(answers.size(), keys.size());
  static std::vector<std::optional<std::string>> reused;  // Keeps its contents between calls.
  const Status read = db.multi_get(std::vector<std::string_view>(keys.begin(), keys.end()), &reused, options);
  ASSERT_TRUE(read.ok()) << read.to_text();
  ASSERT_EQ(reused.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Answer alone = db.get(keys[i], options);
    ASSERT_TRUE(alone.ok() && answers[i].ok()) << alone.status().to_text() << answers[i].status().to_text();
    ASSERT_EQ(*answers[i], *alone) << "key " << keys[i] << ", " << i << " of " << keys.size();
    ASSERT_EQ(reused[i], *alone) << "key " << keys[i] << ", " << i << " of " << keys.size();
  }
}

class MultiGet : public ::testing::Test {
 protected:
  void open(const Options& options) {
    db_.reset();
    Result<DB> db = DB::open(path_, options, {.files = &files_, .random_seed = 1, .runs_in_background = false});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    db_.emplace(*std::move(db));
  }
  /// Puts some of the numbers below kNumbers and removes others.
  void change(std::uint64_t round) {
    Batch batch;
    for (int i = 0; i < 400; ++i) {
      const std::string key = key_of(random_.below(kNumbers));
      if (random_.below(4) == 0) {
        batch.remove(key);
      } else {
        batch.put(key, fmt::format("{} of round {}{}", key, round, std::string(random_.below(150), '.')));
      }
    }
    ASSERT_TRUE(db_->write(batch).ok());
  }
  /// Makes a few runs, many versions of one key, and changes in the memtable.
  void fill() {
    for (std::uint64_t round = 0; round < 6; ++round) {
      change(round);
      for (int i = 0; i < 300; ++i) ASSERT_TRUE(db_->put("often", fmt::format("{} {}", round, i)).ok());
      if (round == 3) early_.emplace(db_->snapshot());
      ASSERT_TRUE(db_->flush().ok());
    }
    late_.emplace(db_->snapshot());
    change(6);
  }
  /// Present, removed and absent keys, some of them twice.
  std::vector<std::string> some_keys(std::size_t count) {
    std::vector<std::string> keys;
    while (keys.size() < count) {
      switch (random_.below(8)) {
        case 0: keys.push_back(keys.empty() ? "often" : keys[random_.below(keys.size())]); break;
        case 1: keys.push_back(key_of(random_.below(kNumbers)) + "x"); break;
        case 2: keys.emplace_back("often"); break;
        default: keys.push_back(key_of(random_.below(kNumbers)));
      }
    }
    return keys;
  }
  void let_go() {
    early_.reset();
    late_.reset();
  }

  MemoryFileSystem files_;
  std::string path_ = "/store";
  std::optional<DB> db_;
  std::optional<Snapshot> early_;
  std::optional<Snapshot> late_;
  SplitMix64 random_{5};
};

/// Cold and warm, at the newest sequence and at snapshots, for every group size.
TEST_F(MultiGet, AnswersAsGetDoesWhateverIsInMemory) {
  std::vector<Options> all(4);
  all[1].block_bytes = 1024;
  all[2].filter = "none";
  all[3].memory_bytes = 1 << 20;
  all[3].memtable_bytes = 64 << 10;
  for (Options& options : all) {
    SCOPED_TRACE(&options - all.data());
    options.compaction = "manual";
    path_ = fmt::format("/store{}", &options - all.data());
    ASSERT_NO_FATAL_FAILURE(open(options));
    fill();
    for (const std::size_t count : {1, 2, 31, 32, 33, 64, 100}) {
      expect_as_get(*db_, some_keys(count));
      expect_as_get(*db_, some_keys(count), {.snapshot = &*early_});
      expect_as_get(*db_, some_keys(count), {.snapshot = &*late_, .fills_cache = false});
    }
    let_go();
    open(options);
    for (int i = 0; i < 20; ++i) expect_as_get(*db_, some_keys(70), {.fills_cache = i % 2 == 0});
    db_.reset();
  }
}

TEST_F(MultiGet, OfNoKeysOrOfAnEmptyStoreFindsNothing) {
  open({});
  EXPECT_TRUE(multi_get(*db_, {}).empty());
  for (const Answer& answer : multi_get(*db_, some_keys(40))) EXPECT_EQ(*answer, std::nullopt);
}

TEST_F(MultiGet, WithASnapshotOfAnotherStoreEveryAnswerSaysSo) {
  open({});
  Result<DB> other = DB::open("/other", {}, {.files = &files_, .random_seed = 1, .runs_in_background = false});
  ASSERT_TRUE(other.ok());
  const Snapshot foreign = other->snapshot();
  for (const Answer& answer : multi_get(*db_, some_keys(40), {.snapshot = &foreign})) {
    EXPECT_EQ(answer.status().code(), StatusCode::kInvalidArgument);
  }
}

/// A store with one table of 1,000 keys in key order, about 20 per block.
class MultiGetFromDisk : public MultiGet {
 protected:
  static constexpr std::uint64_t kKeys = 1000;
  static constexpr std::uint64_t kStride = 40;  // Keys this far apart never share a block.

  void SetUp() override {
    open({.block_bytes = 2048, .compaction = "manual"});
    Batch batch;
    for (std::uint64_t i = 0; i < kKeys; ++i) batch.put(key(i), std::string(100, static_cast<char>('a' + i % 26)));
    ASSERT_TRUE(db_->write(batch).ok() && db_->flush().ok());
    db_.reset();
  }
  static std::string key(std::uint64_t i) { return fmt::format("key{:06}", i); }
  static std::vector<std::string> far_keys() {
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < kKeys; i += kStride) keys.push_back(key(i));
    return keys;
  }
  std::string table_path() {
    for (const std::string& name : test::names_in(files_, "/store")) {
      if (name.ends_with(".tms")) return "/store/" + name;
    }
    return "";
  }
};

TEST_F(MultiGetFromDisk, ADamagedBlockFailsOnlyItsKeys) {
  {
    const std::string bytes = *read_whole_file(files_, table_path());
    const std::size_t at = bytes.find(std::string(100, 'a'));  // The value of the first key.
    ASSERT_NE(at, std::string::npos);
    test::overwrite(files_, table_path(), at, "?");
  }
  open({.compaction = "manual"});
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> keys = far_keys();
    keys.push_back(key(1));
    const std::vector<Answer> answers = multi_get(*db_, keys);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const bool is_damaged = i == 0 || i + 1 == keys.size();
      ASSERT_EQ(answers[i].ok(), !is_damaged) << keys[i] << answers[i].status().to_text();
      if (is_damaged) {
        EXPECT_EQ(answers[i].status().code(), StatusCode::kCorruption);
        EXPECT_NE(answers[i].status().message().find(table_path()), std::string::npos);
      } else {
        EXPECT_TRUE(answers[i]->has_value());
      }
    }
  }
}

TEST_F(MultiGetFromDisk, AReadThatFailsFailsOnlyItsKeys) {
  const std::vector<std::string> keys = far_keys();
  std::uint64_t opening = 0;
  {
    FaultyFileSystem counting(files_);
    ASSERT_TRUE(test::open_db(counting).get(key(kStride / 2)).ok());  // Loads index and filter.
    opening = counting.calls();
  }
  for (std::uint64_t failing = 0; failing < keys.size(); ++failing) {
    FaultyFileSystem faulty(files_, {.kind = FaultKind::kIoError, .at_call = opening + 1 + failing});
    const DB db = test::open_db(faulty);
    ASSERT_TRUE(db.get(key(kStride / 2)).ok());
    std::size_t failed = 0;
    for (const Answer& answer : multi_get(db, keys)) {
      if (answer.ok()) {
        EXPECT_TRUE(answer->has_value());
      } else {
        EXPECT_EQ(answer.status().code(), StatusCode::kIoError);
        ++failed;
      }
    }
    EXPECT_EQ(failed, 1U) << failing;
    expect_as_get(db, keys);
  }
}

}  // namespace
}  // namespace tamis
