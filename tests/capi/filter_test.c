// Filters: built once, mutable, and those of other systems.
#include <stdio.h>
#include <string.h>

#include "check.h"

/// Of three keys, of which `hashes` are different.
static tamis_filter_t* filter_of(tamis_filter_options_t* options, uint64_t hashes) {
  tamis_filter_builder_t* builder = tamis_filter_builder_create(options);
  tamis_filter_builder_add(builder, S("user/1"));
  tamis_filter_builder_add(builder, S("user/2"));
  tamis_filter_builder_add_hash(builder, tamis_filter_builder_hash(builder, S("user/3")));
  CHECK(tamis_filter_builder_keys(builder) == hashes);
  tamis_filter_t* filter = NULL;
  SUCCEEDS(tamis_filter_builder_finish(builder, &filter, &error));
  CHECK(tamis_filter_builder_keys(builder) == 0);
  tamis_filter_builder_free(builder);
  return filter;
}

void test_filters(void) {
  size_t size = 0;
  size_t kinds = 0;
  bool has_ribbon = false;
  for (const char* name; (name = tamis_filter_kind_name(kinds, &size)) != NULL; ++kinds) {
    has_ribbon = has_ribbon || (size == 6 && memcmp(name, "ribbon", size) == 0);
  }
  CHECK(has_ribbon && kinds >= 9);

  tamis_filter_t* filter = filter_of(NULL, 3);
  CHECK(tamis_filter_may_contain(filter, S("user/1")));
  CHECK(tamis_filter_may_contain_hash(filter, tamis_filter_hash(filter, S("user/3"))));
  CHECK(tamis_filter_may_contain_prefix(filter, S("other")));  // Maybe: it has no prefix rule.
  int maybe = 0;
  for (int i = 1000; i < 2000; ++i) {
    char key[16];
    maybe += tamis_filter_may_contain(filter, key, (size_t)snprintf(key, sizeof(key), "user/%d", i));
  }
  CHECK(maybe < 50);

  const char* const keys[] = {"user/1", "user/2", "user/3"};
  const size_t key_sizes[] = {6, 6, 6};
  uint64_t answers = ~(uint64_t)0;
  tamis_filter_may_contain_many(filter, 3, keys, key_sizes, &answers);
  CHECK(answers == 7);
  uint64_t hashes[3];
  for (int i = 0; i < 3; ++i) hashes[i] = tamis_filter_hash(filter, keys[i], 6);
  answers = ~(uint64_t)0;
  tamis_filter_may_contain_many_hashes(filter, 3, hashes, &answers);
  CHECK(answers == 7);

  tamis_filter_may_contain_rows(filter, 3, "user/1user/2user/3", 6, &answers);
  CHECK(answers == 7);

  char* json = tamis_filter_info_json(filter);
  HAS(json, "{\"kind\": \"line\",");
  HAS(json, "\"keys\": 3,");
  tamis_free(json);
  SUCCEEDS(tamis_filter_save(filter, path_of("users.tamis"), &error));
  tamis_filter_t* opened = NULL;
  SUCCEEDS(tamis_filter_open(path_of("users.tamis"), &opened, &error));
  CHECK(tamis_filter_may_contain(opened, S("user/2")));
  size_t bytes_size = 0;
  const void* bytes = tamis_filter_bytes(filter, &bytes_size);
  size_t opened_size = 0;
  const void* opened_bytes = tamis_filter_bytes(opened, &opened_size);
  CHECK(bytes_size == opened_size && memcmp(bytes, opened_bytes, bytes_size) == 0);
  tamis_filter_free(opened);
  SUCCEEDS(tamis_filter_from_bytes(bytes, bytes_size, &opened, &error));
  CHECK(tamis_filter_may_contain(opened, S("user/3")));
  tamis_filter_free(opened);
  FAILS(TAMIS_CORRUPTION, tamis_filter_from_bytes(bytes, bytes_size - 1, &opened, &error));
  CHECK(opened == NULL);
  FAILS(TAMIS_IO_ERROR, tamis_filter_open(path_of("no such file"), &opened, &error));
  tamis_filter_free(filter);
}

void test_rows(void) {
  enum { kKeys = 3000 };
  static uint32_t rows[2 * kKeys];  // The second half is not added.
  for (uint32_t i = 0; i < 2 * kKeys; ++i) rows[i] = i;
  tamis_filter_builder_t* builder = tamis_filter_builder_create(NULL);
  tamis_filter_builder_add_rows(builder, kKeys, rows, sizeof(uint32_t));
  CHECK(tamis_filter_builder_keys(builder) == kKeys);
  tamis_filter_t* filter = NULL;
  SUCCEEDS(tamis_filter_builder_finish(builder, &filter, &error));
  tamis_filter_builder_free(builder);
  uint64_t answers[(2 * kKeys + 63) / 64];
  tamis_filter_may_contain_rows(filter, 2 * kKeys, rows, sizeof(uint32_t), answers);
  int maybe = 0;
  for (int i = 0; i < 2 * kKeys; ++i) {
    const bool found = (answers[i / 64] >> (i % 64) & 1) != 0;
    CHECK(found == tamis_filter_may_contain(filter, (const char*)&rows[i], sizeof(uint32_t)));
    CHECK(found || i >= kKeys);
    maybe += found && i >= kKeys;
  }
  CHECK(maybe < 100);
  tamis_filter_free(filter);

  tamis_filter_options_t* options = tamis_filter_options_create();
  tamis_filter_options_set_kind(options, "cuckoo");
  tamis_filter_options_set_capacity(options, 100);
  tamis_mutable_filter_t* seen = NULL;
  SUCCEEDS(tamis_mutable_filter_create(options, &seen, &error));
  tamis_filter_options_free(options);
  SUCCEEDS(tamis_mutable_filter_add_rows(seen, 100, rows, sizeof(uint32_t), &error));
  for (int i = 0; i < 100; ++i) CHECK(tamis_mutable_filter_may_contain(seen, (const char*)&rows[i], sizeof(uint32_t)));
  FAILS(TAMIS_OUT_OF_SPACE, tamis_mutable_filter_add_rows(seen, kKeys, rows, sizeof(uint32_t), &error));
  tamis_mutable_filter_free(seen);
}

void test_filter_options(void) {
  tamis_filter_options_t* options = tamis_filter_options_create();
  tamis_filter_options_set_kind(options, "ribbon");
  tamis_filter_options_set_target_rate(options, 0.0001);
  SUCCEEDS(tamis_filter_options_set_prefix_rule(options, "until:/", &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_filter_options_set_prefix_rule(options, "until", &error));
  tamis_filter_t* filter = filter_of(options, 1);
  CHECK(tamis_filter_may_contain_prefix(filter, S("user/")));
  CHECK(!tamis_filter_may_contain_prefix(filter, S("admin/")));
  char* json = tamis_filter_info_json(filter);
  HAS(json, "\"prefix_rule\": \"until:/\"");
  tamis_free(json);
  tamis_filter_free(filter);
  tamis_filter_options_set_bits_per_key(options, 10);  // Two targets.
  tamis_filter_builder_t* builder = tamis_filter_builder_create(options);
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_filter_builder_finish(builder, &filter, &error));
  CHECK(filter == NULL);
  tamis_filter_builder_free(builder);
  tamis_filter_options_free(options);

  options = tamis_filter_options_create();
  tamis_filter_options_set_memory_bytes(options, 4096);
  tamis_filter_options_set_kind(options, "bloom");
  tamis_filter_options_set_seed(options, 5);
  filter = filter_of(options, 3);
  json = tamis_filter_info_json(filter);
  HAS(json, "\"seed\": 5,");
  tamis_free(json);
  const uint64_t hash = tamis_filter_hash(filter, S("key"));
  tamis_filter_free(filter);
  tamis_filter_options_set_secret(options, (const unsigned char*)"sixteen secrets");  // With the zero byte.
  filter = filter_of(options, 3);
  CHECK(tamis_filter_hash(filter, S("key")) != hash);
  tamis_filter_free(filter);
  tamis_filter_options_free(options);
}

void test_mutable_filters(void) {
  tamis_filter_options_t* options = tamis_filter_options_create();
  tamis_filter_options_set_kind(options, "counting");
  tamis_filter_options_set_target_rate(options, 0.0001);
  tamis_mutable_filter_t* seen = NULL;
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_mutable_filter_create(options, &seen, &error));  // No capacity.
  CHECK(seen == NULL);
  tamis_filter_options_set_capacity(options, 1000);
  SUCCEEDS(tamis_mutable_filter_create(options, &seen, &error));
  SUCCEEDS(tamis_mutable_filter_add(seen, S("a"), &error));
  SUCCEEDS(tamis_mutable_filter_add_hash(seen, tamis_mutable_filter_hash(seen, S("b")), &error));
  CHECK(tamis_mutable_filter_may_contain(seen, S("b")));
  CHECK(tamis_mutable_filter_may_contain_hash(seen, tamis_mutable_filter_hash(seen, S("a"))));
  CHECK(!tamis_mutable_filter_may_contain(seen, S("c")));
  CHECK(tamis_mutable_filter_estimated_keys(seen) > 1.5 && tamis_mutable_filter_estimated_keys(seen) < 2.5);
  CHECK(tamis_mutable_filter_estimated_rate(seen) < 0.0001);
  CHECK(tamis_mutable_filter_fill(seen) > 0);
  bool was_there = false;
  SUCCEEDS(tamis_mutable_filter_remove(seen, S("a"), &was_there, &error));
  CHECK(was_there && !tamis_mutable_filter_may_contain(seen, S("a")));
  SUCCEEDS(tamis_mutable_filter_remove(seen, S("a"), &was_there, &error));
  CHECK(!was_there);
  SUCCEEDS(tamis_mutable_filter_remove_hash(seen, tamis_mutable_filter_hash(seen, S("b")), NULL, &error));
  tamis_mutable_filter_free(seen);

  tamis_filter_options_set_kind(options, "bloom");
  tamis_mutable_filter_t* other = NULL;
  SUCCEEDS(tamis_mutable_filter_create(options, &seen, &error));
  SUCCEEDS(tamis_mutable_filter_create(options, &other, &error));
  SUCCEEDS(tamis_mutable_filter_add(seen, S("a"), &error));
  SUCCEEDS(tamis_mutable_filter_add(other, S("b"), &error));
  SUCCEEDS(tamis_mutable_filter_merge(seen, other, &error));
  CHECK(tamis_mutable_filter_may_contain(seen, S("a")) && tamis_mutable_filter_may_contain(seen, S("b")));
  SUCCEEDS(tamis_mutable_filter_intersect(seen, other, &error));
  CHECK(!tamis_mutable_filter_may_contain(seen, S("a")) && tamis_mutable_filter_may_contain(seen, S("b")));
  FAILS(TAMIS_NOT_SUPPORTED, tamis_mutable_filter_remove(seen, S("b"), &was_there, &error));

  tamis_filter_t* frozen = tamis_mutable_filter_freeze(seen);
  SUCCEEDS(tamis_mutable_filter_save(seen, path_of("seen.tamis"), &error));
  tamis_mutable_filter_clear(seen);
  CHECK(!tamis_mutable_filter_may_contain(seen, S("b")) && tamis_filter_may_contain(frozen, S("b")));
  tamis_mutable_filter_free(seen);
  SUCCEEDS(tamis_mutable_filter_open(path_of("seen.tamis"), &seen, &error));
  CHECK(tamis_mutable_filter_may_contain(seen, S("b")));
  char* json = tamis_mutable_filter_info_json(seen);
  HAS(json, "{\"kind\": \"bloom\",");
  tamis_free(json);
  tamis_mutable_filter_free(seen);
  size_t size = 0;
  const void* bytes = tamis_filter_bytes(frozen, &size);
  SUCCEEDS(tamis_mutable_filter_from_bytes(bytes, size, &seen, &error));
  CHECK(tamis_mutable_filter_may_contain(seen, S("b")));
  tamis_mutable_filter_free(seen);
  tamis_mutable_filter_free(other);
  tamis_filter_free(frozen);
  tamis_filter_options_free(options);
}

static const char* golden(const char* name) {
  static char path[512];
  snprintf(path, sizeof(path), "%s/tests/golden/foreign/%s", sources, name);
  return path;
}

void test_foreign_filters(void) {
  size_t size = 0;
  size_t formats = 0;
  while (tamis_foreign_format_name(formats, &size) != NULL) ++formats;
  CHECK(formats > 10);

  const char* path = golden("cassandra/new-user-100-n100-fp0.01-Filter.db");
  tamis_foreign_options_t* options = tamis_foreign_options_create();
  tamis_foreign_options_set_format(options, "cassandra-new");
  tamis_foreign_filter_t* filter = NULL;
  SUCCEEDS(tamis_foreign_filter_open(path, options, &filter, &error));
  char* json = tamis_foreign_filter_info_json(filter);
  HAS(json, "{\"format\": \"cassandra-new\",");
  tamis_free(json);
  CHECK(tamis_foreign_filter_may_contain(filter, S("user:0")));
  CHECK(!tamis_foreign_filter_may_contain(filter, S("user1000")));
  char* converted = NULL;
  FAILS(TAMIS_NOT_SUPPORTED, tamis_foreign_filter_convert(filter, "guava", &converted, &size, &error));
  CHECK(converted == NULL && size == 0);
  SUCCEEDS(tamis_foreign_filter_convert(filter, "cassandra-old", &converted, &size, &error));
  tamis_foreign_filter_free(filter);
  tamis_foreign_options_set_format(options, "cassandra-old");
  SUCCEEDS(tamis_foreign_filter_from_bytes(converted, size, options, &filter, &error));
  CHECK(tamis_foreign_filter_may_contain(filter, S("user:0")));
  tamis_foreign_filter_free(filter);
  FAILS(TAMIS_CORRUPTION, tamis_foreign_filter_from_bytes(converted, size - 1, options, &filter, &error));
  CHECK(filter == NULL);
  tamis_free(converted);

  // What the file lacks.
  path = golden("pychapter/user-100-m959-k7.bloom");
  tamis_foreign_options_set_format(options, "pychapter");
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_foreign_filter_open(path, options, &filter, &error));
  tamis_foreign_options_set_bits(options, 959);
  tamis_foreign_options_set_hashes(options, 7);
  SUCCEEDS(tamis_foreign_filter_open(path, options, &filter, &error));
  CHECK(tamis_foreign_filter_may_contain(filter, S("user:0")));
  tamis_foreign_filter_free(filter);
  tamis_foreign_options_free(options);

  path = golden("parquet/data_index_bloom_encoding_stats.parquet");
  SUCCEEDS(tamis_foreign_filter_open(path, NULL, &filter, &error));
  CHECK(tamis_foreign_filter_may_contain(filter, S("Hello")));
  tamis_foreign_filter_free(filter);
  options = tamis_foreign_options_create();
  tamis_foreign_options_set_column(options, "String");
  tamis_foreign_options_set_row_group(options, 0);
  SUCCEEDS(tamis_foreign_filter_open(path, options, &filter, &error));
  tamis_foreign_filter_free(filter);
  tamis_foreign_options_set_row_group(options, 7);
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_foreign_filter_open(path, options, &filter, &error));
  tamis_foreign_options_free(options);
}
