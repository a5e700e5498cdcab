#include "database.h"

#include <leveldb/write_batch.h>

#include <optional>
#include <utility>

#include "properties.h"
#include "status.h"
#include "views.h"
#include "write_batch.h"

namespace tamis::dropin {
namespace {

class HeldSnapshot final : public leveldb::Snapshot {
 public:
  explicit HeldSnapshot(tamis::Snapshot snapshot) : held(std::move(snapshot)) {}
  ~HeldSnapshot() override = default;

  const tamis::Snapshot held;
};

const Snapshot* held_by(const leveldb::Snapshot* snapshot) {
  return snapshot == nullptr ? nullptr : &static_cast<const HeldSnapshot*>(snapshot)->held;
}

class StoreIterator final : public leveldb::Iterator {
 public:
  explicit StoreIterator(tamis::Iterator walk) : walk_(std::move(walk)) {}

  bool Valid() const override { return walk_.valid(); }
  void SeekToFirst() override { walk_.seek_to_first(); }
  void SeekToLast() override { walk_.seek_to_last(); }
  void Seek(const leveldb::Slice& target) override { walk_.seek(view_of(target)); }
  void Next() override { walk_.next(); }
  void Prev() override { walk_.previous(); }
  leveldb::Slice key() const override { return slice_of(walk_.key()); }
  leveldb::Slice value() const override { return slice_of(walk_.value()); }
  leveldb::Status status() const override { return leveldb_status(walk_.status()); }

 private:
  tamis::Iterator walk_;
};

}  // namespace

// A program may have left iterators behind: they then belong to a store that is closed.
Database::~Database() {
  const Status closed = store_.close();
  if (!closed.ok()) log_->failed("close", closed);
}

leveldb::Status Database::Put(const leveldb::WriteOptions& options, const leveldb::Slice& key,
                              const leveldb::Slice& value) {
  return leveldb_status(store_.put(view_of(key), view_of(value), {.sync = options.sync}));
}

leveldb::Status Database::Delete(const leveldb::WriteOptions& options, const leveldb::Slice& key) {
  return leveldb_status(store_.remove(view_of(key), {.sync = options.sync}));
}

leveldb::Status Database::Write(const leveldb::WriteOptions& options, leveldb::WriteBatch* updates) {
  if (updates == nullptr) return leveldb_status(store_.flush());
  Batch batch;
  const Status copied = copy_records(*updates, batch);
  return leveldb_status(copied.ok() ? store_.write(batch, {.sync = options.sync}) : copied);
}

leveldb::Status Database::Get(const leveldb::ReadOptions& options, const leveldb::Slice& key, std::string* value) {
  const ReadOptions read{.snapshot = held_by(options.snapshot), .fills_cache = options.fill_cache};
  const Result<bool> found = store_.get(view_of(key), value, read);
  if (!found.ok()) return leveldb_status(found.status());
  return *found ? leveldb::Status::OK() : leveldb::Status::NotFound(leveldb::Slice());
}

leveldb::Iterator* Database::NewIterator(const leveldb::ReadOptions& options) {
  return new StoreIterator(
      store_.scan({.positioned = false, .snapshot = held_by(options.snapshot), .fills_cache = options.fill_cache}));
}

const leveldb::Snapshot* Database::GetSnapshot() { return new HeldSnapshot(store_.snapshot()); }
void Database::ReleaseSnapshot(const leveldb::Snapshot* snapshot) { delete static_cast<const HeldSnapshot*>(snapshot); }

bool Database::GetProperty(const leveldb::Slice& property, std::string* value) {
  const std::optional<std::string> found = dropin::property(view_of(property), store_.stats());
  *value = found.value_or(std::string());
  return found.has_value();
}

void Database::GetApproximateSizes(const leveldb::Range* range, int n, std::uint64_t* sizes) {
  const auto count = static_cast<std::size_t>(n);
  for (std::size_t i = 0; i < count; ++i) {
    sizes[i] = store_.approximate_size({view_of(range[i].start), view_of(range[i].limit)}).value_or(0);
  }
}

void Database::CompactRange(const leveldb::Slice* begin, const leveldb::Slice* end) {
  Range range;
  std::string after_end;
  if (begin != nullptr) range.from = view_of(*begin);
  if (end != nullptr) {
    after_end = std::string(view_of(*end)) + '\0';  // LevelDB's range includes its end.
    range.to = after_end;
  }
  const Status compacted = store_.compact(range);
  if (!compacted.ok()) log_->failed("CompactRange", compacted);
}

}  // namespace tamis::dropin

namespace leveldb {

DB::~DB() = default;
Snapshot::~Snapshot() = default;

// For classes of programs that derive from DB.
Status DB::Put(const WriteOptions& options, const Slice& key, const Slice& value) {
  WriteBatch batch;
  batch.Put(key, value);
  return Write(options, &batch);
}
Status DB::Delete(const WriteOptions& options, const Slice& key) {
  WriteBatch batch;
  batch.Delete(key);
  return Write(options, &batch);
}

}  // namespace leveldb
