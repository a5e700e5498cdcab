#include "store/contestant.h"

#ifndef TAMIS_HAS_LEVELDB

std::unique_ptr<tamis::bench::Contestant> tamis::bench::make_leveldb() { return nullptr; }

#else

#include <fmt/core.h>
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "store/process_facts.h"

namespace tamis::bench {
namespace {

void need(const leveldb::Status& status) {
  if (!status.ok()) stop("leveldb: " + status.ToString());
}

leveldb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }
std::string_view view(const leveldb::Slice& slice) { return {slice.data(), slice.size()}; }

class LeveldbSession final : public Session {
 public:
  explicit LeveldbSession(leveldb::DB& db) : db_(db) {}

  void put(std::string_view key, std::string_view value, bool sync) override {
    need(db_.Put(writing(sync), slice(key), slice(value)));
  }
  void put_batch(std::span<const Entry> entries, bool sync) override {
    batch_.Clear();
    for (const Entry& entry : entries) batch_.Put(slice(entry.key), slice(entry.value));
    need(db_.Write(writing(sync), &batch_));
  }
  bool get(std::string_view key, std::string& buffer) override {
    const leveldb::Status status = db_.Get(leveldb::ReadOptions(), slice(key), &buffer);
    if (status.IsNotFound()) return false;
    need(status);
    return true;
  }
  void scan(std::string_view from, std::uint64_t count, Tally& tally) override {
    const std::unique_ptr<leveldb::Iterator> it(db_.NewIterator(leveldb::ReadOptions()));
    for (it->Seek(slice(from)); count > 0 && it->Valid(); --count, it->Next())
      tally.add(view(it->key()), view(it->value()));
    need(it->status());
  }
  bool seek(std::string_view from, std::string& key) override {
    const std::unique_ptr<leveldb::Iterator> it(db_.NewIterator(leveldb::ReadOptions()));
    it->Seek(slice(from));
    if (it->Valid()) key.assign(view(it->key()));
    need(it->status());
    return it->Valid();
  }
  void remove(std::string_view key) override { need(db_.Delete(leveldb::WriteOptions(), slice(key))); }

 private:
  static leveldb::WriteOptions writing(bool sync) {
    leveldb::WriteOptions options;
    options.sync = sync;
    return options;
  }

  leveldb::DB& db_;
  leveldb::WriteBatch batch_;
};

/// Counts reads of tables; forwards everything else.
class CountingEnv final : public leveldb::EnvWrapper {
 public:
  CountingEnv() : EnvWrapper(leveldb::Env::Default()) {}

  leveldb::Status NewRandomAccessFile(const std::string& path, leveldb::RandomAccessFile** file) override {
    const leveldb::Status status = target()->NewRandomAccessFile(path, file);
    if (status.ok()) *file = new CountingFile(*file, reads);
    return status;
  }

  std::atomic<std::uint64_t> reads = 0;

 private:
  class CountingFile final : public leveldb::RandomAccessFile {
   public:
    CountingFile(leveldb::RandomAccessFile* file, std::atomic<std::uint64_t>& reads) : file_(file), reads_(reads) {}
    leveldb::Status Read(std::uint64_t offset, std::size_t bytes, leveldb::Slice* result,
                         char* scratch) const override {
      reads_.fetch_add(1, std::memory_order_relaxed);
      return file_->Read(offset, bytes, result, scratch);
    }

   private:
    std::unique_ptr<leveldb::RandomAccessFile> file_;
    std::atomic<std::uint64_t>& reads_;
  };
};

class LeveldbContestant final : public Contestant {
 public:
  [[nodiscard]] std::string id() const override { return "leveldb"; }
  [[nodiscard]] std::string name() const override {
    return fmt::format("LevelDB {}.{}" TAMIS_LEVELDB_BUILD, leveldb::kMajorVersion, leveldb::kMinorVersion);
  }

  void open(const std::string& directory, const StoreShape& shape) override {
    filter_.reset(leveldb::NewBloomFilterPolicy(static_cast<int>(shape.bits_per_key)));
    cache_.reset(leveldb::NewLRUCache(shape.is_cold ? 0 : shape.cache_bytes()));
    leveldb::Options options;
    options.create_if_missing = true;
    options.compression = leveldb::kNoCompression;
    options.write_buffer_size = shape.memtable_bytes();
    options.max_file_size = std::size_t{32} << 20;
    options.max_open_files = 5000;
    options.filter_policy = filter_.get();
    options.block_cache = cache_.get();
    if (shape.is_cold) options.env = &counting_;
    counting_.reads = 0;
    leveldb::DB* db = nullptr;
    need(leveldb::DB::Open(options, directory, &db));
    db_.reset(db);
  }
  std::unique_ptr<Session> session() override { return std::make_unique<LeveldbSession>(*db_); }
  /// It has no flush; compacting a range behind all keys starts with one.
  void flush() override {
    const std::string behind(32, '\xff');
    const leveldb::Slice range(behind);
    db_->CompactRange(&range, &range);
  }
  /// It does not report background work: wait until the process has written nothing for a while.
  void settle() override {
    constexpr int kQuietChecks = 6;
    std::uint64_t before = bytes_written();
    for (int quiet = 0; quiet < kQuietChecks;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      const std::uint64_t now = bytes_written();
      quiet = now == before ? quiet + 1 : 0;
      before = now;
    }
  }
  void compact() override { db_->CompactRange(nullptr, nullptr); }
  [[nodiscard]] std::optional<std::uint64_t> storage_reads() const override { return counting_.reads.load(); }
  void close() override {
    db_.reset();
    cache_.reset();
    filter_.reset();
  }

 private:
  CountingEnv counting_;
  std::unique_ptr<const leveldb::FilterPolicy> filter_;
  std::unique_ptr<leveldb::Cache> cache_;
  std::unique_ptr<leveldb::DB> db_;
};

}  // namespace

std::unique_ptr<Contestant> make_leveldb() { return std::make_unique<LeveldbContestant>(); }

}  // namespace tamis::bench

#endif
