// Iterators in C.
#include "capi/db.h"

using namespace tamis;
using namespace tamis::capi;

namespace tamis::capi {

Status give_iterator(Iterator made, tamis_iterator_t** iterator) {
  Status begun = made.status();
  if (begun.ok()) *iterator = new tamis_iterator{std::move(made)};
  return begun;
}

}  // namespace tamis::capi

tamis_code_t tamis_scan(tamis_t* db, const tamis_scan_options_t* options, tamis_keyspace_t* keyspace,
                        tamis_iterator_t** iterator, char** errptr) {
  *iterator = nullptr;
  return ask(db, keyspace, errptr,
             [&](auto& store) { return give_iterator(store.scan(given(options), {.file = "tamis_scan"}), iterator); });
}
void tamis_iterator_free(tamis_iterator_t* iterator) { delete iterator; }
bool tamis_iterator_valid(const tamis_iterator_t* iterator) { return iterator->iterator.valid(); }
const char* tamis_iterator_key(const tamis_iterator_t* iterator, size_t* size) {
  return give_view(iterator->iterator.key(), size);
}
const char* tamis_iterator_value(const tamis_iterator_t* iterator, size_t* size) {
  return give_view(iterator->iterator.value(), size);
}
int64_t tamis_iterator_expires_at_ms(const tamis_iterator_t* iterator) {
  const std::optional<ExpiryTime> time = iterator->iterator.expires_at();
  return time ? time->time_since_epoch().count() : TAMIS_NEVER_EXPIRES;
}
tamis_code_t tamis_iterator_status(const tamis_iterator_t* iterator, char** errptr) {
  return give_status(iterator->iterator.status(), errptr);
}
void tamis_iterator_advance(tamis_iterator_t* iterator) { iterator->iterator.advance(); }
void tamis_iterator_next(tamis_iterator_t* iterator) { iterator->iterator.next(); }
void tamis_iterator_previous(tamis_iterator_t* iterator) { iterator->iterator.previous(); }
void tamis_iterator_seek(tamis_iterator_t* iterator, const char* key, size_t key_size) {
  iterator->iterator.seek(bytes_of(key, key_size));
}
void tamis_iterator_seek_before(tamis_iterator_t* iterator, const char* key, size_t key_size) {
  iterator->iterator.seek_before(bytes_of(key, key_size));
}
void tamis_iterator_seek_to_first(tamis_iterator_t* iterator) { iterator->iterator.seek_to_first(); }
void tamis_iterator_seek_to_last(tamis_iterator_t* iterator) { iterator->iterator.seek_to_last(); }
