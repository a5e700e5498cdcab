#include "store/contestant.h"

#ifndef TAMIS_HAS_ROCKSDB

std::unique_ptr<tamis::bench::Contestant> tamis::bench::make_rocksdb() { return nullptr; }

#else

#include <fmt/core.h>
#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>
#include <rocksdb/table.h>
#include <rocksdb/version.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <chrono>
#include <limits>
#include <thread>

namespace tamis::bench {
namespace {

constexpr std::size_t kBlockBytes = 4096;
constexpr std::size_t kMaxAtOnce = 128;

void need(const rocksdb::Status& status) {
  if (!status.ok()) stop("rocksdb: " + status.ToString());
}

rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

class RocksdbSession final : public Session {
 public:
  explicit RocksdbSession(rocksdb::DB& db) : db_(db) {}

  void put(std::string_view key, std::string_view value, bool sync) override {
    need(db_.Put(writing(sync), slice(key), slice(value)));
  }
  void put_batch(std::span<const Entry> entries, bool sync) override {
    batch_.Clear();
    for (const Entry& entry : entries) need(batch_.Put(slice(entry.key), slice(entry.value)));
    need(db_.Write(writing(sync), &batch_));
  }
  bool get(std::string_view key, std::string& buffer) override {
    if (!pin(key)) return false;
    buffer.assign(pinned_.data(), pinned_.size());
    return true;
  }
  [[nodiscard]] bool can_pin() const override { return true; }
  void get_pinned(std::string_view key, Tally& tally) override {
    if (pin(key)) tally.add(view(pinned_));
  }
  void multi_get(std::span<const std::string_view> keys, Tally& tally) override {
    if (keys.size() > kMaxAtOnce) return Session::multi_get(keys, tally);
    std::array<rocksdb::Slice, kMaxAtOnce> slices;
    std::array<rocksdb::PinnableSlice, kMaxAtOnce> values;
    std::array<rocksdb::Status, kMaxAtOnce> statuses;
    for (std::size_t i = 0; i < keys.size(); ++i) slices[i] = slice(keys[i]);
    db_.MultiGet(reading_, db_.DefaultColumnFamily(), keys.size(), slices.data(), values.data(), statuses.data());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].IsNotFound()) continue;
      need(statuses[i]);
      tally.add(view(values[i]));
    }
  }
  void scan(std::string_view from, std::uint64_t count, Tally& tally) override {
    const std::unique_ptr<rocksdb::Iterator> it(db_.NewIterator(reading_));
    for (it->Seek(slice(from)); count > 0 && it->Valid(); --count, it->Next())
      tally.add(view(it->key()), view(it->value()));
    need(it->status());
  }
  bool seek(std::string_view from, std::string& key) override {
    const std::unique_ptr<rocksdb::Iterator> it(db_.NewIterator(reading_));
    it->Seek(slice(from));
    if (it->Valid()) key.assign(view(it->key()));
    need(it->status());
    return it->Valid();
  }
  void remove(std::string_view key) override { need(db_.Delete(rocksdb::WriteOptions(), slice(key))); }
  bool remove_range(std::string_view from, std::string_view to) override {
    need(db_.DeleteRange(rocksdb::WriteOptions(), db_.DefaultColumnFamily(), slice(from), slice(to)));
    return true;
  }

 private:
  static rocksdb::WriteOptions writing(bool sync) {
    rocksdb::WriteOptions options;
    options.sync = sync;
    return options;
  }
  bool pin(std::string_view key) {
    pinned_.Reset();
    const rocksdb::Status status = db_.Get(reading_, db_.DefaultColumnFamily(), slice(key), &pinned_);
    if (status.IsNotFound()) return false;
    need(status);
    return true;
  }

  rocksdb::DB& db_;
  rocksdb::ReadOptions reading_;
  rocksdb::WriteBatch batch_;
  rocksdb::PinnableSlice pinned_;
};

/// Hash index in the blocks and the clock cache: the fastest settings for lookups that we found.
rocksdb::BlockBasedTableOptions table_options(const StoreShape& shape) {
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(shape.bits_per_key, false));
  table.format_version = 5;
  table.block_size = kBlockBytes;
  table.data_block_index_type = rocksdb::BlockBasedTableOptions::kDataBlockBinaryAndHash;
  table.cache_index_and_filter_blocks = false;
  if (shape.is_cold) {
    table.no_block_cache = true;
  } else {
    table.block_cache = rocksdb::HyperClockCacheOptions(shape.cache_bytes(), kBlockBytes).MakeSharedCache();
  }
  return table;
}

rocksdb::Options options_for(const StoreShape& shape) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.compression = rocksdb::kNoCompression;
  options.write_buffer_size = shape.memtable_bytes();
  options.max_write_buffer_number = 4;
  options.max_background_jobs = 2;
  options.level_compaction_dynamic_level_bytes = true;
  options.target_file_size_base = std::uint64_t{64} << 20;
  options.max_bytes_for_level_base = std::uint64_t{256} << 20;
  options.max_open_files = -1;
  options.use_direct_reads = shape.is_cold || shape.reads_directly;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options(shape)));
  if (shape.has_large_values) {
    options.enable_blob_files = true;
    options.min_blob_size = 4096;
    options.enable_blob_garbage_collection = true;
  }
  if (shape.keeps_runs) {
    options.disable_auto_compactions = true;
    options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
    options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
  }
  return options;
}

class RocksdbContestant final : public Contestant {
 public:
  [[nodiscard]] std::string id() const override { return "rocksdb"; }
  [[nodiscard]] std::string name() const override {
    return fmt::format("RocksDB {}.{}.{}" TAMIS_ROCKSDB_BUILD, ROCKSDB_MAJOR, ROCKSDB_MINOR, ROCKSDB_PATCH);
  }
  [[nodiscard]] bool can_keep_runs() const override { return true; }
  [[nodiscard]] bool can_read_directly() const override { return true; }

  void open(const std::string& directory, const StoreShape& shape) override {
    rocksdb::DB* db = nullptr;
    need(rocksdb::DB::Open(options_for(shape), directory, &db));
    db_.reset(db);
    rocksdb::SetPerfLevel(shape.is_cold ? rocksdb::PerfLevel::kEnableCount : rocksdb::PerfLevel::kDisable);
    rocksdb::get_perf_context()->Reset();
  }
  std::unique_ptr<Session> session() override { return std::make_unique<RocksdbSession>(*db_); }
  void flush() override { need(db_->Flush(rocksdb::FlushOptions())); }
  void settle() override {
    while (is_busy()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  void compact() override {
    flush();
    rocksdb::CompactRangeOptions options;
    options.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    need(db_->CompactRange(options, nullptr, nullptr));
  }
  [[nodiscard]] std::optional<std::uint64_t> storage_reads() const override {
    return rocksdb::get_perf_context()->block_read_count;
  }
  void close() override {
    need(db_->Close());
    db_.reset();
  }

 private:
  /// Without automatic compactions one stays pending forever.
  [[nodiscard]] bool is_busy() const {
    const bool is_compaction_due =
        !db_->GetOptions().disable_auto_compactions && number("rocksdb.compaction-pending") > 0;
    return is_compaction_due || number("rocksdb.num-running-compactions") + number("rocksdb.mem-table-flush-pending") +
                                        number("rocksdb.num-running-flushes") >
                                    0;
  }
  [[nodiscard]] std::uint64_t number(const char* property) const {
    std::uint64_t value = 0;
    db_->GetIntProperty(property, &value);
    return value;
  }

  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace

std::unique_ptr<Contestant> make_rocksdb() { return std::make_unique<RocksdbContestant>(); }

}  // namespace tamis::bench

#endif
