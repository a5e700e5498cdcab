// DB::transact, put_if and remove_if, and transactions at their limits, through the public headers.
#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "api/transaction_store.h"

namespace tamis::test {
namespace {

using Transact = TransactionStore;

TEST_F(Transact, Rule39_RunsAgainOnConflictOnly) {
  put("n", "0");
  int runs = 0;
  const auto add_one = [&](Transaction& tx) -> Status {
    const Result<std::optional<std::string>> value = tx.get("n");
    if (!value.ok()) return value.status();
    ++runs;
    EXPECT_TRUE(runs >= 4 || db_.put("n", fmt::format("{}", 10 * runs)).ok());
    return tx.put("n", fmt::format("{}", std::stoi(**value) + 1));
  };
  EXPECT_TRUE(db_.transact(add_one).ok());
  EXPECT_EQ(runs, 4);
  EXPECT_EQ(value_of("n"), "31");
  runs = 0;
  const Status always = db_.transact(
      [&](Transaction& tx) -> Status {
        ++runs;
        EXPECT_TRUE(tx.get("n").ok());
        EXPECT_TRUE(db_.put("n", "0").ok());
        return tx.put("n", "1");
      },
      {.max_tries = 5});
  EXPECT_EQ(always.code(), kConflict);
  EXPECT_EQ(runs, 5);
  runs = 0;
  const Status failed = db_.transact([&](Transaction& tx) {
    ++runs;
    EXPECT_TRUE(tx.put("n", "never").ok());
    return Status::io_error("the caller's own");
  });
  EXPECT_EQ(failed.code(), StatusCode::kIoError);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(value_of("n"), "0");
  EXPECT_TRUE(db_.transact([](Transaction& tx) { return tx.rollback(); }).ok());
}

TEST_F(Transact, PutIfChangesOnlyTheExpectedValue) {
  Keyspace users = *db_.keyspace("users");
  EXPECT_FALSE(*db_.put_if("a", "1", "2"));
  EXPECT_TRUE(*db_.put_if("a", std::nullopt, "1"));
  EXPECT_FALSE(*db_.put_if("a", std::nullopt, "2"));
  EXPECT_FALSE(*db_.put_if("a", "2", "3"));
  EXPECT_TRUE(*db_.put_if("a", "1", ""));
  EXPECT_FALSE(*db_.put_if("a", std::nullopt, "2")) << "an empty value is a value";
  EXPECT_FALSE(*db_.remove_if("a", "1"));
  EXPECT_TRUE(*db_.remove_if("a", ""));
  EXPECT_FALSE(*db_.remove_if("a", ""));
  EXPECT_EQ(value_of("a"), "absent");
  EXPECT_TRUE(*users.put_if("a", std::nullopt, "1"));
  EXPECT_FALSE(*users.remove_if("a", "2"));
  EXPECT_TRUE(*users.remove_if("a", "1", {.sync = true}));
  EXPECT_EQ(db_.put_if(std::string(Batch::kMaxKeyBytes + 1, 'k'), std::nullopt, "").status().code(), kInvalid);
  ASSERT_TRUE(db_.drop_keyspace("users").ok());
  EXPECT_EQ(users.put_if("a", std::nullopt, "1").status().code(), kInvalid);
}

TEST_F(Transact, CountersOfManyThreadsLoseNothing) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 200;
  put("n", "0");
  std::atomic<int> failures = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < kTimes; ++j) {
        const auto add_one = [](Transaction& tx) -> Status {
          const Result<std::optional<std::string>> value = tx.get("n");
          if (!value.ok()) return value.status();
          return tx.put("n", fmt::format("{}", std::stoi(**value) + 1));
        };
        if (i % 2 == 0) {
          failures += db_.transact(add_one, {.max_tries = 100'000}).ok() ? 0 : 1;
          continue;
        }
        while (true) {
          const std::string before = **db_.get("n");
          const Result<bool> changed = db_.put_if("n", before, fmt::format("{}", std::stoi(before) + 1));
          if (changed.ok() && *changed) break;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(value_of("n"), fmt::format("{}", kThreads * kTimes));
}

TEST_F(Transact, Rule39_OneOfAnySizeCommits) {
  open({.memory_bytes = 1 << 20});
  put("read", "1");
  const std::string value(4096, 'v');
  for (const bool is_conflict : {true, false}) {
    Transaction tx = db_.begin();
    EXPECT_EQ(text(tx.get("read")), "1");
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(tx.put(fmt::format("k{}", i), value).ok());
    if (is_conflict) put("read", "1");
    EXPECT_EQ(tx.commit().code(), is_conflict ? kConflict : StatusCode::kOk);
    EXPECT_EQ(value_of("k199"), is_conflict ? "absent" : value);
  }
  Transaction beside = db_.begin();
  EXPECT_EQ(text(beside.get("k7")), value);
  ASSERT_TRUE(beside.put("other", "1").ok());
  Batch large;
  for (int i = 0; i < 200; ++i) large.put(fmt::format("k{}", i), value);
  ASSERT_TRUE(db_.write(large).ok());
  EXPECT_EQ(beside.commit().code(), kConflict) << "a large commit is a write like any other";
}

TEST_F(Transact, Rule39_OneOlderThanTheKeptCommitsConflicts) {
  open({.memory_bytes = 1 << 20});
  Transaction tx = db_.begin();
  EXPECT_EQ(text(tx.get("read")), "absent");
  ASSERT_TRUE(tx.put("other", "1").ok());
  std::uint64_t most_bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    put(fmt::format("a longer key of some commit, number {}", i), "");
    most_bytes = std::max(most_bytes, db_.stats().transactions.window_bytes);
  }
  EXPECT_GT(most_bytes, 10'000U);
  EXPECT_LE(most_bytes, (1U << 20) / 64 + 500);
  EXPECT_EQ(tx.commit().to_text(),
            "conflict: the transaction is older than the recent commits that are kept in memory");
  put("a", "1");
  EXPECT_EQ(db_.stats().transactions.window_bytes, 0U) << "nobody needs them";
}

}  // namespace
}  // namespace tamis::test
