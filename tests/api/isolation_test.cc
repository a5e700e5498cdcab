// The anomalies that isolation levels are defined by (Adya's names, in the order of the Hermitage list), each as two or
// three transactions in one fixed interleaving. Every test runs at both levels and says what each of them allows.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/memory_file_system.h"

namespace tamis::test {
namespace {

class IsolationLevels : public ::testing::TestWithParam<Isolation> {
 protected:
  IsolationLevels() {
    db_ = *DB::open("/store", {}, {.files = &files_, .runs_in_background = false});
    EXPECT_TRUE(db_.put("x", "10").ok() && db_.put("y", "20").ok());
  }

  [[nodiscard]] static bool is_serializable() { return GetParam() == Isolation::kSerializable; }
  Transaction begin() { return db_.begin({.isolation = GetParam()}); }
  std::string both() { return **db_.get("x") + " " + **db_.get("y"); }

  MemoryFileSystem files_;
  DB db_;
};

std::string get(Transaction& tx, std::string_view key) {
  const Result<std::optional<std::string>> value = tx.get(key);
  return value.ok() ? value->value_or("absent") : value.status().to_text();
}

/// The keys that have this value: a predicate over all keys.
std::string keys_with(Transaction& tx, std::string_view wanted) {
  std::string keys;
  Iterator it = tx.scan();
  for (const auto& [key, value] : it) keys += value == wanted ? key : "";
  EXPECT_TRUE(it.status().ok()) << it.status().to_text();
  return keys;
}

bool commits(Transaction& tx) {
  const Status committed = tx.commit();
  EXPECT_TRUE(committed.ok() || committed.code() == StatusCode::kConflict) << committed.to_text();
  return committed.ok();
}

/// Two transactions write the same keys in turn: the result is one transaction's, whole.
TEST_P(IsolationLevels, G0DirtyWrite) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.put("x", "11").ok() && second.put("x", "12").ok());
  ASSERT_TRUE(first.put("y", "21").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(both(), "11 21");
  ASSERT_TRUE(second.put("y", "22").ok());
  // Serializable: blind writes are those of the later commit. Snapshot: the first committer wins.
  EXPECT_EQ(commits(second), is_serializable());
  EXPECT_EQ(both(), is_serializable() ? "12 22" : "11 21");
}

/// A write that is rolled back is never read.
TEST_P(IsolationLevels, G1aAbortedRead) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.put("x", "101").ok());
  EXPECT_EQ(get(second, "x"), "10");
  ASSERT_TRUE(first.rollback().ok());
  EXPECT_EQ(get(second, "x"), "10");
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(both(), "10 20");
}

/// A value that its transaction overwrites before the commit is never read.
TEST_P(IsolationLevels, G1bIntermediateRead) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.put("x", "101").ok());
  EXPECT_EQ(get(second, "x"), "10");
  ASSERT_TRUE(first.put("x", "11").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(get(second, "x"), "10");
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(both(), "11 20");
}

/// Two transactions never read each other's writes.
TEST_P(IsolationLevels, G1cCircularInformationFlow) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.put("x", "11").ok() && second.put("y", "22").ok());
  EXPECT_EQ(get(first, "y"), "20");
  EXPECT_EQ(get(second, "x"), "10");
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(commits(second), !is_serializable()) << "each read what the other wrote: no serial order has that";
}

/// What one read of a transaction has seen of another does not vanish in the next read.
TEST_P(IsolationLevels, OTVObservedTransactionVanishes) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.put("x", "11").ok() && first.put("y", "19").ok());
  ASSERT_TRUE(second.put("x", "12").ok());
  EXPECT_TRUE(commits(first));
  Transaction third = begin();
  EXPECT_EQ(get(third, "x"), "11");
  ASSERT_TRUE(second.put("y", "18").ok());
  EXPECT_EQ(get(third, "y"), "19");
  EXPECT_EQ(commits(second), is_serializable());
  EXPECT_EQ(get(third, "y"), "19");
  EXPECT_EQ(get(third, "x"), "11");
  EXPECT_TRUE(commits(third));
}

/// A predicate has the same keys when it is asked again.
TEST_P(IsolationLevels, PMPPredicateManyPrecedersForReads) {
  Transaction first = begin();
  EXPECT_EQ(keys_with(first, "30"), "");
  Transaction second = begin();
  ASSERT_TRUE(second.put("z", "30").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(keys_with(first, "30"), "");
  EXPECT_EQ(get(first, "z"), "absent");
  EXPECT_TRUE(commits(first)) << "it only read";
}

/// A delete by predicate does not pass by what another transaction changes meanwhile.
TEST_P(IsolationLevels, PMPPredicateManyPrecedersForWrites) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.put("x", "20").ok() && first.put("y", "30").ok());
  EXPECT_EQ(keys_with(second, "20"), "y");
  ASSERT_TRUE(second.remove("y").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_FALSE(commits(second));
  EXPECT_EQ(both(), "20 30");
}

/// An update that was computed from an old value does not overwrite another one.
TEST_P(IsolationLevels, P4LostUpdate) {
  Transaction first = begin();
  Transaction second = begin();
  EXPECT_EQ(get(first, "x"), "10");
  EXPECT_EQ(get(second, "x"), "10");
  ASSERT_TRUE(first.put("x", "11").ok() && second.put("x", "11").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_FALSE(commits(second));
}

/// Two reads are of one moment.
TEST_P(IsolationLevels, GSingleReadSkew) {
  Transaction first = begin();
  EXPECT_EQ(get(first, "x"), "10");
  Transaction second = begin();
  EXPECT_EQ(get(second, "x") + get(second, "y"), "1020");
  ASSERT_TRUE(second.put("x", "12").ok() && second.put("y", "18").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(get(first, "y"), "20");
  EXPECT_TRUE(commits(first));
}

/// The same with a predicate first.
TEST_P(IsolationLevels, GSingleReadSkewByPredicate) {
  Transaction first = begin();
  EXPECT_EQ(keys_with(first, "10"), "x");
  Transaction second = begin();
  ASSERT_TRUE(second.put("y", "10").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(keys_with(first, "10"), "x");
  EXPECT_TRUE(commits(first));
}

/// The same, and what was read decides about a write: a third key is allowed at snapshot isolation only.
TEST_P(IsolationLevels, GSingleReadSkewThatWrites) {
  Transaction first = begin();
  EXPECT_EQ(get(first, "x"), "10");
  Transaction second = begin();
  ASSERT_TRUE(second.put("x", "12").ok() && second.put("y", "18").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(get(first, "y"), "20");
  ASSERT_TRUE(first.put("sum", "30").ok());
  EXPECT_EQ(commits(first), !is_serializable());
}

/// The same with a delete by predicate, of a key that the other transaction has changed.
TEST_P(IsolationLevels, GSingleReadSkewThatDeletes) {
  Transaction first = begin();
  EXPECT_EQ(get(first, "x"), "10");
  Transaction second = begin();
  ASSERT_TRUE(second.put("x", "12").ok() && second.put("y", "18").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(keys_with(first, "20"), "y");
  ASSERT_TRUE(first.remove("y").ok());
  EXPECT_FALSE(commits(first));
  EXPECT_EQ(both(), "12 18");
}

/// Each writes what the other has read: two items.
TEST_P(IsolationLevels, G2ItemWriteSkew) {
  Transaction first = begin();
  Transaction second = begin();
  EXPECT_EQ(get(first, "x") + get(first, "y"), "1020");
  EXPECT_EQ(get(second, "x") + get(second, "y"), "1020");
  ASSERT_TRUE(first.put("x", "11").ok() && second.put("y", "21").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(commits(second), !is_serializable());
}

/// Each adds a key that the other's predicate has not found.
TEST_P(IsolationLevels, G2WriteSkewByPredicate) {
  Transaction first = begin();
  Transaction second = begin();
  EXPECT_EQ(keys_with(first, "30"), "");
  EXPECT_EQ(keys_with(second, "30"), "");
  ASSERT_TRUE(first.put("z1", "30").ok() && second.put("z2", "30").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(commits(second), !is_serializable());
}

/// The same with backward scans.
TEST_P(IsolationLevels, G2WriteSkewByBackwardPredicate) {
  const auto count = [](Transaction& tx) {
    int keys = 0;
    for (Iterator it = tx.scan({.prefix = "z", .reverse = true}); it.valid(); it.advance()) ++keys;
    return keys;
  };
  Transaction first = begin();
  Transaction second = begin();
  EXPECT_EQ(count(first) + count(second), 0);
  ASSERT_TRUE(first.put("z1", "30").ok() && second.put("z2", "30").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(commits(second), !is_serializable());
}

/// Three transactions and two anti-dependencies: what the third has read fits no order of the other two.
TEST_P(IsolationLevels, G2TwoEdgesAndAReader) {
  Transaction first = begin();
  EXPECT_EQ(keys_with(first, "30"), "");
  Transaction second = begin();
  EXPECT_EQ(get(second, "y"), "20");
  ASSERT_TRUE(second.put("y", "25").ok());
  EXPECT_TRUE(commits(second));
  Transaction third = begin();
  EXPECT_EQ(get(third, "x") + get(third, "y"), "1025");
  EXPECT_TRUE(commits(third));
  ASSERT_TRUE(first.put("x", "0").ok());
  EXPECT_EQ(commits(first), !is_serializable());
}

// The same anomalies where one of the writes removes a range.

/// Two transactions put and remove the same keys in turn: the result is one transaction's, whole.
TEST_P(IsolationLevels, G0DirtyWriteOfARange) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.put("x", "11").ok() && second.remove_range("w", "z").ok());
  ASSERT_TRUE(first.put("y", "21").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(commits(second), is_serializable()) << "at snapshot isolation the first committer wins";
  EXPECT_EQ(*db_.exists("x"), !is_serializable());
  EXPECT_EQ(*db_.exists("y"), !is_serializable());
}

TEST_P(IsolationLevels, G0DirtyWriteInARange) {
  Transaction first = begin();
  Transaction second = begin();
  ASSERT_TRUE(first.remove_range("w", std::nullopt).ok() && second.put("y", "21").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(commits(second), is_serializable());
  EXPECT_EQ(*db_.exists("y"), is_serializable());
}

/// A predicate has the same keys when it is asked again.
TEST_P(IsolationLevels, PMPPredicateOverARangeThatIsRemoved) {
  Transaction first = begin();
  EXPECT_EQ(keys_with(first, "10"), "x");
  Transaction second = begin();
  ASSERT_TRUE(second.remove_range("a", "z").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(keys_with(first, "10"), "x");
  EXPECT_EQ(get(first, "y"), "20");
  EXPECT_TRUE(commits(first)) << "it only read";
}

/// An update that was computed from an old value does not bring back what a range delete has removed.
TEST_P(IsolationLevels, P4LostRangeDelete) {
  Transaction first = begin();
  Transaction second = begin();
  EXPECT_EQ(get(first, "x"), "10");
  ASSERT_TRUE(first.put("x", "11").ok() && second.remove_range("a", "y").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_FALSE(commits(first));
  EXPECT_FALSE(*db_.exists("x"));
}

/// Two reads are of one moment, and what was read decides about a write.
TEST_P(IsolationLevels, GSingleReadSkewByARangeDelete) {
  Transaction first = begin();
  EXPECT_EQ(get(first, "x"), "10");
  Transaction second = begin();
  ASSERT_TRUE(second.remove_range("", std::nullopt).ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(get(first, "y"), "20");
  ASSERT_TRUE(first.put("sum", "30").ok());
  EXPECT_FALSE(commits(first)) << "at snapshot isolation the range is a write of 'sum', too";
}

/// Each writes what the other has read: one by a range, of which the other knows that it is empty.
TEST_P(IsolationLevels, G2WriteSkewOverAnEmptyRange) {
  Transaction first = begin();
  Transaction second = begin();
  EXPECT_EQ(keys_with(first, "30"), "");
  EXPECT_EQ(get(second, "x"), "10");
  ASSERT_TRUE(first.put("x", "11").ok() && second.remove_range("z1", "z2").ok());
  EXPECT_TRUE(commits(second));
  EXPECT_EQ(commits(first), !is_serializable()) << "a range delete writes absent keys as well";
}

/// Each removes the range that the other has counted.
TEST_P(IsolationLevels, G2WriteSkewByRangeDeletes) {
  Transaction first = begin();
  Transaction second = begin();
  EXPECT_EQ(keys_with(first, "20"), "y");
  EXPECT_EQ(keys_with(second, "10"), "x");
  ASSERT_TRUE(first.remove_range("a", "y").ok() && second.remove_range("y", "z").ok());
  EXPECT_TRUE(commits(first));
  EXPECT_EQ(commits(second), !is_serializable());
}

INSTANTIATE_TEST_SUITE_P(Both, IsolationLevels, ::testing::Values(Isolation::kSerializable, Isolation::kSnapshot),
                         [](const auto& level) {
                           return level.param == Isolation::kSerializable ? "Serializable" : "Snapshot";
                         });

}  // namespace
}  // namespace tamis::test
