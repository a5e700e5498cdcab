#include "store/contestant.h"

#ifndef TAMIS_HAS_ROCKSDB

std::unique_ptr<tamis::bench::StoreContestant> tamis::bench::make_rocksdb() { return nullptr; }

#else

#include <fmt/core.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <cstdlib>

namespace tamis::bench {
namespace {

void need(const rocksdb::Status& status) {
  if (status.ok()) return;
  fmt::print(stderr, "rocksdb: {}\n", status.ToString());
  std::exit(3);
}

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

class RocksdbContestant final : public StoreContestant {
 public:
  [[nodiscard]] std::string name() const override {
    return fmt::format("RocksDB {}.{}.{}", ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
  }

  void open(const std::string& directory) override {
    rocksdb::BlockBasedTableOptions table;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
    table.block_cache = rocksdb::NewLRUCache(std::size_t{4} << 30);
    rocksdb::Options options;
    options.create_if_missing = true;
    options.compression = rocksdb::kNoCompression;
    options.write_buffer_size = std::size_t{64} << 20;
    options.max_background_jobs = 2;
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    rocksdb::DB* db = nullptr;
    need(rocksdb::DB::Open(options, directory, &db));
    db_.reset(db);
  }
  void put(std::string_view key, std::string_view value) override {
    need(db_->Put(rocksdb::WriteOptions(), slice(key), slice(value)));
  }
  void put_batch(std::span<const std::pair<std::string, std::string> > entries) override {
    batch_.Clear();
    for (const auto& [key, value] : entries) need(batch_.Put(key, value));
    need(db_->Write(rocksdb::WriteOptions(), &batch_));
  }
  void settle() override {
    need(db_->Flush(rocksdb::FlushOptions()));
    need(db_->CompactRange(rocksdb::CompactRangeOptions(), nullptr, nullptr));
  }
  bool get(std::string_view key, std::string& buffer) override {
    pinned_.Reset();
    const rocksdb::Status status = db_->Get(rocksdb::ReadOptions(), db_->DefaultColumnFamily(), slice(key), &pinned_);
    if (status.IsNotFound()) return false;
    need(status);
    buffer.assign(pinned_.data(), pinned_.size());
    return true;
  }
  std::uint64_t scan(std::string_view from, std::size_t count) override {
    std::uint64_t bytes = 0;
    const std::unique_ptr<rocksdb::Iterator> it(db_->NewIterator(rocksdb::ReadOptions()));
    for (it->Seek(slice(from)); count > 0 && it->Valid(); --count, it->Next()) {
      bytes += it->key().size() + it->value().size();
    }
    need(it->status());
    return bytes;
  }
  void close() override {
    pinned_.Reset();
    need(db_->Close());
    db_.reset();
  }

 private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteBatch batch_;
  rocksdb::PinnableSlice pinned_;
};

}  // namespace

std::unique_ptr<StoreContestant> make_rocksdb() { return std::make_unique<RocksdbContestant>(); }

}  // namespace tamis::bench

#endif
