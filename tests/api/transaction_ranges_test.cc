// What <tamis/transaction.h> promises of range deletes in a transaction.
#include <string>
#include <utility>
#include <vector>

#include "api/transaction_store.h"

namespace tamis::test {
namespace {

constexpr TransactionOptions kAtSnapshot{.isolation = Isolation::kSnapshot};

class TransactionRanges : public TransactionStore {
 protected:
  void put_all(std::string_view keys) {
    for (const char key : keys) put(std::string(1, key), "1");
  }
  static std::string many(Transaction& tx, const std::vector<std::string_view>& keys) {
    std::string all;
    for (const auto& value : tx.multi_get(keys)) all += text(value) + " ";
    return all;
  }
};

TEST_F(TransactionRanges, Rule40_OwnReadsSeeTheRangeAsDeleted) {
  put_all("abcdef");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("c", "own").ok() && tx.remove_range("b", "e").ok());
  put("d", "later");
  EXPECT_EQ(text(tx.get("a")), "1");
  for (const std::string_view key : {"b", "c", "d"}) {
    EXPECT_EQ(text(tx.get(key)), "absent") << key;
    EXPECT_FALSE(*tx.exists(key)) << key;
  }
  EXPECT_EQ(text(tx.get("e")), "1") << "the end is exclusive";
  EXPECT_EQ(many(tx, {"f", "d", "c", "a"}), "1 absent absent 1 ");
  EXPECT_EQ(all_of(tx.scan()), "a=1 e=1 f=1");
  EXPECT_EQ(all_of(tx.scan({.reverse = true})), "f=1 e=1 a=1");
  EXPECT_EQ(all_of(tx.scan({.from = "b", .to = "e"})), "");
  EXPECT_EQ(all_of(tx.scan({.prefix = "c"})), "");
  Iterator it = tx.scan();
  it.seek("c");
  EXPECT_EQ(it.key(), "e");
  it.previous();
  EXPECT_EQ(it.key(), "a");
  it.seek_before("d");
  EXPECT_EQ(it.key(), "a");
}

TEST_F(TransactionRanges, ALaterPutInTheRangeIsVisibleAndCommitted) {
  put_all("abcdef");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("b", "old").ok() && tx.remove_range("b", "e").ok() && tx.put("c", "new").ok());
  EXPECT_EQ(text(tx.get("b")) + " " + text(tx.get("c")), "absent new");
  EXPECT_EQ(many(tx, {"b", "c", "d"}), "absent new absent ");
  EXPECT_EQ(all_of(tx.scan()), "a=1 c=new e=1 f=1");
  EXPECT_EQ(all_of(tx.scan({.reverse = true})), "f=1 e=1 c=new a=1");
  EXPECT_EQ(all_of(db_.scan()), "a=1 b=1 c=1 d=1 e=1 f=1") << "nobody else sees it before the commit";
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(all_of(db_.scan()), "a=1 c=new e=1 f=1");
  open();
  EXPECT_EQ(all_of(db_.scan()), "a=1 c=new e=1 f=1");
}

TEST_F(TransactionRanges, EachHidesTheOwnWritesBeforeIt) {
  Transaction tx = db_.begin();
  for (const std::string_view key : {"a", "b", "c"}) ASSERT_TRUE(tx.put(key, "1").ok());
  ASSERT_TRUE(tx.remove_range("a", "c").ok());
  for (const std::string_view key : {"b", "m", "n"}) ASSERT_TRUE(tx.put(key, "2").ok());
  ASSERT_TRUE(tx.remove_range("m", "n").ok() && tx.put("z", "3").ok());
  EXPECT_EQ(all_of(tx.scan()), "b=2 c=1 n=2 z=3");
  EXPECT_EQ(all_of(tx.scan({.reverse = true})), "z=3 n=2 c=1 b=2");
  EXPECT_EQ(many(tx, {"a", "b", "c", "m", "n"}), "absent 2 1 absent 2 ");
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(all_of(db_.scan()), "b=2 c=1 n=2 z=3");
}

TEST_F(TransactionRanges, AScanSeesTheRangesBeforeItAndNoneAfter) {
  put_all("abcdef");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("g", "own").ok());
  Iterator without = tx.scan();
  ASSERT_TRUE(tx.remove_range("b", "c").ok());
  Iterator with = tx.scan();
  ASSERT_TRUE(tx.put("a", "own").ok() && tx.remove_range("e", std::nullopt).ok());
  EXPECT_EQ(all_of(tx.scan()), "a=own c=1 d=1");
  EXPECT_EQ(all_of(std::move(without)), "a=1 b=1 c=1 d=1 e=1 f=1 g=own");
  EXPECT_EQ(all_of(std::move(with)), "a=1 c=1 d=1 e=1 f=1 g=own");
}

TEST_F(TransactionRanges, AnEmptyRangeIsNoWriteAndALongBoundIsRefused) {
  put_all("abc");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.remove_range("b", "b").ok() && tx.remove_range("c", "a").ok() && tx.remove_range("", "").ok());
  EXPECT_EQ(all_of(tx.scan()), "a=1 b=1 c=1");
  const std::string too_long(Batch::kMaxKeyBytes + 1, 'k');
  EXPECT_EQ(tx.remove_range(too_long, std::nullopt).code(), kInvalid);
  EXPECT_EQ(tx.remove_range("a", too_long).code(), kInvalid);
  ASSERT_TRUE(tx.remove_range("c", std::nullopt).ok()) << "what was refused changed nothing";
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(all_of(db_.scan()), "a=1 b=1");
  EXPECT_EQ(tx.remove_range("a", "b").code(), kInvalid) << "it has ended";
  EXPECT_EQ(Transaction().remove_range("a", "b").code(), StatusCode::kClosed);
}

TEST_F(TransactionRanges, OwnMergesAfterItFoldOntoNothing) {
  Keyspace counts = *db_.keyspace("counts", {.merge_operator = "append"});
  for (const std::string_view key : {"a", "b", "c"}) ASSERT_TRUE(counts.put(key, "stored").ok());
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.merge(counts, "a", "1").ok() && tx.merge(counts, "b", "1").ok());
  EXPECT_EQ(text(tx.get(counts, "b")), "stored1");
  ASSERT_TRUE(tx.remove_range(counts, "b", "c").ok());
  EXPECT_EQ(text(tx.get(counts, "b")), "absent");
  ASSERT_TRUE(tx.merge(counts, "b", "2").ok() && tx.merge(counts, "b", "3").ok() && tx.merge(counts, "c", "4").ok());
  EXPECT_EQ(text(tx.get(counts, "b")), "23");
  EXPECT_EQ(all_of(tx.scan(counts)), "a=stored1 b=23 c=stored4");
  EXPECT_EQ(all_of(tx.scan(counts, {.reverse = true})), "c=stored4 b=23 a=stored1");
  ASSERT_TRUE(counts.put("b", "meanwhile").ok());
  ASSERT_TRUE(tx.rollback().ok());
  // Without reads of the others, the range hides what came meanwhile.
  Transaction blind = db_.begin();
  ASSERT_TRUE(blind.remove_range(counts, "b", "c").ok() && blind.merge(counts, "b", "2").ok());
  EXPECT_EQ(text(blind.get(counts, "b")), "2");
  ASSERT_TRUE(counts.merge("b", "later").ok());
  ASSERT_TRUE(blind.commit().ok()) << "beneath the range nothing was read";
  EXPECT_EQ(text(counts.get("b")), "2");
}

TEST_F(TransactionRanges, ASavepointBringsTheRangeBack) {
  put_all("abcd");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.put("b", "own").ok());
  const Savepoint before = *tx.savepoint();
  ASSERT_TRUE(tx.remove_range("a", "d").ok());
  const Savepoint removed = *tx.savepoint();
  ASSERT_TRUE(tx.put("c", "own").ok());
  EXPECT_EQ(all_of(tx.scan()), "c=own d=1");
  ASSERT_TRUE(tx.rollback_to(removed).ok());
  EXPECT_EQ(all_of(tx.scan()), "d=1");
  EXPECT_EQ(text(tx.get("c")), "absent");
  ASSERT_TRUE(tx.rollback_to(before).ok());
  EXPECT_EQ(all_of(tx.scan()), "a=1 b=own c=1 d=1");
  EXPECT_EQ(text(tx.get("b")) + text(tx.get("c")), "own1");
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(all_of(db_.scan()), "a=1 b=own c=1 d=1");
}

TEST_F(TransactionRanges, SpansKeyspacesAndTakesBatches) {
  Keyspace users = *db_.keyspace("users");
  put_all("abc");
  for (const std::string_view key : {"a", "b", "c"}) ASSERT_TRUE(users.put(key, "2").ok());
  Batch batch;
  batch.remove_range("a", "b");
  batch.remove_range(users, "b", std::nullopt);
  batch.put(users, "z", "new");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.write(batch).ok() && tx.remove_range("c", "d").ok() && tx.remove_range(users, "", "a").ok());
  EXPECT_EQ(all_of(tx.scan()), "b=1");
  EXPECT_EQ(all_of(tx.scan(users)), "a=2 z=new");
  EXPECT_EQ(text(tx.get(users, "b")) + text(tx.get("b")), "absent1");
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(all_of(db_.scan()), "b=1");
  EXPECT_EQ(all_of(users.scan()), "a=2 z=new");
  EXPECT_EQ(db_.begin().remove_range(Keyspace(), "a", "b").code(), StatusCode::kClosed);
}

/// A transaction that has read `read` and writes elsewhere, beside one that removes a range.
TEST_F(TransactionRanges, Rule39_ConflictsWithReadsInsideIt) {
  put_all("bdf");
  enum class How { kGet, kScan, kBackwards };
  const auto is_conflict = [&](How how, std::string_view key, std::string_view from, std::string_view to) {
    Transaction reader = db_.begin();
    const std::string end = std::string(key) + "\x01";
    if (how == How::kGet) {
      (void)text(reader.get(key));
    } else {
      (void)all_of(reader.scan({.from = key, .to = end, .reverse = how == How::kBackwards}));
    }
    EXPECT_TRUE(reader.put("result", "1").ok());
    Transaction remover = db_.begin();
    EXPECT_TRUE(remover.remove_range(from, to).ok() && remover.commit().ok());
    const bool is_refused = reader.commit().code() == kConflict;
    for (const std::string_view again : {"b", "d", "f"}) EXPECT_TRUE(db_.put(again, "1").ok());
    return is_refused;
  };
  for (const How how : {How::kGet, How::kScan, How::kBackwards}) {
    EXPECT_TRUE(is_conflict(how, "d", "c", "e")) << "a key";
    EXPECT_TRUE(is_conflict(how, "c", "b", "d")) << "an absent key, or a gap";
    EXPECT_TRUE(is_conflict(how, "c", "c", "c1"));
    EXPECT_FALSE(is_conflict(how, "d", "b", "d"));
    EXPECT_FALSE(is_conflict(how, "d", "e", "f"));
  }
  Transaction reader = db_.begin();
  EXPECT_EQ(text(reader.get("d")), "1");
  ASSERT_TRUE(reader.put("other", "1").ok());
  ASSERT_TRUE(db_.remove_range("c", std::nullopt).ok());
  EXPECT_EQ(reader.commit().to_text(), "conflict: the key 'd' was written since the transaction began");
}

TEST_F(TransactionRanges, Rule40_ABlindOneReadsNothing) {
  put_all("bdf");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.remove_range("a", "e").ok());
  EXPECT_EQ(text(tx.get("b")), "absent");
  EXPECT_FALSE(*tx.exists("c"));
  put("c", "2");
  EXPECT_TRUE(tx.commit().ok()) << "it knew what is in the range without reading it";
  EXPECT_EQ(all_of(db_.scan()), "f=1");
  Transaction again = db_.begin();
  ASSERT_TRUE(again.remove_range("a", "e").ok());
  EXPECT_EQ(text(again.get("e")), "absent");
  put("e", "2");
  EXPECT_EQ(again.commit().code(), kConflict) << "the end is not of the range";
}

TEST_F(TransactionRanges, Rule40_AScanReadsBeneathIt) {
  put_all("bdf");
  Transaction tx = db_.begin();
  ASSERT_TRUE(tx.remove_range("c", std::nullopt).ok());
  EXPECT_EQ(all_of(tx.scan({.to = "e"})), "b=1");
  put("bb", "2");
  EXPECT_EQ(tx.commit().code(), kConflict);
}

TEST_F(TransactionRanges, Rule39_AtSnapshotIsolationTheFirstCommitterWins) {
  const auto other_writes = [&](int choice) {
    Keyspace counts = *db_.keyspace("counts", {.merge_operator = "append"});
    if (choice == 0) return counts.put("m", "2");
    if (choice == 1) return counts.remove("m");
    if (choice == 2) return counts.merge("m", "2");
    return counts.remove_range("l", "z");
  };
  Keyspace counts = *db_.keyspace("counts", {.merge_operator = "append"});
  for (int choice = 0; choice < 4; ++choice) {
    ASSERT_TRUE(counts.put("m", "1").ok());
    Transaction tx = db_.begin(kAtSnapshot);
    ASSERT_TRUE(tx.remove_range(counts, "k", "n").ok());
    ASSERT_TRUE(other_writes(choice).ok());
    EXPECT_EQ(tx.commit().code(), kConflict) << choice;
    Transaction beside = db_.begin(kAtSnapshot);
    ASSERT_TRUE(beside.remove_range(counts, "a", "l").ok());
    ASSERT_TRUE(other_writes(choice).ok());
    EXPECT_TRUE(beside.commit().ok()) << choice;
    Transaction point = db_.begin(kAtSnapshot);
    ASSERT_TRUE(point.merge(counts, "m", "3").ok());
    ASSERT_TRUE(counts.remove_range("m", "n").ok());
    EXPECT_EQ(point.commit().code(), kConflict) << choice;
  }
}

/// Also of a transaction that goes to tables at once (rule 37).
TEST_F(TransactionRanges, Rule37_LargeOnesRemoveRangesToo) {
  open({.memory_bytes = 1 << 20});
  for (const bool conflicts : {false, true}) {
    put_all("abcdef");
    Transaction tx = db_.begin();
    EXPECT_EQ(text(tx.get("f")), "1");
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(tx.put(fmt::format("b{:03}", i), std::string(1000, 'v')).ok());
    ASSERT_TRUE(tx.remove_range("b", "e").ok() && tx.put("c", "own").ok());
    for (int i = 0; i < 300; ++i) ASSERT_TRUE(tx.put(fmt::format("x{:03}", i), std::string(1000, 'v')).ok());
    ASSERT_TRUE(tx.remove_range("x", std::nullopt).ok());
    EXPECT_EQ(all_of(tx.scan({.to = "y"})), "a=1 c=own e=1 f=1");
    Transaction reader = db_.begin();
    EXPECT_EQ(text(reader.get("x")), "absent");
    ASSERT_TRUE(reader.put("r", "1").ok());
    if (conflicts) put("f", "2");
    EXPECT_EQ(tx.commit().code(), conflicts ? kConflict : StatusCode::kOk);
    EXPECT_EQ(reader.commit().code(), conflicts ? StatusCode::kOk : kConflict);
    EXPECT_EQ(all_of(db_.scan()), conflicts ? "a=1 b=1 c=1 d=1 e=1 f=2 r=1" : "a=1 c=own e=1 f=1");
  }
}

/// Many, so that the lists of range deletes and of own writes are searched.
TEST_F(TransactionRanges, ManyAreReadLikeAFew) {
  for (int i = 0; i < 1000; ++i) put(fmt::format("k{:03}", i), "1");
  Transaction tx = db_.begin();
  for (int i = 0; i < 1000; i += 10) {
    ASSERT_TRUE(tx.remove_range(fmt::format("k{:03}", i), fmt::format("k{:03}", i + 5)).ok());
    ASSERT_TRUE(tx.put(fmt::format("k{:03}", i + 2), "own").ok());
  }
  int count = 0;
  for (Iterator it = tx.scan(); it.valid(); it.advance()) ++count;
  EXPECT_EQ(count, 600);
  count = 0;
  for (Iterator it = tx.scan({.reverse = true}); it.valid(); it.advance()) ++count;
  EXPECT_EQ(count, 600);
  for (int i = 0; i < 1000; ++i) {
    const std::string wanted = i % 10 == 2 ? "own" : i % 10 < 5 ? "absent" : "1";
    ASSERT_EQ(text(tx.get(fmt::format("k{:03}", i))), wanted) << i;
  }
  ASSERT_TRUE(tx.commit().ok());
  EXPECT_EQ(value_of("k994") + value_of("k992") + value_of("k996"), "absentown1");
}

}  // namespace
}  // namespace tamis::test
