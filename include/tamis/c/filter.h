// Filters in C: small summaries of a set of keys that answer "certainly not" or "maybe". <tamis/filter.h> has more
// about kinds and sizes.
//
//     tamis_filter_builder_t* builder = tamis_filter_builder_create(NULL);
//     tamis_filter_builder_add(builder, "apple", 5);
//     tamis_filter_t* filter = NULL;
//     if (tamis_filter_builder_finish(builder, &filter, &error) != TAMIS_OK) …
//     if (!tamis_filter_may_contain(filter, "zebra", 5)) { /* certainly not added */ }
#pragma once

#include "tamis/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The name of one filter kind; NULL after the last. `index` counts from 0.
TAMIS_API const char* tamis_filter_kind_name(size_t index, size_t* size);

/// What filter to build. By default: the kind line, a false-positive rate of 1 %.
///
/// Threads: one at a time while it is changed.
typedef struct tamis_filter_options tamis_filter_options_t;
/// The defaults.
TAMIS_API tamis_filter_options_t* tamis_filter_options_create(void);
/// Frees the options; nothing refers to them.
TAMIS_API void tamis_filter_options_free(tamis_filter_options_t* options);
/// The kind, a name of tamis_filter_kind_name. An unknown one is an error of the build.
TAMIS_API void tamis_filter_options_set_kind(tamis_filter_options_t* options, const char* kind);
/// The largest false-positive rate, between 0 and 1. Set at most one of this and the next two.
TAMIS_API void tamis_filter_options_set_target_rate(tamis_filter_options_t* options, double rate);
/// The size in bits per key.
TAMIS_API void tamis_filter_options_set_bits_per_key(tamis_filter_options_t* options, double bits);
/// The size in bytes, including the header.
TAMIS_API void tamis_filter_options_set_memory_bytes(tamis_filter_options_t* options, uint64_t bytes);
/// The expected number of keys of a mutable filter; only the kinds scalable and growing work without it.
TAMIS_API void tamis_filter_options_set_capacity(tamis_filter_options_t* options, uint64_t keys);
/// The public seed of the hash.
TAMIS_API void tamis_filter_options_set_seed(tamis_filter_options_t* options, uint64_t seed);
/// 16 secret bytes instead of the public seed.
TAMIS_API void tamis_filter_options_set_secret(tamis_filter_options_t* options, const unsigned char* bytes_16);
/// Which part of a key is hashed: "none", "first:N" or "until:C".
TAMIS_API tamis_code_t tamis_filter_options_set_prefix_rule(tamis_filter_options_t* options, const char* rule,
                                                            char** errptr);

/// An immutable filter.
///
/// Threads: any number may probe concurrently.
typedef struct tamis_filter tamis_filter_t;
/// Maps and fully checks a filter file.
TAMIS_API tamis_code_t tamis_filter_open(const char* path, tamis_filter_t** filter, char** errptr);
/// The same for bytes in memory, which are copied.
TAMIS_API tamis_code_t tamis_filter_from_bytes(const void* bytes, size_t size, tamis_filter_t** filter, char** errptr);
/// Releases the bytes.
TAMIS_API void tamis_filter_free(tamis_filter_t* filter);
/// False: the key was never added.
TAMIS_API bool tamis_filter_may_contain(const tamis_filter_t* filter, const char* key, size_t key_size);
/// The same for a key whose tamis_filter_hash is known.
TAMIS_API bool tamis_filter_may_contain_hash(const tamis_filter_t* filter, uint64_t hash);
/// False: no key with this prefix was added. Requires a prefix rule.
TAMIS_API bool tamis_filter_may_contain_prefix(const tamis_filter_t* filter, const char* prefix, size_t prefix_size);
/// Sets bit i of answers[i / 64] to the answer for key i; faster than one by one. `answers` must have a bit for each
/// key, in whole words.
TAMIS_API void tamis_filter_may_contain_many(const tamis_filter_t* filter, size_t count, const char* const* keys,
                                             const size_t* key_sizes, uint64_t* answers);
/// The same for hashes.
TAMIS_API void tamis_filter_may_contain_many_hashes(const tamis_filter_t* filter, size_t count, const uint64_t* hashes,
                                                    uint64_t* answers);
/// The same for `count` keys of `key_size` bytes each, one after the other.
TAMIS_API void tamis_filter_may_contain_rows(const tamis_filter_t* filter, size_t count, const void* rows,
                                             size_t key_size, uint64_t* answers);
/// The hash of a key.
TAMIS_API uint64_t tamis_filter_hash(const tamis_filter_t* filter, const char* key, size_t key_size);
/// The whole filter, as tamis_filter_save writes it; valid as long as the filter.
TAMIS_API const void* tamis_filter_bytes(const tamis_filter_t* filter, size_t* size);
/// Writes the filter to a file, replacing it atomically.
TAMIS_API tamis_code_t tamis_filter_save(const tamis_filter_t* filter, const char* path, char** errptr);
/// What header and bits reveal, as a JSON object; free it with tamis_free.
TAMIS_API char* tamis_filter_info_json(const tamis_filter_t* filter);

/// Collects keys, 8 bytes each, and sizes the filter at the end.
///
/// Threads: one at a time.
typedef struct tamis_filter_builder tamis_filter_builder_t;
/// A builder; NULL: the default options. Invalid options are an error of tamis_filter_builder_finish.
TAMIS_API tamis_filter_builder_t* tamis_filter_builder_create(const tamis_filter_options_t* options);
/// Frees the builder and its keys.
TAMIS_API void tamis_filter_builder_free(tamis_filter_builder_t* builder);
/// Adds a key; duplicates are allowed.
TAMIS_API void tamis_filter_builder_add(tamis_filter_builder_t* builder, const char* key, size_t key_size);
/// Adds `count` keys of `key_size` bytes each, one after the other.
TAMIS_API void tamis_filter_builder_add_rows(tamis_filter_builder_t* builder, size_t count, const void* rows,
                                             size_t key_size);
/// Adds a key by its hash.
TAMIS_API void tamis_filter_builder_add_hash(tamis_filter_builder_t* builder, uint64_t hash);
/// The hash of a key with the seed and the prefix rule of the builder.
TAMIS_API uint64_t tamis_filter_builder_hash(const tamis_filter_builder_t* builder, const char* key, size_t key_size);
/// The number of hashes held; equal neighbours count once.
TAMIS_API uint64_t tamis_filter_builder_keys(const tamis_filter_builder_t* builder);
/// Builds the filter and empties the builder, which can be used again.
TAMIS_API tamis_code_t tamis_filter_builder_finish(tamis_filter_builder_t* builder, tamis_filter_t** filter,
                                                   char** errptr);

/// A filter that supports add and, depending on the kind, remove, merge and intersect.
///
/// Threads: one at a time.
typedef struct tamis_mutable_filter tamis_mutable_filter_t;
/// Makes a filter for the capacity of the options.
TAMIS_API tamis_code_t tamis_mutable_filter_create(const tamis_filter_options_t* options,
                                                   tamis_mutable_filter_t** filter, char** errptr);
/// Opens a file of a mutable kind.
TAMIS_API tamis_code_t tamis_mutable_filter_open(const char* path, tamis_mutable_filter_t** filter, char** errptr);
/// The same for bytes in memory, which are copied.
TAMIS_API tamis_code_t tamis_mutable_filter_from_bytes(const void* bytes, size_t size, tamis_mutable_filter_t** filter,
                                                       char** errptr);
/// Releases the bytes.
TAMIS_API void tamis_mutable_filter_free(tamis_mutable_filter_t* filter);
/// Adds a key. TAMIS_OUT_OF_SPACE if a filter of the kind cuckoo is full; nothing changes then.
TAMIS_API tamis_code_t tamis_mutable_filter_add(tamis_mutable_filter_t* filter, const char* key, size_t key_size,
                                                char** errptr);
/// Adds `count` keys of `key_size` bytes each, one after the other. After an error those before the key that failed
/// have been added.
TAMIS_API tamis_code_t tamis_mutable_filter_add_rows(tamis_mutable_filter_t* filter, size_t count, const void* rows,
                                                     size_t key_size, char** errptr);
/// The same for a hash.
TAMIS_API tamis_code_t tamis_mutable_filter_add_hash(tamis_mutable_filter_t* filter, uint64_t hash, char** errptr);
/// Removes one copy of a key that was added; `was_there`, which may be NULL, is false if it certainly was not.
TAMIS_API tamis_code_t tamis_mutable_filter_remove(tamis_mutable_filter_t* filter, const char* key, size_t key_size,
                                                   bool* was_there, char** errptr);
/// The same for a hash.
TAMIS_API tamis_code_t tamis_mutable_filter_remove_hash(tamis_mutable_filter_t* filter, uint64_t hash, bool* was_there,
                                                        char** errptr);
/// False: the key was never added, or was removed.
TAMIS_API bool tamis_mutable_filter_may_contain(const tamis_mutable_filter_t* filter, const char* key, size_t key_size);
/// The same for a hash.
TAMIS_API bool tamis_mutable_filter_may_contain_hash(const tamis_mutable_filter_t* filter, uint64_t hash);
/// Replaces the filter with the union. Kind, size and seed must be equal.
TAMIS_API tamis_code_t tamis_mutable_filter_merge(tamis_mutable_filter_t* filter, const tamis_mutable_filter_t* other,
                                                  char** errptr);
/// Replaces the filter with the intersection.
TAMIS_API tamis_code_t tamis_mutable_filter_intersect(tamis_mutable_filter_t* filter,
                                                      const tamis_mutable_filter_t* other, char** errptr);
/// Removes all keys.
TAMIS_API void tamis_mutable_filter_clear(tamis_mutable_filter_t* filter);
/// The hash of a key.
TAMIS_API uint64_t tamis_mutable_filter_hash(const tamis_mutable_filter_t* filter, const char* key, size_t key_size);
/// The number of keys, estimated from the bits.
TAMIS_API double tamis_mutable_filter_estimated_keys(const tamis_mutable_filter_t* filter);
/// The false-positive rate, estimated from the bits.
TAMIS_API double tamis_mutable_filter_estimated_rate(const tamis_mutable_filter_t* filter);
/// The fraction of bits or slots in use.
TAMIS_API double tamis_mutable_filter_fill(const tamis_mutable_filter_t* filter);
/// Writes the filter to a file, replacing it atomically.
TAMIS_API tamis_code_t tamis_mutable_filter_save(const tamis_mutable_filter_t* filter, const char* path, char** errptr);
/// An immutable copy, which many threads may probe; its bytes are those of this filter.
TAMIS_API tamis_filter_t* tamis_mutable_filter_freeze(const tamis_mutable_filter_t* filter);
/// As tamis_filter_info_json.
TAMIS_API char* tamis_mutable_filter_info_json(const tamis_mutable_filter_t* filter);

#ifdef __cplusplus
}
#endif
