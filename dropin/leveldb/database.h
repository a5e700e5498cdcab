// leveldb::DB.
#pragma once

#include <leveldb/db.h>
#include <tamis/db.h>

#include <memory>
#include <string>

#include "info_log.h"

namespace tamis::dropin {

/// A store behind LevelDB's interface.
///
/// Threads: as leveldb::DB: any number; one destroys it, after the others are done.
class Database final : public leveldb::DB {
 public:
  /// The store writes its events to the log.
  Database(std::unique_ptr<InfoLog> log, tamis::DB store) : log_(std::move(log)), store_(std::move(store)) {}
  ~Database() override;

  leveldb::Status Put(const leveldb::WriteOptions& options, const leveldb::Slice& key,
                      const leveldb::Slice& value) override;
  leveldb::Status Delete(const leveldb::WriteOptions& options, const leveldb::Slice& key) override;
  /// Without a batch, what is in memory is written to tables, as LevelDB does.
  leveldb::Status Write(const leveldb::WriteOptions& options, leveldb::WriteBatch* updates) override;
  leveldb::Status Get(const leveldb::ReadOptions& options, const leveldb::Slice& key, std::string* value) override;
  leveldb::Iterator* NewIterator(const leveldb::ReadOptions& options) override;
  const leveldb::Snapshot* GetSnapshot() override;
  void ReleaseSnapshot(const leveldb::Snapshot* snapshot) override;
  bool GetProperty(const leveldb::Slice& property, std::string* value) override;
  void GetApproximateSizes(const leveldb::Range* range, int n, std::uint64_t* sizes) override;
  void CompactRange(const leveldb::Slice* begin, const leveldb::Slice* end) override;

 private:
  const std::unique_ptr<InfoLog> log_;  // Outlives the store.
  tamis::DB store_;
};

}  // namespace tamis::dropin
