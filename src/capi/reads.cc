// Reads and snapshots in C.
#include "capi/db.h"
#include "capi/values.h"

using namespace tamis;
using namespace tamis::capi;

struct tamis_pinned {
  PinnedValue value;
};

tamis_code_t tamis_get(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace, const char* key,
                       size_t key_size, char** value, size_t* value_size, char** errptr) {
  *value = nullptr;
  *value_size = 0;
  return ask(db, keyspace, errptr, [&](auto& store) {
    const auto get = [&](std::string* to) { return store.get(bytes_of(key, key_size), to, given(options)); };
    return give_value(get, value, value_size);
  });
}
tamis_code_t tamis_get_into(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                            const char* key, size_t key_size, char* buffer, size_t capacity, size_t* value_size,
                            bool* found, char** errptr) {
  *found = false;
  *value_size = 0;
  return ask(db, keyspace, errptr, [&](auto& store) {
    const auto get = [&](std::string* to) { return store.get(bytes_of(key, key_size), to, given(options)); };
    return give_value_into(get, buffer, capacity, value_size, found);
  });
}
tamis_code_t tamis_exists(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace, const char* key,
                          size_t key_size, bool* found, char** errptr) {
  *found = false;
  return ask(db, keyspace, errptr,
             [&](auto& store) { return take(store.exists(bytes_of(key, key_size), given(options)), found); });
}
tamis_code_t tamis_get_pinned(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                              const char* key, size_t key_size, tamis_pinned_t** value, char** errptr) {
  *value = nullptr;
  return ask(db, keyspace, errptr, [&](auto& store) {
    Result<std::optional<PinnedValue>> got = store.get_pinned(bytes_of(key, key_size), given(options));
    if (got.ok() && got->has_value()) *value = new tamis_pinned{*std::move(*got)};
    return got.status();
  });
}
const char* tamis_pinned_value(const tamis_pinned_t* value, size_t* size) {
  return give_view(value->value.view(), size);
}
void tamis_pinned_free(tamis_pinned_t* value) { delete value; }

tamis_code_t tamis_multi_get(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace, size_t count,
                             const char* const* keys, const size_t* key_sizes, tamis_values_t* values, char** errptr) {
  return ask(db, keyspace, errptr, [&](auto& store) {
    return store.multi_get(views_of(count, keys, key_sizes), &values->values, given(options));
  });
}

tamis_snapshot_t* tamis_snapshot_create(tamis_t* db) {
  return never_throws([&] { return new tamis_snapshot{db->db.snapshot({.file = "tamis_snapshot_create"})}; });
}
uint64_t tamis_snapshot_sequence(const tamis_snapshot_t* snapshot) { return snapshot->snapshot.sequence(); }
void tamis_snapshot_free(tamis_snapshot_t* snapshot) { delete snapshot; }
