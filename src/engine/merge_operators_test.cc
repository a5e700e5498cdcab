// Merges: which operator folds, and what transactions see of them.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/merging_store.h"
#include "tamis/db.h"

namespace tamis {
namespace {

using test::MergingStore;
using test::picky;
using test::with_operator;

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

}  // namespace
}  // namespace tamis
