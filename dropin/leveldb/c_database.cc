// leveldb/c.h: databases, iterators and batches.
#include <leveldb/c.h>
#include <leveldb/db.h>
#include <leveldb/write_batch.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "c_types.h"

using leveldb::Slice;
using leveldb::Status;

namespace {

/// Whether it failed; then the message replaces the one that is there.
bool failed(const Status& status, char** errptr) {
  if (status.ok()) return false;
  std::free(*errptr);
  *errptr = ::strdup(status.ToString().c_str());
  return true;
}

/// A copy that the program frees; not null, which would say that there is no value.
char* copy_of(std::string_view text) {
  auto* copy = static_cast<char*>(std::malloc(std::max<std::size_t>(text.size(), 1)));
  if (copy != nullptr) std::memcpy(copy, text.data(), text.size());
  return copy;
}

/// Passes the changes of a batch to two functions of the program.
class Callbacks final : public leveldb::WriteBatch::Handler {
 public:
  using PutFunction = void (*)(void*, const char* k, std::size_t klen, const char* v, std::size_t vlen);
  using DeleteFunction = void (*)(void*, const char* k, std::size_t klen);

  Callbacks(void* state, PutFunction put, DeleteFunction deleted) : state_(state), put_(put), deleted_(deleted) {}

  void Put(const Slice& key, const Slice& value) override {
    put_(state_, key.data(), key.size(), value.data(), value.size());
  }
  void Delete(const Slice& key) override { deleted_(state_, key.data(), key.size()); }

 private:
  void* const state_;
  const PutFunction put_;
  const DeleteFunction deleted_;
};

}  // namespace

extern "C" {

leveldb_t* leveldb_open(const leveldb_options_t* options, const char* name, char** errptr) {
  leveldb::DB* db = nullptr;
  return failed(leveldb::DB::Open(options->rep, name, &db), errptr) ? nullptr
                                                                    : new leveldb_t{std::unique_ptr<leveldb::DB>(db)};
}

void leveldb_close(leveldb_t* db) { delete db; }

void leveldb_put(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen, const char* val,
                 size_t vallen, char** errptr) {
  failed(db->rep->Put(options->rep, Slice(key, keylen), Slice(val, vallen)), errptr);
}

void leveldb_delete(leveldb_t* db, const leveldb_writeoptions_t* options, const char* key, size_t keylen,
                    char** errptr) {
  failed(db->rep->Delete(options->rep, Slice(key, keylen)), errptr);
}

void leveldb_write(leveldb_t* db, const leveldb_writeoptions_t* options, leveldb_writebatch_t* batch, char** errptr) {
  failed(db->rep->Write(options->rep, &batch->rep), errptr);
}

char* leveldb_get(leveldb_t* db, const leveldb_readoptions_t* options, const char* key, size_t keylen, size_t* vallen,
                  char** errptr) {
  std::string value;
  const Status status = db->rep->Get(options->rep, Slice(key, keylen), &value);
  *vallen = status.ok() ? value.size() : 0;
  if (status.ok()) return copy_of(value);
  if (!status.IsNotFound()) failed(status, errptr);
  return nullptr;
}

leveldb_iterator_t* leveldb_create_iterator(leveldb_t* db, const leveldb_readoptions_t* options) {
  return new leveldb_iterator_t{std::unique_ptr<leveldb::Iterator>(db->rep->NewIterator(options->rep))};
}

const leveldb_snapshot_t* leveldb_create_snapshot(leveldb_t* db) {
  return new leveldb_snapshot_t{db->rep->GetSnapshot()};
}

void leveldb_release_snapshot(leveldb_t* db, const leveldb_snapshot_t* snapshot) {
  db->rep->ReleaseSnapshot(snapshot->rep);
  delete snapshot;
}

char* leveldb_property_value(leveldb_t* db, const char* propname) {
  std::string value;
  return db->rep->GetProperty(propname, &value) ? ::strdup(value.c_str()) : nullptr;
}

void leveldb_approximate_sizes(leveldb_t* db, int num_ranges, const char* const* range_start_key,
                               const size_t* range_start_key_len, const char* const* range_limit_key,
                               const size_t* range_limit_key_len, uint64_t* sizes) {
  std::vector<leveldb::Range> ranges;
  for (std::size_t i = 0; i < static_cast<std::size_t>(num_ranges); ++i) {
    ranges.emplace_back(Slice(range_start_key[i], range_start_key_len[i]),
                        Slice(range_limit_key[i], range_limit_key_len[i]));
  }
  db->rep->GetApproximateSizes(ranges.data(), num_ranges, sizes);
}

void leveldb_compact_range(leveldb_t* db, const char* start_key, size_t start_key_len, const char* limit_key,
                           size_t limit_key_len) {
  const Slice start(start_key, start_key_len);
  const Slice limit(limit_key, limit_key_len);
  db->rep->CompactRange(start_key == nullptr ? nullptr : &start, limit_key == nullptr ? nullptr : &limit);
}

void leveldb_destroy_db(const leveldb_options_t* options, const char* name, char** errptr) {
  failed(leveldb::DestroyDB(name, options->rep), errptr);
}

void leveldb_repair_db(const leveldb_options_t* options, const char* name, char** errptr) {
  failed(leveldb::RepairDB(name, options->rep), errptr);
}

void leveldb_iter_destroy(leveldb_iterator_t* iterator) { delete iterator; }
uint8_t leveldb_iter_valid(const leveldb_iterator_t* iterator) { return iterator->rep->Valid() ? 1 : 0; }
void leveldb_iter_seek_to_first(leveldb_iterator_t* iterator) { iterator->rep->SeekToFirst(); }
void leveldb_iter_seek_to_last(leveldb_iterator_t* iterator) { iterator->rep->SeekToLast(); }
void leveldb_iter_seek(leveldb_iterator_t* iterator, const char* k, size_t klen) {
  iterator->rep->Seek(Slice(k, klen));
}
void leveldb_iter_next(leveldb_iterator_t* iterator) { iterator->rep->Next(); }
void leveldb_iter_prev(leveldb_iterator_t* iterator) { iterator->rep->Prev(); }

const char* leveldb_iter_key(const leveldb_iterator_t* iterator, size_t* klen) {
  const Slice key = iterator->rep->key();
  *klen = key.size();
  return key.data();
}

const char* leveldb_iter_value(const leveldb_iterator_t* iterator, size_t* vlen) {
  const Slice value = iterator->rep->value();
  *vlen = value.size();
  return value.data();
}

void leveldb_iter_get_error(const leveldb_iterator_t* iterator, char** errptr) {
  failed(iterator->rep->status(), errptr);
}

leveldb_writebatch_t* leveldb_writebatch_create() { return new leveldb_writebatch_t(); }
void leveldb_writebatch_destroy(leveldb_writebatch_t* batch) { delete batch; }
void leveldb_writebatch_clear(leveldb_writebatch_t* batch) { batch->rep.Clear(); }
void leveldb_writebatch_put(leveldb_writebatch_t* batch, const char* key, size_t klen, const char* val, size_t vlen) {
  batch->rep.Put(Slice(key, klen), Slice(val, vlen));
}
void leveldb_writebatch_delete(leveldb_writebatch_t* batch, const char* key, size_t klen) {
  batch->rep.Delete(Slice(key, klen));
}

void leveldb_writebatch_iterate(const leveldb_writebatch_t* batch, void* state,
                                void (*put)(void*, const char* k, size_t klen, const char* v, size_t vlen),
                                void (*deleted)(void*, const char* k, size_t klen)) {
  Callbacks callbacks(state, put, deleted);
  (void)batch->rep.Iterate(&callbacks);  // The function has no way to return an error.
}

void leveldb_writebatch_append(leveldb_writebatch_t* destination, const leveldb_writebatch_t* source) {
  destination->rep.Append(source->rep);
}

void leveldb_free(void* ptr) { std::free(ptr); }
int leveldb_major_version() { return leveldb::kMajorVersion; }
int leveldb_minor_version() { return leveldb::kMinorVersion; }

}  // extern "C"
