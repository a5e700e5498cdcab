// What leveldb::DB promises. Runs with our library and with LevelDB's.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "dropin/leveldb_store.h"

namespace tamis::test {
namespace {

using leveldb::Slice;
using leveldb::WriteOptions;

using LevelDbDatabase = LevelDbStore;

TEST_F(LevelDbDatabase, GetsWhatWasPutAndDeleted) {
  must_open();
  put("a", "1");
  put("", "empty key");
  put("b", "");
  put(std::string("zero\0key", 8), std::string("zero\0value", 10));
  EXPECT_EQ(get("a"), "1");
  EXPECT_EQ(get(""), "empty key");
  EXPECT_EQ(get("b"), "");
  EXPECT_EQ(get(std::string("zero\0key", 8)), std::string("zero\0value", 10));
  EXPECT_EQ(get("c"), "none");
  ASSERT_TRUE(db_->Delete(WriteOptions(), "a").ok());
  ASSERT_TRUE(db_->Delete(WriteOptions(), "never there").ok());
  EXPECT_EQ(get("a"), "none");
}

TEST_F(LevelDbDatabase, KeepsItsEntriesWhenItIsClosed) {
  must_open();
  put("a", "1");
  WriteOptions synced;
  synced.sync = true;
  ASSERT_TRUE(db_->Put(synced, "b", "2").ok());
  must_open();
  EXPECT_EQ(all(), "a=1 b=2 ");
}

TEST_F(LevelDbDatabase, ABatchIsAppliedInOrder) {
  must_open();
  put("a", "old");
  leveldb::WriteBatch batch;
  batch.Put("b", "1");
  batch.Delete("a");
  batch.Put("b", "2");
  batch.Put("c", "3");
  batch.Delete("c");
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  EXPECT_EQ(all(), "b=2 ");
  leveldb::WriteBatch empty;
  ASSERT_TRUE(db_->Write(WriteOptions(), &empty).ok());
  EXPECT_EQ(all(), "b=2 ");
}

TEST_F(LevelDbDatabase, ABatchMayBeLargerThanItsMemory) {
  options_.write_buffer_size = 64 << 10;
  must_open();
  leveldb::WriteBatch batch;
  const std::string value(1 << 20, 'v');
  for (int i = 0; i < 40; ++i) batch.Put("key" + std::to_string(i), value);
  ASSERT_TRUE(db_->Write(WriteOptions(), &batch).ok());
  for (int i = 0; i < 40; ++i) EXPECT_EQ(get("key" + std::to_string(i)), value);
}

TEST_F(LevelDbDatabase, AKeyMayBeLong) {
  must_open();
  const std::string longest(100'000, 'k');
  put(longest, "long");
  put(longest + "1", "longer");
  put("l", "after");
  EXPECT_EQ(get(longest), "long");
  const std::unique_ptr<leveldb::Iterator> at = iterator();
  at->Seek(longest + "0");
  ASSERT_TRUE(at->Valid());
  EXPECT_EQ(at->key().ToString(), longest + "1");
}

TEST_F(LevelDbDatabase, ASnapshotShowsThePast) {
  must_open();
  put("a", "1");
  const leveldb::Snapshot* first = db_->GetSnapshot();
  put("a", "2");
  put("b", "3");
  const leveldb::Snapshot* second = db_->GetSnapshot();
  ASSERT_TRUE(db_->Delete(WriteOptions(), "a").ok());
  db_->CompactRange(nullptr, nullptr);
  EXPECT_EQ(get("a", first), "1");
  EXPECT_EQ(get("b", first), "none");
  EXPECT_EQ(all(first), "a=1 ");
  EXPECT_EQ(all(second), "a=2 b=3 ");
  db_->ReleaseSnapshot(first);
  EXPECT_EQ(all(second), "a=2 b=3 ");
  db_->ReleaseSnapshot(second);
  EXPECT_EQ(all(), "b=3 ");
}

TEST_F(LevelDbDatabase, PropertiesHaveTheirForm) {
  must_open();
  EXPECT_EQ(property("leveldb.sstables"),
            "--- level 0 ---\n--- level 1 ---\n--- level 2 ---\n--- level 3 ---\n--- level 4 ---\n--- level 5 ---\n"
            "--- level 6 ---\n");
  EXPECT_TRUE(property("leveldb.stats")
                  .starts_with("                               Compactions\n"
                               "Level  Files Size(MB) Time(sec) Read(MB) Write(MB)\n"));
  EXPECT_GT(std::stoull(property("leveldb.approximate-memory-usage")), 0U);
  EXPECT_EQ(property("leveldb.num-files-at-level7"), "none");
  EXPECT_EQ(property("leveldb.num-files-at-level"), "none");
  EXPECT_EQ(property("leveldb.num-files-at-level0x"), "none");
  EXPECT_EQ(property("leveldb.other"), "none");
  EXPECT_EQ(property("stats"), "none");
  put("a", "1");
  db_->CompactRange(nullptr, nullptr);
  int files = 0;
  for (int level = 0; level < 7; ++level) {
    files += std::stoi(property("leveldb.num-files-at-level" + std::to_string(level)));
  }
  EXPECT_EQ(files, 1);
  EXPECT_GT(std::ranges::count(property("leveldb.stats"), '\n'), 3);
}

TEST_F(LevelDbDatabase, SizesAreThoseOfTables) {
  options_.compression = leveldb::kNoCompression;
  must_open();
  for (int i = 100; i < 200; ++i) put(std::to_string(i), std::string(10'000, 'v'));
  must_open();  // What was only in the log is in a table now.
  const std::vector<leveldb::Range> ranges = {{"100", "200"}, {"100", "150"}, {"150", "200"}, {"3", "4"}, {"2", "1"}};
  std::vector<std::uint64_t> sizes(ranges.size(), 1);
  db_->GetApproximateSizes(ranges.data(), static_cast<int>(ranges.size()), sizes.data());
  EXPECT_NEAR(static_cast<double>(sizes[0]), 1e6, 5e4);
  EXPECT_NEAR(static_cast<double>(sizes[1]), 5e5, 5e4);
  EXPECT_NEAR(static_cast<double>(sizes[2]), 5e5, 5e4);
  EXPECT_EQ(sizes[3], 0U);
  EXPECT_EQ(sizes[4], 0U);
}

TEST_F(LevelDbDatabase, AMissingDatabaseIsAnErrorUnlessItMayBeCreated) {
  options_.create_if_missing = false;
  const leveldb::Status missing = open();
  EXPECT_TRUE(missing.IsInvalidArgument());
  EXPECT_EQ(missing.ToString(), "Invalid argument: " + name_ + ": does not exist (create_if_missing is false)");
  options_.create_if_missing = true;
  must_open();
  options_.create_if_missing = false;
  must_open();
}

TEST_F(LevelDbDatabase, AnExistingDatabaseIsAnErrorIfItMustNotExist) {
  must_open();
  options_.error_if_exists = true;
  const leveldb::Status exists = open();
  EXPECT_TRUE(exists.IsInvalidArgument());
  EXPECT_NE(exists.ToString().find("error_if_exists"), std::string::npos) << exists.ToString();
}

TEST_F(LevelDbDatabase, TheErrorOfAHeldLockBeginsAsLevelDbs) {
  must_open();
  leveldb::DB* other = nullptr;
  const leveldb::Status locked = leveldb::DB::Open(options_, name_, &other);
  EXPECT_EQ(other, nullptr);
  EXPECT_TRUE(locked.IsIOError());
  EXPECT_TRUE(locked.ToString().starts_with("IO error: lock " + name_ + "/LOCK: ")) << locked.ToString();
  const leveldb::Status destroyed = leveldb::DestroyDB(name_, options_);
  EXPECT_TRUE(destroyed.ToString().starts_with("IO error: lock ")) << destroyed.ToString();
}

TEST_F(LevelDbDatabase, DestroyRemovesTheFolderUnlessItHoldsOtherFiles) {
  must_open();
  put("a", "1");
  db_.reset();
  EXPECT_TRUE(leveldb::DestroyDB(name_, options_).ok());
  EXPECT_FALSE(std::filesystem::exists(name_));
  EXPECT_TRUE(leveldb::DestroyDB(name_, options_).ok()) << "there is nothing to destroy";

  must_open();
  db_.reset();
  std::filesystem::create_directory(name_ + "/others");
  EXPECT_TRUE(leveldb::DestroyDB(name_, options_).ok());
  const auto left = std::filesystem::directory_iterator(name_);
  EXPECT_EQ(std::distance(begin(left), end(left)), 1);

  const std::string empty = folder_.path("empty");
  std::filesystem::create_directory(empty);
  EXPECT_TRUE(leveldb::DestroyDB(empty, options_).ok());
  EXPECT_FALSE(std::filesystem::exists(empty));
}

TEST_F(LevelDbDatabase, RepairMakesADatabaseUsableWithoutItsCurrent) {
  must_open();
  put("a", "1");
  db_->CompactRange(nullptr, nullptr);
  put("b", "2");
  db_.reset();
  std::filesystem::remove(name_ + "/CURRENT");
  ASSERT_TRUE(leveldb::RepairDB(name_, options_).ok());
  must_open();
  EXPECT_EQ(all(), "a=1 b=2 ");
  db_.reset();
  const leveldb::Status missing = leveldb::RepairDB(folder_.path("nothing/here"), options_);
  EXPECT_NE(missing.ToString().find("No such file or directory"), std::string::npos) << missing.ToString();
}

/// A class of a program's own: it writes batches, and gets Put and Delete from LevelDB.
class OnlyWrites : public leveldb::DB {
 public:
  leveldb::Status Put(const WriteOptions& o, const Slice& k, const Slice& v) override { return DB::Put(o, k, v); }
  leveldb::Status Delete(const WriteOptions& o, const Slice& k) override { return DB::Delete(o, k); }
  leveldb::Status Write(const WriteOptions& /*options*/, leveldb::WriteBatch* updates) override {
    written_.Append(*updates);
    return leveldb::Status::OK();
  }
  leveldb::Status Get(const leveldb::ReadOptions& /*options*/, const Slice& k, std::string* /*value*/) override {
    return leveldb::Status::NotFound(k);
  }
  leveldb::Iterator* NewIterator(const leveldb::ReadOptions& /*options*/) override {
    return leveldb::NewEmptyIterator();
  }
  const leveldb::Snapshot* GetSnapshot() override { return nullptr; }
  void ReleaseSnapshot(const leveldb::Snapshot* /*snapshot*/) override {}
  bool GetProperty(const Slice& /*property*/, std::string* /*value*/) override { return false; }
  void GetApproximateSizes(const leveldb::Range* /*range*/, int /*n*/, std::uint64_t* /*sizes*/) override {}
  void CompactRange(const Slice* /*begin*/, const Slice* /*end*/) override {}

  leveldb::WriteBatch written_;
};

TEST_F(LevelDbDatabase, AClassOfTheProgramMayDeriveFromIt) {
  OnlyWrites own;
  leveldb::DB& as_database = own;
  ASSERT_TRUE(as_database.Put(WriteOptions(), "a", "1").ok());
  ASSERT_TRUE(as_database.Delete(WriteOptions(), "b").ok());
  must_open();
  put("b", "2");
  ASSERT_TRUE(db_->Write(WriteOptions(), &own.written_).ok());
  EXPECT_EQ(all(), "a=1 ");
}

}  // namespace
}  // namespace tamis::test
