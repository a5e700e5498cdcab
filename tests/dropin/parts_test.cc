// The parts of LevelDB's interface that programs use without a database. Runs with our library and with LevelDB's.
#include <gtest/gtest.h>
#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>
#include <leveldb/status.h>
#include <leveldb/write_batch.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tamis::test {
namespace {

using leveldb::Slice;
using leveldb::Status;

TEST(LevelDbStatus, SaysWhatItIs) {
  EXPECT_EQ(Status::OK().ToString(), "OK");
  EXPECT_EQ(Status::NotFound("a").ToString(), "NotFound: a");
  EXPECT_EQ(Status::Corruption("a", "b").ToString(), "Corruption: a: b");
  EXPECT_EQ(Status::NotSupported("a").ToString(), "Not implemented: a");
  EXPECT_EQ(Status::InvalidArgument("a").ToString(), "Invalid argument: a");
  EXPECT_EQ(Status::IOError("a").ToString(), "IO error: a");
  EXPECT_TRUE(Status::NotFound("a").IsNotFound());
  EXPECT_TRUE(Status::IOError("a").IsIOError());
  EXPECT_FALSE(Status::IOError("a").ok());
}

TEST(LevelDbStatus, IsCopiedAndMoved) {
  Status status = Status::Corruption("a");
  Status copy = status;
  EXPECT_EQ(copy.ToString(), "Corruption: a");
  copy = Status::IOError("b");
  EXPECT_EQ(status.ToString(), "Corruption: a");
  status = copy;
  EXPECT_EQ(status.ToString(), "IO error: b");
  const Status moved = std::move(status);
  EXPECT_EQ(moved.ToString(), "IO error: b");
}

/// Writes down what it is told.
class Changes : public leveldb::WriteBatch::Handler {
 public:
  void Put(const Slice& key, const Slice& value) override {
    text += "put " + key.ToString() + "=" + value.ToString() + ", ";
  }
  void Delete(const Slice& key) override { text += "delete " + key.ToString() + ", "; }

  std::string text;
};

std::string changes_of(const leveldb::WriteBatch& batch) {
  Changes changes;
  EXPECT_TRUE(batch.Iterate(&changes).ok());
  return changes.text;
}

TEST(LevelDbWriteBatch, TellsItsChangesInOrder) {
  leveldb::WriteBatch batch;
  EXPECT_EQ(changes_of(batch), "");
  const std::size_t empty = batch.ApproximateSize();
  batch.Put("a", "1");
  batch.Delete("b");
  batch.Put("", "");
  EXPECT_GT(batch.ApproximateSize(), empty);
  EXPECT_EQ(changes_of(batch), "put a=1, delete b, put =, ");
  const std::string large(300, 'x');  // Its length takes two bytes.
  batch.Put(large, large);
  EXPECT_EQ(changes_of(batch), "put a=1, delete b, put =, put " + large + "=" + large + ", ");
  batch.Clear();
  EXPECT_EQ(changes_of(batch), "");
  EXPECT_EQ(batch.ApproximateSize(), empty);
}

TEST(LevelDbWriteBatch, IsCopiedAndAppended) {
  leveldb::WriteBatch one;
  one.Put("a", "1");
  leveldb::WriteBatch other = one;
  other.Delete("b");
  one.Append(other);
  EXPECT_EQ(changes_of(one), "put a=1, put a=1, delete b, ");
  EXPECT_EQ(changes_of(other), "put a=1, delete b, ");
  other = one;
  EXPECT_EQ(changes_of(other), "put a=1, put a=1, delete b, ");
}

/// Twelve bytes, then one byte of kind, and lengths and bytes: programs that know LevelDB's format reckon with it.
TEST(LevelDbWriteBatch, HasLevelDbsSize) {
  leveldb::WriteBatch batch;
  EXPECT_EQ(batch.ApproximateSize(), 12U);
  batch.Put("key", "value");
  EXPECT_EQ(batch.ApproximateSize(), 12U + 1 + 4 + 6);
  batch.Delete(std::string(128, 'k'));
  EXPECT_EQ(batch.ApproximateSize(), 12U + 1 + 4 + 6 + 1 + 2 + 128);
}

TEST(LevelDbComparator, OrdersBytes) {
  const leveldb::Comparator* order = leveldb::BytewiseComparator();
  EXPECT_STREQ(order->Name(), "leveldb.BytewiseComparator");
  EXPECT_LT(order->Compare("a", "b"), 0);
  EXPECT_GT(order->Compare("\xff", "b"), 0);
  EXPECT_EQ(order->Compare("a", "a"), 0);
  EXPECT_LT(order->Compare("a", "aa"), 0);
}

std::string separator(std::string from, const std::string& to) {
  leveldb::BytewiseComparator()->FindShortestSeparator(&from, to);
  return from;
}

std::string successor(std::string key) {
  leveldb::BytewiseComparator()->FindShortSuccessor(&key);
  return key;
}

TEST(LevelDbComparator, ShortensKeys) {
  EXPECT_EQ(separator("abcdef", "abzz"), "abd");
  EXPECT_EQ(separator("abc", "abd"), "abc");
  EXPECT_EQ(separator("ab", "abzz"), "ab");
  EXPECT_EQ(separator("abzz", "ab"), "abzz");
  EXPECT_EQ(separator("a\xff", "b"), "a\xff");
  EXPECT_EQ(separator("b", "a"), "b");
  EXPECT_EQ(successor("abc"), "b");
  EXPECT_EQ(successor("\xff\xff"
                      "a"),
            "\xff\xff"
            "b");
  EXPECT_EQ(successor("\xff"), "\xff");
  EXPECT_EQ(successor(""), "");
}

TEST(LevelDbFilterPolicy, AnswersForTheKeysOfAFilter) {
  const std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
  EXPECT_STREQ(policy->Name(), "leveldb.BuiltinBloomFilter2");
  std::vector<std::string> keys;
  for (int i = 0; i < 1000; ++i) keys.push_back("key" + std::to_string(i));
  const std::vector<Slice> slices(keys.begin(), keys.end());
  std::string filter = "before";
  policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  ASSERT_TRUE(filter.starts_with("before"));
  filter.erase(0, 6);
  EXPECT_EQ(filter.size(), 1000U * 10 / 8 + 1);
  for (const Slice& key : slices) EXPECT_TRUE(policy->KeyMayMatch(key, filter));
  int maybe = 0;
  for (int i = 0; i < 1000; ++i) maybe += policy->KeyMayMatch("other" + std::to_string(i), filter) ? 1 : 0;
  EXPECT_LT(maybe, 30);
  EXPECT_FALSE(policy->KeyMayMatch("a", ""));
}

/// Values that are counted while they live.
class LevelDbCache : public ::testing::Test {
 protected:
  using Handle = leveldb::Cache::Handle;

  Handle* insert(const std::string& key, std::size_t charge = 1) {
    ++living_;
    return cache_->Insert(key, &living_, charge,
                          [](const Slice& /*key*/, void* value) { --*static_cast<int*>(value); });
  }
  void insert_and_release(const std::string& key, std::size_t charge = 1) { cache_->Release(insert(key, charge)); }
  bool has(const std::string& key) {
    Handle* handle = cache_->Lookup(key);
    if (handle == nullptr) return false;
    EXPECT_EQ(cache_->Value(handle), &living_);
    cache_->Release(handle);
    return true;
  }

  int living_ = 0;
  std::unique_ptr<leveldb::Cache> cache_{leveldb::NewLRUCache(1000)};
};

TEST_F(LevelDbCache, KeepsWhatWasUsedLast) {
  insert_and_release("kept");
  for (int i = 0; i < 5000; ++i) {
    insert_and_release(std::to_string(i));
    ASSERT_TRUE(has("kept"));
  }
  EXPECT_FALSE(has("0"));
  EXPECT_TRUE(has("4999"));
  EXPECT_LE(cache_->TotalCharge(), 1100U);
  EXPECT_EQ(static_cast<std::size_t>(living_), cache_->TotalCharge());
}

TEST_F(LevelDbCache, AValueLivesWhileItHasAHandle) {
  Handle* held = insert("a");
  cache_->Erase("a");
  EXPECT_FALSE(has("a"));
  EXPECT_EQ(living_, 1);
  EXPECT_EQ(cache_->Value(held), &living_);
  cache_->Release(held);
  EXPECT_EQ(living_, 0);
  held = insert("b");
  insert_and_release("b");
  EXPECT_EQ(living_, 2) << "the first is held, the second is in the cache";
  cache_->Release(held);
  EXPECT_EQ(living_, 1);
}

TEST_F(LevelDbCache, PruneLeavesWhatIsHeld) {
  Handle* held = insert("held");
  insert_and_release("other");
  cache_->Prune();
  EXPECT_FALSE(has("other"));
  EXPECT_TRUE(has("held"));
  cache_->Release(held);
  cache_.reset();
  EXPECT_EQ(living_, 0);
}

TEST_F(LevelDbCache, WithoutCapacityItKeepsNothing) {
  cache_.reset(leveldb::NewLRUCache(0));
  Handle* held = insert("a");
  EXPECT_FALSE(has("a"));
  cache_->Release(held);
  EXPECT_EQ(living_, 0);
}

TEST_F(LevelDbCache, ItsIdsDiffer) { EXPECT_NE(cache_->NewId(), cache_->NewId()); }

}  // namespace
}  // namespace tamis::test
