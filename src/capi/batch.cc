// Batches in C.
#include "tamis/c/batch.h"

#include <chrono>

#include "capi/db.h"

using namespace tamis;
using namespace tamis::capi;

static_assert(TAMIS_CHANGE_PUT == static_cast<int>(Batch::Operation::Kind::kPut));
static_assert(TAMIS_CHANGE_REMOVE == static_cast<int>(Batch::Operation::Kind::kRemove));
static_assert(TAMIS_CHANGE_REMOVE_RANGE == static_cast<int>(Batch::Operation::Kind::kRemoveRange));
static_assert(TAMIS_CHANGE_MERGE == static_cast<int>(Batch::Operation::Kind::kMerge));

struct tamis_batch_cursor {
  Batch::Iterator at;
  Batch::Iterator end;
};

tamis_batch_t* tamis_batch_create() { return make<tamis_batch>(); }
void tamis_batch_free(tamis_batch_t* batch) { delete batch; }
void tamis_batch_put(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size,
                     const char* value, size_t value_size) {
  with(keyspace,
       [&](const auto&... in) { batch->batch.put(in..., bytes_of(key, key_size), bytes_of(value, value_size)); });
}
void tamis_batch_put_expiring_in(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size,
                                 const char* value, size_t value_size, int64_t milliseconds) {
  with(keyspace, [&](const auto&... in) {
    batch->batch.put(in..., bytes_of(key, key_size), bytes_of(value, value_size),
                     std::chrono::milliseconds(milliseconds));
  });
}
void tamis_batch_put_expiring_at(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size,
                                 const char* value, size_t value_size, int64_t milliseconds) {
  with(keyspace, [&](const auto&... in) {
    batch->batch.put(in..., bytes_of(key, key_size), bytes_of(value, value_size),
                     std::chrono::system_clock::time_point(std::chrono::milliseconds(milliseconds)));
  });
}
void tamis_batch_remove(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size) {
  with(keyspace, [&](const auto&... in) { batch->batch.remove(in..., bytes_of(key, key_size)); });
}
void tamis_batch_remove_range(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* from, size_t from_size,
                              const char* to, size_t to_size) {
  with(keyspace, [&](const auto&... in) {
    batch->batch.remove_range(in..., bytes_of(from, from_size), bytes_or_none(to, to_size));
  });
}
void tamis_batch_merge(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size,
                       const char* operand, size_t operand_size) {
  with(keyspace,
       [&](const auto&... in) { batch->batch.merge(in..., bytes_of(key, key_size), bytes_of(operand, operand_size)); });
}
void tamis_batch_append(tamis_batch_t* batch, const tamis_batch_t* other) {
  never_throws([&] { batch->batch.append(other->batch); });
}
void tamis_batch_clear(tamis_batch_t* batch) { batch->batch.clear(); }
tamis_code_t tamis_batch_status(const tamis_batch_t* batch, char** errptr) {
  return give_status(batch->batch.status(), errptr);
}
size_t tamis_batch_count(const tamis_batch_t* batch) { return batch->batch.size(); }
size_t tamis_batch_byte_size(const tamis_batch_t* batch) { return batch->batch.byte_size(); }

tamis_batch_cursor_t* tamis_batch_cursor_create(const tamis_batch_t* batch) {
  return make<tamis_batch_cursor>(batch->batch.begin(), batch->batch.end());
}
void tamis_batch_cursor_free(tamis_batch_cursor_t* cursor) { delete cursor; }
bool tamis_batch_cursor_valid(const tamis_batch_cursor_t* cursor) { return !(cursor->at == cursor->end); }
void tamis_batch_cursor_next(tamis_batch_cursor_t* cursor) { ++cursor->at; }
tamis_change_kind_t tamis_batch_cursor_kind(const tamis_batch_cursor_t* cursor) {
  return static_cast<tamis_change_kind_t>(cursor->at->kind);
}
const char* tamis_batch_cursor_key(const tamis_batch_cursor_t* cursor, size_t* size) {
  return give_view(cursor->at->key, size);
}
const char* tamis_batch_cursor_value(const tamis_batch_cursor_t* cursor, size_t* size) {
  return give_view(cursor->at->value, size);
}
uint32_t tamis_batch_cursor_keyspace_id(const tamis_batch_cursor_t* cursor) { return cursor->at->keyspace_id; }
int64_t tamis_batch_cursor_expires_in_ms(const tamis_batch_cursor_t* cursor) { return cursor->at->expires_in.count(); }
int64_t tamis_batch_cursor_expires_at_ms(const tamis_batch_cursor_t* cursor) {
  const std::optional<ExpiryTime>& time = cursor->at->expires_at;
  return time ? time->time_since_epoch().count() : TAMIS_NEVER_EXPIRES;
}
