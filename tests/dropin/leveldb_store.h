// A database of LevelDB's interface in a folder of its own.
#pragma once

#include <gtest/gtest.h>
#include <leveldb/db.h>
#include <leveldb/iterator.h>
#include <leveldb/options.h>
#include <leveldb/write_batch.h>

#include <memory>
#include <string>

#include "support/scratch_folder.h"

namespace tamis::test {

class LevelDbStore : public ::testing::Test {
 protected:
  LevelDbStore() { options_.create_if_missing = true; }

  /// Opens it, or opens it again.
  leveldb::Status open() {
    db_.reset();
    leveldb::DB* opened = nullptr;
    leveldb::Status status = leveldb::DB::Open(options_, name_, &opened);
    db_.reset(opened);
    EXPECT_EQ(opened != nullptr, status.ok());
    return status;
  }
  void must_open() { ASSERT_TRUE(open().ok()); }
  void put(const std::string& key, const std::string& value) {
    ASSERT_TRUE(db_->Put(leveldb::WriteOptions(), key, value).ok());
  }
  /// "none" if there is no value.
  std::string get(const std::string& key, const leveldb::Snapshot* snapshot = nullptr) {
    leveldb::ReadOptions options;
    options.snapshot = snapshot;
    std::string value = "as before";
    const leveldb::Status status = db_->Get(options, key, &value);
    if (status.ok()) return value;
    EXPECT_TRUE(status.IsNotFound()) << status.ToString();
    EXPECT_EQ(value, "as before");
    return "none";
  }
  std::unique_ptr<leveldb::Iterator> iterator(const leveldb::Snapshot* snapshot = nullptr) {
    leveldb::ReadOptions options;
    options.snapshot = snapshot;
    return std::unique_ptr<leveldb::Iterator>(db_->NewIterator(options));
  }
  /// All entries in order, as "key=value " each.
  std::string all(const leveldb::Snapshot* snapshot = nullptr) {
    std::string text;
    const std::unique_ptr<leveldb::Iterator> at = iterator(snapshot);
    for (at->SeekToFirst(); at->Valid(); at->Next()) text += shown(*at) + " ";
    EXPECT_TRUE(at->status().ok()) << at->status().ToString();
    return text;
  }
  /// "key=value", or "end".
  static std::string shown(const leveldb::Iterator& at) {
    return at.Valid() ? at.key().ToString() + "=" + at.value().ToString() : "end";
  }
  std::string property(const std::string& name) {
    std::string value;
    return db_->GetProperty(name, &value) ? value : "none";
  }

  ScratchFolder folder_;
  std::string name_ = folder_.path("db");
  leveldb::Options options_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace tamis::test
