// Opening, options, writes, reads, closing.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"

void test_codes(void) {
  CHECK(strcmp(tamis_code_name(TAMIS_CORRUPTION), "corruption") == 0);
  CHECK(strcmp(tamis_code_name((tamis_code_t)77), "unknown status") == 0);
  CHECK(strcmp(tamis_version(), TAMIS_VERSION_STRING) == 0);
  tamis_free(NULL);
  // Each failure replaces the text of the one before; without a place for it there is none.
  tamis_t* db = NULL;
  tamis_options_t* options = tamis_options_create();
  tamis_options_set_create_if_missing(options, false);
  CHECK(tamis_open(path_of("none"), options, &db, NULL) == TAMIS_IO_ERROR);
  CHECK(db == NULL);
  CHECK(tamis_open(path_of("none"), options, &db, &error) == TAMIS_IO_ERROR);
  FAILS(TAMIS_IO_ERROR, tamis_open(path_of("none"), options, &db, &error));
  tamis_options_free(options);
}

void test_options(void) {
  size_t size = 0;
  const char* first = tamis_option_name(0, &size);
  IS("memory_bytes", first, size);
  size_t count = 0;
  while (tamis_option_name(count, &size) != NULL) ++count;
  CHECK(count > 10 && size == 0);

  tamis_options_t* options = tamis_options_create();
  SUCCEEDS(tamis_options_set(options, "codec_last", "zstd", &error));
  SUCCEEDS(tamis_options_set_number(options, "fanout", 7, &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_options_set(options, "fanout", "many", &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_options_set_number(options, "no such option", 1, &error));
  char* value = tamis_options_get(options, "codec_last");
  CHECK(strcmp(value, "zstd") == 0);
  tamis_free(value);
  value = tamis_options_get(options, "fanout");
  CHECK(strcmp(value, "7") == 0);
  tamis_free(value);
  CHECK(tamis_options_get(options, "no such option") == NULL);

  tamis_t* db = NULL;
  tamis_options_set_read_only(options, true);
  FAILS(TAMIS_IO_ERROR, tamis_open(path_of("options"), options, &db, &error));
  tamis_options_set_read_only(options, false);
  tamis_options_set_follows(options, true);  // Only with read_only.
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_open(path_of("options"), options, &db, &error));
  tamis_options_set_follows(options, false);
  SUCCEEDS(tamis_open(path_of("options"), options, &db, &error));
  tamis_db_free(db);
  tamis_options_set_error_if_exists(options, true);
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_open(path_of("options"), options, &db, &error));
  tamis_options_free(options);

  SUCCEEDS(tamis_open(path_of("options"), NULL, &db, &error));
  tamis_db_free(db);
  SUCCEEDS(tamis_destroy_store(path_of("options"), &error));
  options = tamis_options_create();
  tamis_options_set_create_if_missing(options, false);
  FAILS(TAMIS_IO_ERROR, tamis_open(path_of("options"), options, &db, &error));
  tamis_options_free(options);
}

void test_writes(void) {
  tamis_t* db = open_store("writes");
  tamis_write_options_t* synced = tamis_write_options_create();
  tamis_write_options_set_sync(synced, true);
  SUCCEEDS(tamis_put(db, synced, NULL, S("a"), S("1"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("b"), S("2"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("c"), NULL, 0, &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, NULL, 0, S("empty key"), &error));
  check_value(db, "a", "1");
  check_value(db, "c", "");
  check_value(db, "", "empty key");
  SUCCEEDS(tamis_remove(db, synced, NULL, S("a"), &error));
  check_value(db, "a", NULL);

  bool done = true;
  SUCCEEDS(tamis_put_if(db, NULL, NULL, S("b"), S("3"), S("4"), &done, &error));
  CHECK(!done);
  SUCCEEDS(tamis_put_if(db, NULL, NULL, S("b"), S("2"), S("4"), &done, &error));
  CHECK(done);
  SUCCEEDS(tamis_put_if(db, NULL, NULL, S("b"), NULL, 0, S("5"), &done, &error));
  CHECK(!done);
  SUCCEEDS(tamis_put_if(db, NULL, NULL, S("d"), NULL, 0, S("5"), NULL, &error));
  check_value(db, "b", "4");
  check_value(db, "d", "5");
  SUCCEEDS(tamis_remove_if(db, NULL, NULL, S("d"), S("6"), &done, &error));
  CHECK(!done);
  SUCCEEDS(tamis_remove_if(db, NULL, NULL, S("d"), S("5"), &done, &error));
  CHECK(done);
  check_value(db, "d", NULL);

  SUCCEEDS(tamis_remove_range(db, NULL, NULL, S("b"), S("c"), &error));
  check_value(db, "b", NULL);
  check_value(db, "c", "");
  SUCCEEDS(tamis_remove_range(db, NULL, NULL, S("b"), NULL, 0, &error));
  check_value(db, "c", NULL);
  check_value(db, "", "empty key");
  SUCCEEDS(tamis_remove_range(db, NULL, NULL, NULL, 0, S("a"), &error));
  check_value(db, "", NULL);

  SUCCEEDS(tamis_sync(db, &error));
  tamis_write_options_free(synced);
  tamis_db_free(db);
}

void test_reads(void) {
  tamis_t* db = open_store("reads");
  SUCCEEDS(tamis_put(db, NULL, NULL, S("paris"), S("2102650"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("nothing"), S(""), &error));
  char* value = NULL;
  size_t size = 7;
  SUCCEEDS(tamis_get(db, NULL, NULL, S("paris"), &value, &size, &error));
  IS("2102650", value, size);
  CHECK(value[size] == '\0');
  tamis_free(value);
  SUCCEEDS(tamis_get(db, NULL, NULL, S("nothing"), &value, &size, &error));
  CHECK(value != NULL && size == 0);
  tamis_free(value);
  SUCCEEDS(tamis_get(db, NULL, NULL, S("rome"), &value, &size, &error));
  CHECK(value == NULL && size == 0);

  char buffer[8] = "xxxxxxx";
  bool found = false;
  SUCCEEDS(tamis_get_into(db, NULL, NULL, S("paris"), buffer, 3, &size, &found, &error));
  CHECK(found && size == 7 && strcmp(buffer, "210xxxx") == 0);
  SUCCEEDS(tamis_get_into(db, NULL, NULL, S("paris"), buffer, sizeof(buffer), &size, &found, &error));
  CHECK(found);
  IS("2102650", buffer, size);
  SUCCEEDS(tamis_get_into(db, NULL, NULL, S("paris"), NULL, 0, &size, &found, &error));
  CHECK(found && size == 7);
  SUCCEEDS(tamis_get_into(db, NULL, NULL, S("rome"), buffer, sizeof(buffer), &size, &found, &error));
  CHECK(!found && size == 0);

  SUCCEEDS(tamis_exists(db, NULL, NULL, S("paris"), &found, &error));
  CHECK(found);
  SUCCEEDS(tamis_exists(db, NULL, NULL, S("rome"), &found, &error));
  CHECK(!found);

  const char* const keys[] = {"paris", "rome", "nothing"};
  const size_t key_sizes[] = {5, 4, 7};
  tamis_values_t* values = tamis_values_create();
  CHECK(tamis_values_count(values) == 0);
  SUCCEEDS(tamis_multi_get(db, NULL, NULL, 3, keys, key_sizes, values, &error));
  CHECK(tamis_values_count(values) == 3);
  const char* one = tamis_values_get(values, 0, &size);
  IS("2102650", one, size);
  CHECK(tamis_values_get(values, 1, &size) == NULL && size == 0);
  CHECK(tamis_values_get(values, 2, &size) != NULL && size == 0);
  CHECK(tamis_values_get(values, 3, &size) == NULL);
  SUCCEEDS(tamis_multi_get(db, NULL, NULL, 1, keys + 1, key_sizes + 1, values, &error));
  CHECK(tamis_values_count(values) == 1);
  tamis_values_free(values);
  tamis_db_free(db);
}

void test_large_values(void) {
  tamis_t* db = open_store("large");
  enum { kSize = 300000 };
  char* large = malloc(kSize);
  for (size_t i = 0; i < kSize; ++i) large[i] = (char)(i * 7 % 251);
  SUCCEEDS(tamis_put(db, NULL, NULL, S("large"), large, kSize, &error));
  SUCCEEDS(tamis_flush(db, &error));
  tamis_read_options_t* options = tamis_read_options_create();
  tamis_read_options_set_fills_cache(options, false);
  for (int round = 0; round < 2; ++round) {
    char* value = NULL;
    size_t size = 0;
    SUCCEEDS(tamis_get(db, options, NULL, S("large"), &value, &size, &error));
    CHECK(size == kSize && memcmp(value, large, kSize) == 0);
    tamis_free(value);
    tamis_pinned_t* pinned = NULL;
    SUCCEEDS(tamis_get_pinned(db, options, NULL, S("large"), &pinned, &error));
    const char* view = tamis_pinned_value(pinned, &size);
    CHECK(size == kSize && memcmp(view, large, kSize) == 0);
    tamis_pinned_free(pinned);
    tamis_read_options_set_fills_cache(options, true);
  }
  tamis_pinned_t* absent = (tamis_pinned_t*)large;
  SUCCEEDS(tamis_get_pinned(db, options, NULL, S("small"), &absent, &error));
  CHECK(absent == NULL);
  tamis_read_options_free(options);
  free(large);
  tamis_db_free(db);
}

/// After a failure, results are NULL, 0 and false, whatever they were.
void test_absent_results(void) {
  tamis_t* db = open_store("absent");
  SUCCEEDS(tamis_close(db, &error));
  char* value = (char*)db;
  size_t size = 1;
  bool yes = true;
  uint64_t number = 1;
  tamis_pinned_t* pinned = (tamis_pinned_t*)db;
  tamis_iterator_t* iterator = (tamis_iterator_t*)db;
  tamis_keyspace_t* keyspace = (tamis_keyspace_t*)db;
  tamis_report_t* report = (tamis_report_t*)db;
  FAILS(TAMIS_CLOSED, tamis_get(db, NULL, NULL, S("k"), &value, &size, &error));
  CHECK(value == NULL && size == 0);
  size = 1;
  FAILS(TAMIS_CLOSED, tamis_get_into(db, NULL, NULL, S("k"), NULL, 0, &size, &yes, &error));
  CHECK(!yes && size == 0);
  yes = true;
  FAILS(TAMIS_CLOSED, tamis_exists(db, NULL, NULL, S("k"), &yes, &error));
  CHECK(!yes);
  yes = true;
  FAILS(TAMIS_CLOSED, tamis_put_if(db, NULL, NULL, S("k"), NULL, 0, S("v"), &yes, &error));
  CHECK(!yes);
  yes = true;
  FAILS(TAMIS_CLOSED, tamis_remove_if(db, NULL, NULL, S("k"), S("v"), &yes, &error));
  CHECK(!yes);
  FAILS(TAMIS_CLOSED, tamis_get_pinned(db, NULL, NULL, S("k"), &pinned, &error));
  CHECK(pinned == NULL);
  FAILS(TAMIS_CLOSED, tamis_scan(db, NULL, NULL, &iterator, &error));
  CHECK(iterator == NULL);
  FAILS(TAMIS_CLOSED, tamis_keyspace_open(db, S("k"), NULL, &keyspace, &error));
  CHECK(keyspace == NULL);
  FAILS(TAMIS_CLOSED, tamis_explain(db, NULL, NULL, S("k"), &report, &error));
  CHECK(report == NULL);
  report = (tamis_report_t*)db;
  yes = true;
  FAILS(TAMIS_CLOSED, tamis_verify(db, NULL, NULL, &yes, &report, &error));
  CHECK(report == NULL && !yes);
  FAILS(TAMIS_CLOSED, tamis_approximate_size(db, NULL, NULL, 0, NULL, 0, &number, &error));
  CHECK(number == 0);
  number = 1;
  FAILS(TAMIS_CLOSED, tamis_catch_up(db, &number, &error));
  CHECK(number == 0);
  tamis_transaction_t* tx = tamis_begin(db, NULL);
  number = 1;
  FAILS(TAMIS_CLOSED, tamis_transaction_savepoint(tx, &number, &error));
  CHECK(number == 0);
  yes = true;
  FAILS(TAMIS_CLOSED, tamis_transaction_exists(tx, NULL, S("k"), &yes, &error));
  CHECK(!yes);
  value = (char*)db;
  FAILS(TAMIS_CLOSED, tamis_transaction_get(tx, NULL, S("k"), &value, &size, &error));
  CHECK(value == NULL);
  tamis_transaction_free(tx);
  tamis_db_free(db);
}

static int64_t now_ms(void) {
  struct timespec now;
  timespec_get(&now, TIME_UTC);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void test_expiry(void) {
  tamis_t* db = open_store("expiry");
  tamis_write_options_t* options = tamis_write_options_create();
  tamis_write_options_set_expires_in_ms(options, 3600000);
  const int64_t before = now_ms();
  SUCCEEDS(tamis_put(db, options, NULL, S("hour"), S("1"), &error));
  tamis_write_options_set_expires_in_ms(options, TAMIS_NEVER_EXPIRES);
  SUCCEEDS(tamis_put(db, options, NULL, S("never"), S("1"), &error));
  tamis_write_options_set_expires_in_ms(options, 1);
  SUCCEEDS(tamis_put(db, options, NULL, S("now"), S("1"), &error));
  tamis_write_options_free(options);

  bool found = true;
  while (found) SUCCEEDS(tamis_exists(db, NULL, NULL, S("now"), &found, &error));
  tamis_iterator_t* it = NULL;
  SUCCEEDS(tamis_scan(db, NULL, NULL, &it, &error));
  size_t size = 0;
  const char* key = tamis_iterator_key(it, &size);
  IS("hour", key, size);
  const int64_t expires = tamis_iterator_expires_at_ms(it);
  CHECK(expires >= before + 3600000 && expires <= now_ms() + 3600000 + 1000);
  tamis_iterator_next(it);
  key = tamis_iterator_key(it, &size);
  IS("never", key, size);
  CHECK(tamis_iterator_expires_at_ms(it) == TAMIS_NEVER_EXPIRES);
  tamis_iterator_free(it);
  tamis_db_free(db);
}
