// Filters in C: options, building, probing.
#include <algorithm>
#include <array>
#include <cstring>

#include "capi/filter_options.h"
#include "capi/status.h"
#include "text/json.h"

using namespace tamis;
using namespace tamis::capi;

struct tamis_filter_builder {
  FilterBuilder builder;
};

namespace tamis::capi {

char* give_info(const FilterInfo& info) {
  return never_throws([&] {
    return give_text(JsonObject()
                         .add("kind", info.kind)
                         .add("layout", info.layout)
                         .add("keys", info.keys)
                         .add("bytes", info.bytes)
                         .add("bits", info.bits)
                         .add("hashes", info.hashes)
                         .add("fill", info.fill)
                         .add("estimated_keys", info.estimated_keys)
                         .add("estimated_rate", info.estimated_rate)
                         .add("designed_rate", info.designed_rate)
                         .add("seed", info.seed.key ? std::nullopt : std::optional(info.seed.seed))
                         .add("prefix_rule", info.prefix_rule.to_text())
                         .text());
  });
}

}  // namespace tamis::capi

const char* tamis_filter_kind_name(size_t index, size_t* size) { return give_name(filter_kinds(), index, size); }

tamis_filter_options_t* tamis_filter_options_create() { return make<tamis_filter_options>(); }
void tamis_filter_options_free(tamis_filter_options_t* options) { delete options; }
void tamis_filter_options_set_kind(tamis_filter_options_t* options, const char* kind) {
  never_throws([&] { options->options.kind = kind; });
}
void tamis_filter_options_set_target_rate(tamis_filter_options_t* options, double rate) {
  options->options.target_rate = rate;
}
void tamis_filter_options_set_bits_per_key(tamis_filter_options_t* options, double bits) {
  options->options.bits_per_key = bits;
}
void tamis_filter_options_set_memory_bytes(tamis_filter_options_t* options, uint64_t bytes) {
  options->options.memory_bytes = bytes;
}
void tamis_filter_options_set_capacity(tamis_filter_options_t* options, uint64_t keys) {
  options->options.capacity = keys;
}
void tamis_filter_options_set_seed(tamis_filter_options_t* options, uint64_t seed) {
  options->options.seed = {.seed = seed};
}
void tamis_filter_options_set_secret(tamis_filter_options_t* options, const unsigned char* bytes_16) {
  std::memcpy(options->options.seed.key.emplace().data(), bytes_16, 16);
}
tamis_code_t tamis_filter_options_set_prefix_rule(tamis_filter_options_t* options, const char* rule, char** errptr) {
  return answer(errptr, [&] { return take(PrefixRule::parse(rule), &options->options.prefix_rule); });
}

tamis_code_t tamis_filter_open(const char* path, tamis_filter_t** filter, char** errptr) {
  return answer(errptr, [&] { return take_handle(Filter::open(path), filter); });
}
tamis_code_t tamis_filter_from_bytes(const void* bytes, size_t size, tamis_filter_t** filter, char** errptr) {
  return answer(errptr, [&] {
    return take_handle(Filter::from_bytes({static_cast<const std::byte*>(bytes), size}), filter);
  });
}
void tamis_filter_free(tamis_filter_t* filter) { delete filter; }
bool tamis_filter_may_contain(const tamis_filter_t* filter, const char* key, size_t key_size) {
  return filter->filter.may_contain(bytes_of(key, key_size));
}
bool tamis_filter_may_contain_hash(const tamis_filter_t* filter, uint64_t hash) {
  return filter->filter.may_contain_hash(hash);
}
bool tamis_filter_may_contain_prefix(const tamis_filter_t* filter, const char* prefix, size_t prefix_size) {
  return filter->filter.may_contain_prefix(bytes_of(prefix, prefix_size));
}
void tamis_filter_may_contain_many(const tamis_filter_t* filter, size_t count, const char* const* keys,
                                   const size_t* key_sizes, uint64_t* answers) {
  never_throws([&] { filter->filter.may_contain_many(views_of(count, keys, key_sizes), answers); });
}
void tamis_filter_may_contain_many_hashes(const tamis_filter_t* filter, size_t count, const uint64_t* hashes,
                                          uint64_t* answers) {
  filter->filter.may_contain_many(std::span(hashes, count), answers);
}
void tamis_filter_may_contain_rows(const tamis_filter_t* filter, size_t count, const void* rows, size_t key_size,
                                   uint64_t* answers) {
  constexpr std::size_t kSome = 1024;  // Whole words of answers.
  std::array<std::string_view, kSome> keys;
  for (std::size_t first = 0; first < count; first += kSome) {
    const std::size_t some = std::min(kSome, count - first);
    for (std::size_t i = 0; i < some; ++i) keys[i] = row_of(rows, key_size, first + i);
    filter->filter.may_contain_many(std::span(keys).first(some), answers + first / 64);
  }
}
uint64_t tamis_filter_hash(const tamis_filter_t* filter, const char* key, size_t key_size) {
  return filter->filter.hash(bytes_of(key, key_size));
}
const void* tamis_filter_bytes(const tamis_filter_t* filter, size_t* size) {
  *size = filter->filter.bytes().size();
  return filter->filter.bytes().data();
}
tamis_code_t tamis_filter_save(const tamis_filter_t* filter, const char* path, char** errptr) {
  return answer(errptr, [&] { return filter->filter.save(path); });
}
char* tamis_filter_info_json(const tamis_filter_t* filter) { return give_info(filter->filter.info()); }

tamis_filter_builder_t* tamis_filter_builder_create(const tamis_filter_options_t* options) {
  return never_throws(
      [&] { return new tamis_filter_builder{FilterBuilder(options != nullptr ? options->options : FilterOptions())}; });
}
void tamis_filter_builder_free(tamis_filter_builder_t* builder) { delete builder; }
void tamis_filter_builder_add(tamis_filter_builder_t* builder, const char* key, size_t key_size) {
  never_throws([&] { builder->builder.add(bytes_of(key, key_size)); });
}
void tamis_filter_builder_add_rows(tamis_filter_builder_t* builder, size_t count, const void* rows, size_t key_size) {
  never_throws([&] {
    for (std::size_t i = 0; i < count; ++i) builder->builder.add(row_of(rows, key_size, i));
  });
}
void tamis_filter_builder_add_hash(tamis_filter_builder_t* builder, uint64_t hash) {
  never_throws([&] { builder->builder.add_hash(hash); });
}
uint64_t tamis_filter_builder_hash(const tamis_filter_builder_t* builder, const char* key, size_t key_size) {
  return builder->builder.hash(bytes_of(key, key_size));
}
uint64_t tamis_filter_builder_keys(const tamis_filter_builder_t* builder) { return builder->builder.keys(); }
tamis_code_t tamis_filter_builder_finish(tamis_filter_builder_t* builder, tamis_filter_t** filter, char** errptr) {
  return answer(errptr, [&] { return take_handle(builder->builder.finish(), filter); });
}
