// What <tamis/transaction.h> promises of one transaction beside other writes, through the public headers.
#include <string>
#include <utility>
#include <vector>

#include "api/transaction_store.h"

namespace tamis::test {
namespace {

constexpr TransactionOptions kAtSnapshot{.isolation = Isolation::kSnapshot};

using Transactions = TransactionStore;

TEST_F(Transactions, ReadsAsOfItsBeginAndItsOwnWrites) {
  put("a", "1");
  put("b", "1");
  Transaction tx = db_.begin();
  EXPECT_TRUE(tx.is_active());
  EXPECT_EQ(tx.sequence(), 2U);
  put("a", "2");
  put("c", "2");
  ASSERT_TRUE(tx.put("b", "own").ok() && tx.put("d", "own").ok() && tx.remove("a").ok());
  EXPECT_EQ(text(tx.get("a")), "absent");
  EXPECT_EQ(text(tx.get("b")), "own");
  EXPECT_EQ(text(tx.get("c")), "absent");
  EXPECT_EQ(text(tx.get("d")), "own");
  std::string value;
  EXPECT_TRUE(*tx.get("b", &value) && value == "own");
  EXPECT_FALSE(*tx.exists("a"));
  EXPECT_TRUE(*tx.exists("d"));
  const std::vector<std::string_view> keys = {"d", "c", "b", "a"};
  const auto values = tx.multi_get(keys);
  ASSERT_EQ(values.size(), 4U);
  EXPECT_EQ(text(values[0]), "own");
  EXPECT_EQ(text(values[1]), "absent");
  EXPECT_EQ(text(values[2]), "own");
  EXPECT_EQ(text(values[3]), "absent");
  EXPECT_EQ(all_of(tx.scan()), "b=own d=own");
  EXPECT_EQ(all_of(tx.scan({.reverse = true})), "d=own b=own");
  EXPECT_EQ(value_of("b"), "1") << "nobody else sees them before the commit";
}

TEST_F(Transactions, ManyOwnWritesAreReadLikeAFew) {
  for (int i = 0; i < 40; i += 2) put(fmt::format("k{:02}", i), "old");
  Transaction tx = db_.begin();
  for (int i = 0; i < 40; i += 2) put(fmt::format("k{:02}", i), "later");
  for (int i = 0; i < 40; i += 4) ASSERT_TRUE(tx.put(fmt::format("k{:02}", i), fmt::format("{}", i)).ok());
  for (int i = 2; i < 40; i += 8) ASSERT_TRUE(tx.remove(fmt::format("k{:02}", i)).ok());
  for (int i = 0; i < 40; ++i) {
    const std::string wanted = i % 2 != 0   ? "absent"
                               : i % 4 == 0 ? fmt::format("{}", i)
                               : i % 8 == 2 ? "absent"
                                            : "old";
    EXPECT_EQ(text(tx.get(fmt::format("k{:02}", i))), wanted) << i;
  }
  EXPECT_EQ(all_of(tx.scan({.from = "k08", .to = "k17"})), "k08=8 k12=12 k14=old k16=16");
  EXPECT_EQ(all_of(tx.scan({.from = "k08", .to = "k17", .reverse = true})), "k16=16 k14=old k12=12 k08=8");
  EXPECT_EQ(all_of(tx.scan({.prefix = "k3"})), "k30=old k32=32 k36=36 k38=old");
}

TEST_F(Transactions, AScanSeesTheWritesBeforeItAndNoneAfter) {
  put("b", "1");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("a", "own").ok());
  Iterator it = tx.scan();
  ASSERT_TRUE(tx.put("c", "own").ok() && tx.put("a", "again").ok());
  EXPECT_EQ(all_of(std::move(it)), "a=own b=1");
  EXPECT_EQ(all_of(tx.scan()), "a=again b=1 c=own");
}

TEST_F(Transactions, CommitsAllOrRollsBackAll) {
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("a", "1").ok() && tx.put("b", "1").ok());
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(value_of("a") + value_of("b"), "11");
  Transaction dropped = db_.begin();
  ASSERT_TRUE(dropped.put("a", "2").ok());
  ASSERT_TRUE(dropped.rollback().ok());
  {
    Transaction forgotten = db_.begin();
    ASSERT_TRUE(forgotten.put("a", "3").ok());
  }
  EXPECT_EQ(value_of("a"), "1");
  const Stats stats = db_.stats();
  EXPECT_EQ(stats.transactions.committed, 1U);
  EXPECT_EQ(stats.transactions.conflicts, 0U);
  EXPECT_EQ(stats.transactions.live, 0U);
}

TEST_F(Transactions, Rule39_AWriteToWhatWasReadIsAConflictThatNamesTheKey) {
  put("read", "1");
  Transaction tx = db_.begin();
  EXPECT_EQ(text(tx.get("read")), "1");
  ASSERT_TRUE(tx.put("other", "1").ok());
  put("read", "2");
  const Status committed = tx.commit();
  EXPECT_EQ(committed.code(), kConflict);
  EXPECT_EQ(committed.to_text(), "conflict: the key 'read' was written since the transaction began");
  EXPECT_EQ(value_of("other"), "absent");
  EXPECT_EQ(db_.stats().transactions.conflicts, 1U);
}

TEST_F(Transactions, WritesElsewhereAreNoConflict) {
  put("read", "1");
  Transaction tx = db_.begin();
  EXPECT_EQ(text(tx.get("read")), "1");
  EXPECT_EQ(text(tx.get("absent")), "absent");
  EXPECT_EQ(all_of(tx.scan({.from = "s", .to = "t"})), "");
  ASSERT_TRUE(tx.put("written", "1").ok());
  for (const std::string_view key : {"reac", "read2", "absen", "absent2", "r", "t", "written"}) put(key, "2");
  EXPECT_TRUE(tx.commit().ok());
  EXPECT_EQ(value_of("written"), "1") << "a blind write is the later one";
}

TEST_F(Transactions, Rule40_AnAbsentKeyIsReadToo) {
  for (const bool uses_exists : {false, true}) {
    Transaction tx = db_.begin();
    if (uses_exists) {
      EXPECT_FALSE(*tx.exists("new"));
    } else {
      EXPECT_EQ(text(tx.get("new")), "absent");
    }
    ASSERT_TRUE(tx.put("other", "1").ok());
    ASSERT_TRUE(db_.put("new", "1").ok() && db_.remove("new").ok());
    EXPECT_EQ(tx.commit().code(), kConflict);
  }
  Transaction tx = db_.begin();
  const std::vector<std::string_view> keys = {"new", "newer"};
  ASSERT_EQ(tx.multi_get(keys).size(), 2U);
  ASSERT_TRUE(tx.put("other", "1").ok());
  put("newer", "1");
  EXPECT_EQ(tx.commit().code(), kConflict);
}

TEST_F(Transactions, ReadingAnOwnWriteReadsNothingOfTheStore) {
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("a", "own").ok());
  EXPECT_EQ(text(tx.get("a")), "own");
  EXPECT_TRUE(*tx.exists("a"));
  put("a", "2");
  EXPECT_TRUE(tx.commit().ok());
  EXPECT_EQ(value_of("a"), "own");
}

TEST_F(Transactions, OnlyReadsNeverConflict) {
  put("a", "1");
  Transaction tx = db_.begin();
  EXPECT_EQ(text(tx.get("a")), "1");
  put("a", "2");
  EXPECT_TRUE(tx.commit().ok());
  EXPECT_EQ(tx.commit().code(), kInvalid) << "it has ended";
}

/// A commit after this scan, with `key` written meanwhile.
Status commit_after_scan(DB& db, const ScanOptions& options, int steps, std::string_view key) {
  Transaction tx = db.begin();
  {
    Iterator it = tx.scan(options);
    for (int i = 0; i < steps && it.valid(); ++i) it.advance();
  }
  EXPECT_TRUE(tx.put("result", "1").ok());
  EXPECT_TRUE(db.put(key, "2").ok());
  const Status committed = tx.commit();
  EXPECT_TRUE(db.remove(key).ok() && db.remove("result").ok());
  return committed;
}

TEST_F(Transactions, Rule40_AScanReadsWhatItPassedWithTheGaps) {
  for (const std::string_view key : {"b", "d", "f", "h"}) put(key, "1");
  const auto is_conflict = [&](const ScanOptions& options, int steps, std::string_view key) {
    return commit_after_scan(db_, options, steps, key).code() == kConflict;
  };
  // On "b" only: everything before it was read as well.
  EXPECT_TRUE(is_conflict({}, 0, "a"));
  EXPECT_FALSE(is_conflict({}, 0, "c"));
  // On "d".
  EXPECT_TRUE(is_conflict({}, 1, "c"));
  EXPECT_FALSE(is_conflict({}, 1, "e"));
  // To the end: what follows the last key, too.
  EXPECT_TRUE(is_conflict({}, 4, "e"));
  EXPECT_TRUE(is_conflict({}, 4, "z"));
  // Only inside of its bounds.
  EXPECT_TRUE(is_conflict({.from = "c", .to = "g"}, 4, "c"));
  EXPECT_TRUE(is_conflict({.from = "c", .to = "g"}, 4, "fz"));
  EXPECT_FALSE(is_conflict({.from = "c", .to = "g"}, 4, "g"));
  EXPECT_FALSE(is_conflict({.from = "c", .to = "g"}, 4, "bz"));
  EXPECT_TRUE(is_conflict({.prefix = "x"}, 1, "xy"));
  EXPECT_FALSE(is_conflict({.prefix = "x"}, 1, "y"));
}

TEST_F(Transactions, Rule40_ABackwardScanDoesTheSame) {
  for (const std::string_view key : {"b", "d", "f", "h"}) put(key, "1");
  const auto is_conflict = [&](const ScanOptions& options, int steps, std::string_view key) {
    return commit_after_scan(db_, options, steps, key).code() == kConflict;
  };
  EXPECT_TRUE(is_conflict({.reverse = true}, 0, "z"));
  EXPECT_TRUE(is_conflict({.reverse = true}, 0, "i"));
  EXPECT_FALSE(is_conflict({.reverse = true}, 0, "e"));  // "h" is shown, "f" is read ahead.
  EXPECT_TRUE(is_conflict({.reverse = true}, 1, "g"));
  EXPECT_FALSE(is_conflict({.reverse = true}, 1, "c"));
  EXPECT_TRUE(is_conflict({.reverse = true}, 4, "a"));
  EXPECT_TRUE(is_conflict({.from = "c", .to = "g", .reverse = true}, 4, "c"));
  EXPECT_TRUE(is_conflict({.from = "c", .to = "g", .reverse = true}, 4, "fz"));
  EXPECT_FALSE(is_conflict({.from = "c", .to = "g", .reverse = true}, 4, "g"));
  EXPECT_FALSE(is_conflict({.from = "c", .to = "g", .reverse = true}, 4, "bz"));
}

TEST_F(Transactions, Rule40_SeeksReadTheirOwnIntervals) {
  for (const std::string_view key : {"b", "d", "f", "h", "j"}) put(key, "1");
  const auto is_conflict = [&](std::string_view written) {
    Transaction tx = db_.begin();
    {
      Iterator it = tx.scan({.from = "e", .to = "e1"});  // Nothing.
      Iterator wide = tx.scan({.from = "b"});
      wide.seek("g");         // On "h".
      wide.seek_before("d");  // On "b".
      EXPECT_EQ(wide.key(), "b");
    }
    EXPECT_TRUE(tx.put("result", "1").ok());
    const std::string before = value_of(written);
    EXPECT_TRUE(db_.put(written, "2").ok());
    const bool is_refused = tx.commit().code() == kConflict;
    EXPECT_TRUE(before == "absent" ? db_.remove(written).ok() : db_.put(written, before).ok());
    return is_refused;
  };
  EXPECT_TRUE(is_conflict("e0"));
  EXPECT_TRUE(is_conflict("b"));
  EXPECT_TRUE(is_conflict("g"));
  EXPECT_TRUE(is_conflict("h"));
  EXPECT_TRUE(is_conflict("c"));
  EXPECT_FALSE(is_conflict("d"));
  EXPECT_FALSE(is_conflict("f"));
  EXPECT_FALSE(is_conflict("i"));
}

TEST_F(Transactions, Rule40_AScanReadsBeneathItsOwnWrites) {
  put("d", "1");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("b", "own").ok() && tx.remove("d").ok());
  EXPECT_EQ(all_of(tx.scan()), "b=own");
  put("e", "2");
  EXPECT_EQ(tx.commit().code(), kConflict) << "the end of the scan was beyond its own delete";
}

TEST_F(Transactions, SnapshotIsolationChecksOnlyWhatItWrites) {
  put("a", "1");
  put("b", "1");
  Transaction skewed = db_.begin(kAtSnapshot);
  EXPECT_EQ(text(skewed.get("a")), "1");
  EXPECT_EQ(all_of(skewed.scan()), "a=1 b=1");
  ASSERT_TRUE(skewed.put("b", "2").ok());
  put("a", "2");
  EXPECT_TRUE(skewed.commit().ok()) << "what it read has changed, which is allowed";
  Transaction lost = db_.begin(kAtSnapshot);
  ASSERT_TRUE(lost.put("new", "2").ok() && lost.put("a", "3").ok());
  put("a", "4");
  EXPECT_EQ(lost.commit().code(), kConflict);
  EXPECT_EQ(value_of("a"), "4");
}

TEST_F(Transactions, SpansKeyspaces) {
  Keyspace users = *db_.keyspace("users");
  ASSERT_TRUE(users.put("a", "1").ok());
  put("a", "of default");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put(users, "b", "own").ok() && tx.put("b", "own of default").ok() && tx.remove(users, "a").ok());
  EXPECT_EQ(text(tx.get(users, "a")), "absent");
  EXPECT_EQ(text(tx.get("a")), "of default");
  EXPECT_TRUE(*tx.exists(users, "b"));
  std::string value;
  EXPECT_TRUE(*tx.get(users, "b", &value) && value == "own");
  EXPECT_EQ(all_of(tx.scan(users)), "b=own");
  EXPECT_EQ(all_of(tx.scan()), "a=of default b=own of default");
  const std::vector<std::string_view> keys = {"a", "b"};
  EXPECT_EQ(text(tx.multi_get(users, keys)[1]), "own");
  ASSERT_TRUE(users.put("z", "2").ok());
  EXPECT_EQ(tx.commit().code(), kConflict) << "the scan of users ended after every key";
  Transaction again = db_.begin();
  EXPECT_EQ(text(again.get(users, "a")), "1");
  ASSERT_TRUE(again.put(users, "a", "2").ok());
  put("a", "same key, other keyspace");
  EXPECT_TRUE(again.commit().ok());
  EXPECT_EQ(text(users.get("a")), "2");
}

TEST_F(Transactions, Rule39_ADroppedKeyspaceIsAConflict) {
  for (const bool writes : {false, true}) {
    Keyspace users = *db_.keyspace("users");
    ASSERT_TRUE(users.put("a", "1").ok());
    Transaction tx = db_.begin();
    EXPECT_EQ(text(tx.get(users, "a")), "1");
    ASSERT_TRUE(tx.put("b", "1").ok());
    ASSERT_TRUE(!writes || tx.put(users, "b", "1").ok());
    ASSERT_TRUE(db_.drop_keyspace("users").ok());
    EXPECT_EQ(text(tx.get(users, "a")), "1") << "as of its begin";
    EXPECT_EQ(tx.commit().code(), kConflict);
    EXPECT_EQ(value_of("b"), "absent");
    EXPECT_EQ(db_.begin().put(users, "a", "1").code(), kInvalid);
  }
}

TEST_F(Transactions, ASavepointDropsLaterWrites) {
  put("a", "1");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("a", "2").ok());
  const Savepoint first = *tx.savepoint();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(tx.put(fmt::format("x{}", i), "1").ok());
  ASSERT_TRUE(tx.remove("a").ok());
  const Savepoint second = *tx.savepoint();
  EXPECT_EQ(text(tx.get("a")), "absent");
  Iterator before = tx.scan({.prefix = "x1"});
  ASSERT_TRUE(tx.rollback_to(first).ok());
  EXPECT_EQ(text(tx.get("a")), "2");
  EXPECT_EQ(all_of(tx.scan()), "a=2");
  EXPECT_EQ(before.key(), "x1") << "a scan keeps what it saw";
  EXPECT_EQ(tx.rollback_to(second).code(), kInvalid) << "it was after the first";
  ASSERT_TRUE(tx.put("b", "3").ok());
  ASSERT_TRUE(tx.rollback_to(first).ok()) << "a savepoint can be used again";
  EXPECT_EQ(db_.begin().rollback_to(first).code(), kInvalid) << "another transaction's";
  EXPECT_EQ(tx.rollback_to({}).code(), kInvalid);
  ASSERT_TRUE(tx.put("c", "4").ok() && tx.commit().ok());
  EXPECT_EQ(all_of(db_.scan()), "a=2 c=4");
}

TEST_F(Transactions, ABatchBecomesPartOfIt) {
  Keyspace users = *db_.keyspace("users");
  Batch batch;
  batch.put("a", "1");
  batch.put(users, "a", "2");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("b", "0").ok() && tx.write(batch).ok());
  EXPECT_EQ(text(tx.get(users, "a")), "2");
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(value_of("a") + text(users.get("a")) + value_of("b"), "120");
  Batch refused;
  refused.put(std::string(Batch::kMaxKeyBytes + 1, 'k'), "");
  Transaction other = db_.begin();
  ASSERT_TRUE(other.put("c", "1").ok());
  EXPECT_EQ(other.write(refused).code(), kInvalid);
  EXPECT_EQ(other.put(std::string(Batch::kMaxKeyBytes + 1, 'k'), "").code(), kInvalid);
  EXPECT_EQ(other.remove(std::string(Batch::kMaxKeyBytes + 1, 'k')).code(), kInvalid);
  EXPECT_TRUE(other.commit().ok()) << "what was refused changed nothing";
  EXPECT_EQ(value_of("c"), "1");
}

TEST_F(Transactions, HandlesOfOtherStoresAreRefused) {
  DB other = *DB::open("/other", {}, {.files = &files_, .runs_in_background = false});
  Keyspace users = *other.keyspace("users");
  Transaction tx = db_.begin();
  EXPECT_EQ(tx.get(users, "a").status().code(), kInvalid);
  EXPECT_EQ(tx.put(users, "a", "1").code(), kInvalid);
  EXPECT_EQ(tx.scan(users).status().code(), kInvalid);
  Batch batch;
  batch.put(users, "a", "1");
  EXPECT_EQ(tx.write(batch).code(), kInvalid);
  const Snapshot snapshot = db_.snapshot();
  EXPECT_EQ(tx.scan({.snapshot = &snapshot}).status().code(), kInvalid);
}

TEST_F(Transactions, ALiveOneKeepsTheStoreOpenAndAnEndedOneDoesNot) {
  Transaction tx = db_.begin();
  const Status busy = db_.close();
  EXPECT_EQ(busy.code(), StatusCode::kBusy);
  EXPECT_NE(busy.message().find("transaction made at"), std::string_view::npos) << busy.to_text();
  ASSERT_TRUE(tx.put("a", "1").ok() && tx.commit().ok());
  Transaction dropped = db_.begin();
  ASSERT_TRUE(dropped.rollback().ok());
  EXPECT_TRUE(db_.close().ok());
  EXPECT_EQ(tx.get("a").status().code(), StatusCode::kClosed);
}

TEST_F(Transactions, OutlivesItsStore) {
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("a", "1").ok());
  Iterator it = tx.scan();
  db_ = DB();
  EXPECT_EQ(tx.get("a").status().code(), StatusCode::kClosed);
  EXPECT_EQ(tx.put("a", "2").code(), StatusCode::kClosed);
  EXPECT_EQ(tx.scan().status().code(), StatusCode::kClosed);
  EXPECT_EQ(tx.commit().code(), StatusCode::kClosed);
  it.next();
  EXPECT_EQ(it.status().code(), StatusCode::kClosed);
}

TEST_F(Transactions, Rule40_CompactionKeepsWhatItReads) {
  for (int i = 0; i < 100; ++i) put(fmt::format("k{:02}", i), "old");
  Transaction tx = db_.begin();
  for (int i = 0; i < 100; ++i) put(fmt::format("k{:02}", i), "new");
  ASSERT_TRUE(db_.compact().ok());
  EXPECT_EQ(text(tx.get("k50")), "old");
  EXPECT_EQ(all_of(tx.scan({.from = "k98"})), "k98=old k99=old");
}

TEST_F(Transactions, Rule40_ItsReadsMayOutgrowTheirMemory) {
  for (int i = 0; i < 200; ++i) put(fmt::format("k{:03}", i), "1");
  const auto commit_after = [&](std::string_view written) {
    Transaction tx = db_.begin({.max_read_bytes = 1000});
    for (int i = 0; i < 200; i += 2) EXPECT_EQ(text(tx.get(fmt::format("k{:03}", i))), "1");
    EXPECT_TRUE(tx.put("result", "1").ok());
    EXPECT_TRUE(db_.put(written, "1").ok());
    return tx.commit().code();
  };
  for (int i = 0; i < 200; i += 18) EXPECT_EQ(commit_after(fmt::format("k{:03}", i)), kConflict) << i;
  EXPECT_EQ(commit_after("k"), StatusCode::kOk) << "before all that was read";
  EXPECT_EQ(commit_after("l"), StatusCode::kOk) << "after it";
}

}  // namespace
}  // namespace tamis::test
