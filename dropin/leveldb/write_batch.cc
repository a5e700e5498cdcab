// leveldb::WriteBatch.
#include <leveldb/write_batch.h>

#include "batch_records.h"
#include "views.h"
#include "write_batch.h"

namespace leveldb {

using tamis::dropin::BatchRecord;
using tamis::dropin::BatchRecords;
using tamis::dropin::slice_of;
using tamis::dropin::view_of;

/// LevelDB's header names it as a friend.
class WriteBatchInternal {
 public:
  static const std::string& bytes(const WriteBatch& batch) { return batch.rep_; }
};

WriteBatch::Handler::~Handler() = default;

WriteBatch::WriteBatch() : rep_(BatchRecords::empty()) {}
WriteBatch::~WriteBatch() = default;

void WriteBatch::Put(const Slice& key, const Slice& value) {
  BatchRecords::add_put(rep_, view_of(key), view_of(value));
}
void WriteBatch::Delete(const Slice& key) { BatchRecords::add_delete(rep_, view_of(key)); }
void WriteBatch::Clear() { rep_.assign(BatchRecords::kHeader, '\0'); }
size_t WriteBatch::ApproximateSize() const { return rep_.size(); }
void WriteBatch::Append(const WriteBatch& source) { BatchRecords::append(rep_, source.rep_); }

Status WriteBatch::Iterate(Handler* handler) const {
  BatchRecords records(rep_);
  while (const std::optional<BatchRecord> record = records.next()) {
    if (record->value) {
      handler->Put(slice_of(record->key), slice_of(*record->value));
    } else {
      handler->Delete(slice_of(record->key));
    }
  }
  return records.damage() == nullptr ? Status::OK() : Status::Corruption("write batch", records.damage());
}

}  // namespace leveldb

namespace tamis::dropin {

Status copy_records(const leveldb::WriteBatch& from, Batch& to) {
  BatchRecords records(leveldb::WriteBatchInternal::bytes(from));
  while (const std::optional<BatchRecord> record = records.next()) {
    record->value ? to.put(record->key, *record->value) : to.remove(record->key);
  }
  if (records.damage() != nullptr) return Status::corruption(std::string("write batch: ") + records.damage());
  return to.status();
}

}  // namespace tamis::dropin
