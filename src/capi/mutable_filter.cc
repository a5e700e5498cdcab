// Mutable filters in C.
#include "capi/filter_options.h"
#include "capi/status.h"

using namespace tamis;
using namespace tamis::capi;

struct tamis_mutable_filter {
  MutableFilter filter;
};

tamis_code_t tamis_mutable_filter_create(const tamis_filter_options_t* options, tamis_mutable_filter_t** filter,
                                         char** errptr) {
  return answer(errptr, [&] {
    return take_handle(MutableFilter::create(options != nullptr ? options->options : FilterOptions()), filter);
  });
}
tamis_code_t tamis_mutable_filter_open(const char* path, tamis_mutable_filter_t** filter, char** errptr) {
  return answer(errptr, [&] { return take_handle(MutableFilter::open(path), filter); });
}
tamis_code_t tamis_mutable_filter_from_bytes(const void* bytes, size_t size, tamis_mutable_filter_t** filter,
                                             char** errptr) {
  return answer(errptr, [&] {
    return take_handle(MutableFilter::from_bytes({static_cast<const std::byte*>(bytes), size}), filter);
  });
}
void tamis_mutable_filter_free(tamis_mutable_filter_t* filter) { delete filter; }

tamis_code_t tamis_mutable_filter_add(tamis_mutable_filter_t* filter, const char* key, size_t key_size, char** errptr) {
  return answer(errptr, [&] { return filter->filter.add(bytes_of(key, key_size)); });
}
tamis_code_t tamis_mutable_filter_add_rows(tamis_mutable_filter_t* filter, size_t count, const void* rows,
                                           size_t key_size, char** errptr) {
  return answer(errptr, [&] {
    Status added;
    for (std::size_t i = 0; i < count && added.ok(); ++i) added = filter->filter.add(row_of(rows, key_size, i));
    return added;
  });
}
tamis_code_t tamis_mutable_filter_add_hash(tamis_mutable_filter_t* filter, uint64_t hash, char** errptr) {
  return answer(errptr, [&] { return filter->filter.add_hash(hash); });
}
tamis_code_t tamis_mutable_filter_remove(tamis_mutable_filter_t* filter, const char* key, size_t key_size,
                                         bool* was_there, char** errptr) {
  return tamis_mutable_filter_remove_hash(filter, filter->filter.hash(bytes_of(key, key_size)), was_there, errptr);
}
tamis_code_t tamis_mutable_filter_remove_hash(tamis_mutable_filter_t* filter, uint64_t hash, bool* was_there,
                                              char** errptr) {
  if (was_there != nullptr) *was_there = false;
  return answer(errptr, [&] { return take(filter->filter.remove_hash(hash), was_there); });
}
bool tamis_mutable_filter_may_contain(const tamis_mutable_filter_t* filter, const char* key, size_t key_size) {
  return filter->filter.may_contain(bytes_of(key, key_size));
}
bool tamis_mutable_filter_may_contain_hash(const tamis_mutable_filter_t* filter, uint64_t hash) {
  return filter->filter.may_contain_hash(hash);
}

tamis_code_t tamis_mutable_filter_merge(tamis_mutable_filter_t* filter, const tamis_mutable_filter_t* other,
                                        char** errptr) {
  return answer(errptr, [&] { return filter->filter.merge(other->filter); });
}
tamis_code_t tamis_mutable_filter_intersect(tamis_mutable_filter_t* filter, const tamis_mutable_filter_t* other,
                                            char** errptr) {
  return answer(errptr, [&] { return filter->filter.intersect(other->filter); });
}
void tamis_mutable_filter_clear(tamis_mutable_filter_t* filter) {
  never_throws([&] { filter->filter.clear(); });
}

uint64_t tamis_mutable_filter_hash(const tamis_mutable_filter_t* filter, const char* key, size_t key_size) {
  return filter->filter.hash(bytes_of(key, key_size));
}
double tamis_mutable_filter_estimated_keys(const tamis_mutable_filter_t* filter) {
  return filter->filter.estimated_keys();
}
double tamis_mutable_filter_estimated_rate(const tamis_mutable_filter_t* filter) {
  return filter->filter.estimated_rate();
}
double tamis_mutable_filter_fill(const tamis_mutable_filter_t* filter) { return filter->filter.fill(); }
tamis_code_t tamis_mutable_filter_save(const tamis_mutable_filter_t* filter, const char* path, char** errptr) {
  return answer(errptr, [&] { return filter->filter.save(path); });
}
tamis_filter_t* tamis_mutable_filter_freeze(const tamis_mutable_filter_t* filter) {
  return never_throws([&] { return new tamis_filter{filter->filter.freeze()}; });
}
char* tamis_mutable_filter_info_json(const tamis_mutable_filter_t* filter) { return give_info(filter->filter.info()); }
