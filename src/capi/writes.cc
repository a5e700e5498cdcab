// Writes in C.
#include "capi/db.h"

using namespace tamis;
using namespace tamis::capi;

tamis_code_t tamis_put(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace, const char* key,
                       size_t key_size, const char* value, size_t value_size, char** errptr) {
  return ask(db, keyspace, errptr, [&](auto& store) {
    return store.put(bytes_of(key, key_size), bytes_of(value, value_size), given(options));
  });
}
tamis_code_t tamis_remove(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                          const char* key, size_t key_size, char** errptr) {
  return ask(db, keyspace, errptr, [&](auto& store) { return store.remove(bytes_of(key, key_size), given(options)); });
}
tamis_code_t tamis_remove_range(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                                const char* from, size_t from_size, const char* to, size_t to_size, char** errptr) {
  return ask(db, keyspace, errptr, [&](auto& store) {
    return store.remove_range(bytes_of(from, from_size), bytes_or_none(to, to_size), given(options));
  });
}
tamis_code_t tamis_merge(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace, const char* key,
                         size_t key_size, const char* operand, size_t operand_size, char** errptr) {
  return ask(db, keyspace, errptr, [&](auto& store) {
    return store.merge(bytes_of(key, key_size), bytes_of(operand, operand_size), given(options));
  });
}
tamis_code_t tamis_put_if(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                          const char* key, size_t key_size, const char* expected, size_t expected_size,
                          const char* value, size_t value_size, bool* done, char** errptr) {
  if (done != nullptr) *done = false;
  return ask(db, keyspace, errptr, [&](auto& store) {
    return take(store.put_if(bytes_of(key, key_size), bytes_or_none(expected, expected_size),
                             bytes_of(value, value_size), given(options)),
                done);
  });
}
tamis_code_t tamis_remove_if(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                             const char* key, size_t key_size, const char* expected, size_t expected_size, bool* done,
                             char** errptr) {
  if (done != nullptr) *done = false;
  return ask(db, keyspace, errptr, [&](auto& store) {
    return take(store.remove_if(bytes_of(key, key_size), bytes_of(expected, expected_size), given(options)), done);
  });
}
tamis_code_t tamis_write(tamis_t* db, const tamis_write_options_t* options, const tamis_batch_t* batch, char** errptr) {
  return answer(errptr, [&] { return db->db.write(batch->batch, given(options)); });
}
tamis_code_t tamis_try_write(tamis_t* db, const tamis_write_options_t* options, const tamis_batch_t* batch,
                             char** errptr) {
  return answer(errptr, [&] { return db->db.try_write(batch->batch, given(options)); });
}
tamis_code_t tamis_sync(tamis_t* db, char** errptr) {
  return answer(errptr, [&] { return db->db.sync(); });
}
