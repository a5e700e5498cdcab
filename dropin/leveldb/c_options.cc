// leveldb/c.h: options, and what they point to.
#include <leveldb/cache.h>
#include <leveldb/comparator.h>
#include <leveldb/env.h>
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "c_types.h"

using leveldb::Slice;

/// An order of the program, known by its name: DB::Open decides.
struct leveldb_comparator_t final : leveldb::Comparator {
  ~leveldb_comparator_t() override { destructor(state); }
  const char* Name() const override { return name(state); }
  int Compare(const Slice& a, const Slice& b) const override {
    return compare(state, a.data(), a.size(), b.data(), b.size());
  }
  void FindShortestSeparator(std::string* /*start*/, const Slice& /*limit*/) const override {}
  void FindShortSuccessor(std::string* /*key*/) const override {}

  void* state = nullptr;
  void (*destructor)(void*) = nullptr;
  int (*compare)(void*, const char* a, std::size_t alen, const char* b, std::size_t blen) = nullptr;
  const char* (*name)(void*) = nullptr;
};

/// A filter of the program, or LevelDB's.
struct leveldb_filterpolicy_t final : leveldb::FilterPolicy {
  ~leveldb_filterpolicy_t() override {
    if (bloom == nullptr) destructor(state);
  }
  const char* Name() const override { return bloom == nullptr ? name(state) : bloom->Name(); }
  void CreateFilter(const Slice* keys, int n, std::string* dst) const override {
    if (bloom != nullptr) return bloom->CreateFilter(keys, n, dst);
    std::vector<const char*> starts;
    std::vector<std::size_t> lengths;
    for (const Slice& key : std::span(keys, static_cast<std::size_t>(n))) {
      starts.push_back(key.data());
      lengths.push_back(key.size());
    }
    std::size_t bytes = 0;
    const std::unique_ptr<char, decltype(&std::free)> filter(create(state, starts.data(), lengths.data(), n, &bytes),
                                                             &std::free);
    dst->append(filter.get(), bytes);
  }
  bool KeyMayMatch(const Slice& key, const Slice& filter) const override {
    if (bloom != nullptr) return bloom->KeyMayMatch(key, filter);
    return key_match(state, key.data(), key.size(), filter.data(), filter.size()) != 0;
  }

  std::unique_ptr<const leveldb::FilterPolicy> bloom;  // Null: the functions are set.
  void* state = nullptr;
  void (*destructor)(void*) = nullptr;
  char* (*create)(void*, const char* const* keys, const std::size_t* lengths, int count, std::size_t* bytes) = nullptr;
  std::uint8_t (*key_match)(void*, const char* key, std::size_t length, const char* filter,
                            std::size_t bytes) = nullptr;
  const char* (*name)(void*) = nullptr;
};

extern "C" {

leveldb_options_t* leveldb_options_create() { return new leveldb_options_t(); }
void leveldb_options_destroy(leveldb_options_t* options) { delete options; }
void leveldb_options_set_comparator(leveldb_options_t* options, leveldb_comparator_t* comparator) {
  options->rep.comparator = comparator;
}
void leveldb_options_set_filter_policy(leveldb_options_t* options, leveldb_filterpolicy_t* policy) {
  options->rep.filter_policy = policy;
}
void leveldb_options_set_create_if_missing(leveldb_options_t* options, uint8_t value) {
  options->rep.create_if_missing = value != 0;
}
void leveldb_options_set_error_if_exists(leveldb_options_t* options, uint8_t value) {
  options->rep.error_if_exists = value != 0;
}
void leveldb_options_set_paranoid_checks(leveldb_options_t* options, uint8_t value) {
  options->rep.paranoid_checks = value != 0;
}
void leveldb_options_set_env(leveldb_options_t* options, leveldb_env_t* env) {
  options->rep.env = env == nullptr ? nullptr : env->rep;
}
void leveldb_options_set_info_log(leveldb_options_t* options, leveldb_logger_t* logger) {
  options->rep.info_log = logger == nullptr ? nullptr : logger->rep;
}
void leveldb_options_set_write_buffer_size(leveldb_options_t* options, size_t bytes) {
  options->rep.write_buffer_size = bytes;
}
void leveldb_options_set_max_open_files(leveldb_options_t* options, int files) { options->rep.max_open_files = files; }
void leveldb_options_set_cache(leveldb_options_t* options, leveldb_cache_t* cache) {
  options->rep.block_cache = cache == nullptr ? nullptr : cache->rep.get();
}
void leveldb_options_set_block_size(leveldb_options_t* options, size_t bytes) { options->rep.block_size = bytes; }
void leveldb_options_set_block_restart_interval(leveldb_options_t* options, int keys) {
  options->rep.block_restart_interval = keys;
}
void leveldb_options_set_max_file_size(leveldb_options_t* options, size_t bytes) { options->rep.max_file_size = bytes; }
void leveldb_options_set_compression(leveldb_options_t* options, int type) {
  options->rep.compression = static_cast<leveldb::CompressionType>(type);
}

leveldb_comparator_t* leveldb_comparator_create(void* state, void (*destructor)(void*),
                                                int (*compare)(void*, const char* a, size_t alen, const char* b,
                                                               size_t blen),
                                                const char* (*name)(void*)) {
  auto* comparator = new leveldb_comparator_t();
  comparator->state = state;
  comparator->destructor = destructor;
  comparator->compare = compare;
  comparator->name = name;
  return comparator;
}
void leveldb_comparator_destroy(leveldb_comparator_t* comparator) { delete comparator; }

leveldb_filterpolicy_t* leveldb_filterpolicy_create(void* state, void (*destructor)(void*),
                                                    char* (*create_filter)(void*, const char* const* key_array,
                                                                           const size_t* key_length_array, int num_keys,
                                                                           size_t* filter_length),
                                                    uint8_t (*key_may_match)(void*, const char* key, size_t length,
                                                                             const char* filter, size_t filter_length),
                                                    const char* (*name)(void*)) {
  auto* policy = new leveldb_filterpolicy_t();
  policy->state = state;
  policy->destructor = destructor;
  policy->create = create_filter;
  policy->key_match = key_may_match;
  policy->name = name;
  return policy;
}
void leveldb_filterpolicy_destroy(leveldb_filterpolicy_t* policy) { delete policy; }
leveldb_filterpolicy_t* leveldb_filterpolicy_create_bloom(int bits_per_key) {
  auto* policy = new leveldb_filterpolicy_t();
  policy->bloom.reset(leveldb::NewBloomFilterPolicy(bits_per_key));
  return policy;
}

leveldb_readoptions_t* leveldb_readoptions_create() { return new leveldb_readoptions_t(); }
void leveldb_readoptions_destroy(leveldb_readoptions_t* options) { delete options; }
void leveldb_readoptions_set_verify_checksums(leveldb_readoptions_t* options, uint8_t value) {
  options->rep.verify_checksums = value != 0;
}
void leveldb_readoptions_set_fill_cache(leveldb_readoptions_t* options, uint8_t value) {
  options->rep.fill_cache = value != 0;
}
void leveldb_readoptions_set_snapshot(leveldb_readoptions_t* options, const leveldb_snapshot_t* snapshot) {
  options->rep.snapshot = snapshot == nullptr ? nullptr : snapshot->rep;
}

leveldb_writeoptions_t* leveldb_writeoptions_create() { return new leveldb_writeoptions_t(); }
void leveldb_writeoptions_destroy(leveldb_writeoptions_t* options) { delete options; }
void leveldb_writeoptions_set_sync(leveldb_writeoptions_t* options, uint8_t value) { options->rep.sync = value != 0; }

leveldb_cache_t* leveldb_cache_create_lru(size_t capacity) {
  return new leveldb_cache_t{std::unique_ptr<leveldb::Cache>(leveldb::NewLRUCache(capacity))};
}
void leveldb_cache_destroy(leveldb_cache_t* cache) { delete cache; }

leveldb_env_t* leveldb_create_default_env() { return new leveldb_env_t{leveldb::Env::Default()}; }
void leveldb_env_destroy(leveldb_env_t* env) { delete env; }
char* leveldb_env_get_test_directory(leveldb_env_t* env) {
  std::string path;
  return env->rep->GetTestDirectory(&path).ok() ? ::strdup(path.c_str()) : nullptr;
}

}  // extern "C"
