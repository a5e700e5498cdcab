// Where our library is not LevelDB: what it refuses, and what it does more. Runs with our library alone.
#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/dumpfile.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/helpers/memenv.h>
#include <stdlib.h>  // NOLINT(modernize-deprecated-headers): setenv is POSIX.

#include <filesystem>
#include <fstream>
#include <string>

#include "dropin/leveldb_store.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

using leveldb::Slice;

using LevelDbDifferences = LevelDbStore;

/// The order of bytes under a name of its own: nobody can know that it is.
class OwnOrder : public leveldb::Comparator {
 public:
  explicit OwnOrder(const char* name) : name_(name) {}
  const char* Name() const override { return name_; }
  int Compare(const Slice& a, const Slice& b) const override { return a.compare(b); }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

 private:
  const char* const name_;
};

/// Keeps the lines.
class Lines : public leveldb::Logger {
 public:
  void Logv(const char* format, std::va_list arguments) override {
    char line[500];
    std::vsnprintf(line, sizeof(line), format, arguments);
    text += line + std::string("\n");
  }
  std::string text;
};

TEST_F(LevelDbDifferences, AnotherOrderIsRefusedByItsName) {
  const OwnOrder own("own.Order");
  options_.comparator = &own;
  const leveldb::Status refused = open();
  EXPECT_TRUE(refused.IsNotSupportedError());
  EXPECT_NE(refused.ToString().find("own.Order"), std::string::npos) << refused.ToString();
  EXPECT_FALSE(std::filesystem::exists(name_));
  EXPECT_TRUE(leveldb::RepairDB(name_, options_).IsNotSupportedError());
  const OwnOrder bytewise("leveldb.BytewiseComparator");
  options_.comparator = &bytewise;
  EXPECT_TRUE(open().ok());
}

TEST_F(LevelDbDifferences, AnEnvOfTheProgramIsRefusedUnlessItMayBeIgnored) {
  leveldb::EnvWrapper own(leveldb::Env::Default());
  options_.env = &own;
  const leveldb::Status refused = open();
  EXPECT_TRUE(refused.IsNotSupportedError());
  EXPECT_NE(refused.ToString().find("TAMIS_LEVELDB_IGNORE_ENV"), std::string::npos) << refused.ToString();
  EXPECT_FALSE(std::filesystem::exists(name_));
  ::setenv("TAMIS_LEVELDB_IGNORE_ENV", "1", 1);
  EXPECT_TRUE(open().ok());
  ::unsetenv("TAMIS_LEVELDB_IGNORE_ENV");
  options_.env = nullptr;
  EXPECT_TRUE(open().ok());
}

TEST_F(LevelDbDifferences, AFolderOfLevelDbIsLeftAsItIs) {
  std::filesystem::create_directory(name_);
  std::ofstream(name_ + "/CURRENT") << "MANIFEST-000001\n";
  std::ofstream(name_ + "/MANIFEST-000001") << "not ours";
  for (const leveldb::Status& status :
       {open(), leveldb::DestroyDB(name_, options_), leveldb::RepairDB(name_, options_)}) {
    EXPECT_TRUE(status.IsInvalidArgument());
    EXPECT_NE(status.ToString().find("LevelDB"), std::string::npos) << status.ToString();
  }
  EXPECT_TRUE(std::filesystem::exists(name_ + "/CURRENT"));
  EXPECT_TRUE(std::filesystem::exists(name_ + "/MANIFEST-000001"));
}

TEST_F(LevelDbDifferences, ThePartsOfAProgramMayBeAnything) {
  const std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(64 << 20));
  const std::unique_ptr<const leveldb::FilterPolicy> bloom(leveldb::NewBloomFilterPolicy(10));
  options_.block_cache = cache.get();
  options_.filter_policy = bloom.get();
  options_.paranoid_checks = options_.reuse_logs = true;
  options_.write_buffer_size = 1;
  options_.max_open_files = -1;
  options_.block_size = 1;
  options_.max_file_size = std::size_t{1} << 40;
  must_open();
  put("a", "1");
  options_.write_buffer_size = std::size_t{1} << 50;
  options_.block_size = std::size_t{1} << 40;
  options_.max_file_size = 1;
  must_open();
  EXPECT_EQ(get("a"), "1");
  db_.reset();
}

TEST_F(LevelDbDifferences, TheFolderIsAStoreLikeAnyOther) {
  must_open();
  put("a", "1");
  db_.reset();
  const Result<DB> same = DB::open(name_, {.create_if_missing = false});
  ASSERT_TRUE(same.ok()) << "the folder is a store like any other";
  EXPECT_EQ(same->get("a").value_or(std::nullopt), "1");
}

TEST_F(LevelDbDifferences, WhatIsTooLongIsRefused) {
  must_open();
  const std::string key(Batch::kMaxKeyBytes + 1, 'k');
  EXPECT_TRUE(db_->Put(leveldb::WriteOptions(), key, "1").IsInvalidArgument());
  leveldb::WriteBatch batch;
  batch.Put("a", "1");
  batch.Put(key, "1");
  EXPECT_TRUE(db_->Write(leveldb::WriteOptions(), &batch).IsInvalidArgument());
  EXPECT_EQ(all(), "");
}

TEST_F(LevelDbDifferences, AnIteratorThatOutlivesItsDatabaseSaysSo) {
  must_open();
  put("a", "1");
  const std::unique_ptr<leveldb::Iterator> at = iterator();
  at->SeekToFirst();
  ASSERT_TRUE(at->Valid());
  db_.reset();
  at->Next();
  EXPECT_FALSE(at->Valid());
  EXPECT_TRUE(at->status().IsIOError());
  must_open();
  EXPECT_EQ(get("a"), "1");
}

TEST_F(LevelDbDifferences, ACompactionDropsWhatNoOneSees) {
  options_.compression = leveldb::kNoCompression;
  must_open();
  for (int i = 100; i < 200; ++i) put(std::to_string(i), std::string(10'000, 'v'));
  for (int i = 100; i < 200; ++i) ASSERT_TRUE(db_->Delete(leveldb::WriteOptions(), std::to_string(i)).ok());
  const Slice first = "100";
  const Slice last = "199";
  db_->CompactRange(&first, &last);
  db_->CompactRange(&first, nullptr);
  db_->CompactRange(nullptr, &last);
  const leveldb::Range everything("0", "9");
  std::uint64_t size = 1;
  db_->GetApproximateSizes(&everything, 1, &size);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(all(), "");
}

TEST_F(LevelDbDifferences, TheLastKeyOfACompactedRangeIsInIt) {
  must_open();
  put("m", "1");
  db_->CompactRange(nullptr, nullptr);
  ASSERT_TRUE(db_->Delete(leveldb::WriteOptions(), "m").ok());
  const Slice first = "a";
  const Slice last = "m";
  db_->CompactRange(&first, &last);
  int files = 0;
  for (int level = 0; level < 7; ++level) {
    files += std::stoi(property("leveldb.num-files-at-level" + std::to_string(level)));
  }
  EXPECT_EQ(files, 0);
}

TEST_F(LevelDbDifferences, FilesOfLevelDbsFormatAreNotDumped) {
  EXPECT_TRUE(leveldb::DumpFile(leveldb::Env::Default(), "000001.ldb", nullptr).IsNotSupportedError());
}

TEST_F(LevelDbDifferences, TheOptionsBecomeThoseOfAStore) {
  const auto opened_with = [this] {
    Lines lines;
    options_.info_log = &lines;
    must_open();
    db_.reset();
    options_.info_log = nullptr;
    const std::size_t begin = lines.text.find(" with ");
    return begin == std::string::npos ? lines.text : lines.text.substr(begin, lines.text.find('\n', begin) - begin);
  };
  EXPECT_EQ(opened_with(),
            " with memory_bytes=80MiB memtable_bytes=16MiB block_bytes=4KiB table_bytes=64MiB codec=lz4");
  const std::unique_ptr<leveldb::Cache> cache(leveldb::NewLRUCache(64 << 20));
  options_.block_cache = cache.get();
  options_.write_buffer_size = 1 << 20;
  options_.block_size = 16 << 10;
  options_.max_file_size = 32 << 20;
  options_.compression = leveldb::kNoCompression;
  EXPECT_EQ(opened_with(),
            " with memory_bytes=132MiB memtable_bytes=1MiB block_bytes=16KiB table_bytes=32MiB codec=none");
  options_.block_cache = nullptr;
  EXPECT_EQ(opened_with(),
            " with memory_bytes=32MiB memtable_bytes=1MiB block_bytes=16KiB table_bytes=32MiB codec=none");
}

TEST_F(LevelDbDifferences, TheInfoLogHasTheEventsOfTheStore) {
  Lines lines;
  options_.info_log = &lines;
  must_open();
  put("a", "1");
  db_->CompactRange(nullptr, nullptr);
  const std::unique_ptr<leveldb::Iterator> left_behind = iterator();
  db_.reset();
  EXPECT_NE(lines.text.find("tamis: flushed: 1 tables, 1 entries"), std::string::npos) << lines.text;
  EXPECT_NE(lines.text.find("tamis: close: "), std::string::npos) << lines.text;
}

}  // namespace
}  // namespace tamis::test
