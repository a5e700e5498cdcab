// Keyspaces in C.
#include "tamis/c/keyspace.h"

#include <utility>

#include "capi/db.h"
#include "text/json.h"

using namespace tamis;
using namespace tamis::capi;

tamis_code_t tamis_keyspace_open(tamis_t* db, const char* name, size_t name_size,
                                 const tamis_keyspace_options_t* options, tamis_keyspace_t** keyspace, char** errptr) {
  *keyspace = nullptr;
  return answer(errptr, [&] {
    const KeyspaceOptions given = options != nullptr ? options->options : KeyspaceOptions();
    Result<Keyspace> opened = db->db.keyspace(bytes_of(name, name_size), given);
    if (opened.ok()) *keyspace = new tamis_keyspace{.keyspace = std::move(opened.value()), .owner = db->number};
    return opened.status();
  });
}
void tamis_keyspace_free(tamis_keyspace_t* keyspace) { delete keyspace; }
const char* tamis_keyspace_name(const tamis_keyspace_t* keyspace, size_t* size) {
  return give_view(keyspace->keyspace.name(), size);
}
uint32_t tamis_keyspace_id(const tamis_keyspace_t* keyspace) { return keyspace->keyspace.id(); }
tamis_code_t tamis_keyspace_drop(tamis_t* db, const char* name, size_t name_size, char** errptr) {
  return answer(errptr, [&] { return db->db.drop_keyspace(bytes_of(name, name_size)); });
}
void tamis_keyspace_names(tamis_t* db, tamis_values_t* names) {
  never_throws([&] {
    names->values.clear();
    for (KeyspaceInfo& keyspace : db->db.keyspaces()) names->values.emplace_back(std::move(keyspace.name));
  });
}
char* tamis_keyspaces_json(tamis_t* db) {
  return never_throws([&] {
    std::vector<JsonObject> objects;
    for (const KeyspaceInfo& keyspace : db->db.keyspaces()) {
      objects.push_back(JsonObject().add_fields(keyspace.to_json()));
    }
    return give_text(json_value(objects));
  });
}
