/* Calls every function of leveldb/c.h. Runs with our library and with LevelDB's: c_interface_test FOLDER. */
#include <leveldb/c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static char* error = NULL;

static void check_ok(void) {
  if (error != NULL) fprintf(stderr, "%s\n", error);
  CHECK(error == NULL);
}

/* There is an error, which begins like this. */
static void check_error(const char* begin) {
  CHECK(error != NULL);
  if (strncmp(error, begin, strlen(begin)) != 0) fprintf(stderr, "%s\n", error);
  CHECK(strncmp(error, begin, strlen(begin)) == 0);
  leveldb_free(error);
  error = NULL;
}

static void check_value(leveldb_t* db, const leveldb_readoptions_t* options, const char* key, const char* expected) {
  size_t bytes = 99;
  char* value = leveldb_get(db, options, key, strlen(key), &bytes, &error);
  check_ok();
  CHECK((value == NULL) == (expected == NULL));
  CHECK(bytes == (expected == NULL ? 0 : strlen(expected)));
  CHECK(expected == NULL || memcmp(value, expected, bytes) == 0);
  leveldb_free(value);
}

static void check_entry(const leveldb_iterator_t* at, const char* key, const char* value) {
  size_t bytes = 0;
  CHECK(leveldb_iter_valid(at));
  const char* text = leveldb_iter_key(at, &bytes);
  CHECK(bytes == strlen(key) && memcmp(text, key, bytes) == 0);
  text = leveldb_iter_value(at, &bytes);
  CHECK(bytes == strlen(value) && memcmp(text, value, bytes) == 0);
}

static char seen[100];

static void see_put(void* state, const char* key, size_t key_bytes, const char* value, size_t value_bytes) {
  CHECK(state == seen);
  sprintf(seen + strlen(seen), "%.*s=%.*s ", (int)key_bytes, key, (int)value_bytes, value);
}

static void see_delete(void* state, const char* key, size_t key_bytes) {
  CHECK(state == seen);
  sprintf(seen + strlen(seen), "-%.*s ", (int)key_bytes, key);
}

static void check_batches(leveldb_t* db, const leveldb_writeoptions_t* options) {
  leveldb_writebatch_t* batch = leveldb_writebatch_create();
  leveldb_writebatch_put(batch, "x", 1, "dropped", 7);
  leveldb_writebatch_clear(batch);
  leveldb_writebatch_put(batch, "b", 1, "2", 1);
  leveldb_writebatch_delete(batch, "a", 1);
  leveldb_writebatch_t* more = leveldb_writebatch_create();
  leveldb_writebatch_put(more, "c", 1, "3", 1);
  leveldb_writebatch_append(batch, more);
  leveldb_writebatch_iterate(batch, seen, see_put, see_delete);
  CHECK(strcmp(seen, "b=2 -a c=3 ") == 0);
  leveldb_write(db, options, batch, &error);
  check_ok();
  leveldb_writebatch_destroy(more);
  leveldb_writebatch_destroy(batch);
}

static void check_iterators(leveldb_t* db, const leveldb_readoptions_t* options) {
  leveldb_iterator_t* at = leveldb_create_iterator(db, options);
  CHECK(!leveldb_iter_valid(at));
  leveldb_iter_seek_to_first(at);
  check_entry(at, "b", "2");
  leveldb_iter_next(at);
  check_entry(at, "c", "3");
  leveldb_iter_prev(at);
  check_entry(at, "b", "2");
  leveldb_iter_seek_to_last(at);
  check_entry(at, "c", "3");
  leveldb_iter_seek(at, "bb", 2);
  check_entry(at, "c", "3");
  leveldb_iter_next(at);
  CHECK(!leveldb_iter_valid(at));
  leveldb_iter_get_error(at, &error);
  check_ok();
  leveldb_iter_destroy(at);
}

static void check_snapshots(leveldb_t* db, leveldb_readoptions_t* read, const leveldb_writeoptions_t* write) {
  const leveldb_snapshot_t* snapshot = leveldb_create_snapshot(db);
  leveldb_delete(db, write, "b", 1, &error);
  check_ok();
  leveldb_readoptions_set_snapshot(read, snapshot);
  check_value(db, read, "b", "2");
  leveldb_readoptions_set_snapshot(read, NULL);
  check_value(db, read, "b", NULL);
  leveldb_release_snapshot(db, snapshot);
}

static void check_maintenance(leveldb_t* db, const leveldb_writeoptions_t* write) {
  char* value = malloc(200000);
  memset(value, 'v', 200000);
  leveldb_put(db, write, "large", 5, value, 200000, &error);
  free(value);
  check_ok();
  leveldb_compact_range(db, "a", 1, "z", 1);
  leveldb_compact_range(db, NULL, 0, NULL, 0);
  const char* const starts[] = {"a", "x"};
  const char* const limits[] = {"m", "z"};
  const size_t lengths[] = {1, 1};
  uint64_t sizes[] = {0, 99};
  leveldb_approximate_sizes(db, 2, starts, lengths, limits, lengths, sizes);
  CHECK(sizes[0] > 190000);
  CHECK(sizes[1] == 0);
  char* stats = leveldb_property_value(db, "leveldb.stats");
  CHECK(stats != NULL && strstr(stats, "Compactions") != NULL);
  leveldb_free(stats);
  CHECK(leveldb_property_value(db, "leveldb.none") == NULL);
}

static int order_destroyed = 0;
static void destroy_order(void* state) { ++*(int*)state; }
static int compare(void* state, const char* a, size_t a_bytes, const char* b, size_t b_bytes) {
  (void)state;
  const int order = memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes);
  return order != 0 ? order : (a_bytes > b_bytes) - (a_bytes < b_bytes);
}
static const char* order_name(void* state) {
  (void)state;
  return "leveldb.BytewiseComparator";
}

static int filter_destroyed = 0;
static void destroy_filter(void* state) { ++*(int*)state; }
static const char* filter_name(void* state) {
  (void)state;
  return "own.Filter";
}
static char* create_filter(void* state, const char* const* keys, const size_t* lengths, int count, size_t* bytes) {
  (void)state, (void)keys, (void)lengths, (void)count;
  *bytes = 4;
  return memcpy(malloc(4), "fake", 4);
}
static uint8_t key_may_match(void* state, const char* key, size_t length, const char* filter, size_t bytes) {
  (void)state, (void)key, (void)length;
  CHECK(bytes == 4 && memcmp(filter, "fake", 4) == 0);
  return 1;
}

static leveldb_options_t* all_options(leveldb_env_t* env, leveldb_cache_t* cache, leveldb_comparator_t* order) {
  leveldb_options_t* options = leveldb_options_create();
  leveldb_options_set_comparator(options, order);
  leveldb_options_set_env(options, env);
  leveldb_options_set_info_log(options, NULL);
  leveldb_options_set_cache(options, cache);
  leveldb_options_set_error_if_exists(options, 1);
  leveldb_options_set_paranoid_checks(options, 1);
  leveldb_options_set_write_buffer_size(options, 100000);
  leveldb_options_set_max_open_files(options, 10);
  leveldb_options_set_block_size(options, 1024);
  leveldb_options_set_block_restart_interval(options, 8);
  leveldb_options_set_max_file_size(options, 3 << 20);
  leveldb_options_set_compression(options, leveldb_no_compression);
  return options;
}

static leveldb_t* check_open(leveldb_options_t* options, const char* folder) {
  leveldb_destroy_db(options, folder, &error);
  check_ok();
  CHECK(leveldb_open(options, folder, &error) == NULL);
  check_error("Invalid argument: ");
  leveldb_options_set_create_if_missing(options, 1);
  leveldb_t* db = leveldb_open(options, folder, &error);
  check_ok();
  CHECK(leveldb_open(options, folder, &error) == NULL);
  CHECK(leveldb_open(options, folder, &error) == NULL); /* Replaces the message. */
  check_error("IO error: lock ");
  return db;
}

static void check_filters(leveldb_options_t* options, const leveldb_readoptions_t* read,
                          const leveldb_writeoptions_t* write, const char* folder) {
  leveldb_filterpolicy_t* policies[] = {
      leveldb_filterpolicy_create(&filter_destroyed, destroy_filter, create_filter, key_may_match, filter_name),
      leveldb_filterpolicy_create_bloom(10)};
  for (int i = 0; i < 2; ++i) {
    leveldb_destroy_db(options, folder, &error);
    check_ok();
    leveldb_options_set_filter_policy(options, policies[i]);
    leveldb_t* db = leveldb_open(options, folder, &error);
    check_ok();
    leveldb_put(db, write, "a", 1, "1", 1, &error);
    check_ok();
    leveldb_compact_range(db, NULL, 0, NULL, 0);
    check_value(db, read, "a", "1");
    check_value(db, read, "b", NULL);
    leveldb_close(db);
    leveldb_options_set_filter_policy(options, NULL);
    leveldb_filterpolicy_destroy(policies[i]);
  }
  CHECK(filter_destroyed == 1);
}

int main(int count, char** arguments) {
  CHECK(count == 2);
  const char* const folder = arguments[1];
  CHECK(leveldb_major_version() == 1);
  CHECK(leveldb_minor_version() == 23);
  leveldb_env_t* env = leveldb_create_default_env();
  char* test_folder = leveldb_env_get_test_directory(env);
  CHECK(test_folder != NULL);
  leveldb_free(test_folder);
  leveldb_cache_t* cache = leveldb_cache_create_lru(100000);
  leveldb_comparator_t* order = leveldb_comparator_create(&order_destroyed, destroy_order, compare, order_name);
  leveldb_options_t* options = all_options(env, cache, order);
  leveldb_readoptions_t* read = leveldb_readoptions_create();
  leveldb_readoptions_set_verify_checksums(read, 1);
  leveldb_readoptions_set_fill_cache(read, 0);
  leveldb_writeoptions_t* write = leveldb_writeoptions_create();
  leveldb_writeoptions_set_sync(write, 1);

  leveldb_t* db = check_open(options, folder);
  leveldb_put(db, write, "a", 1, "1", 1, &error);
  check_ok();
  leveldb_put(db, write, "empty", 5, "", 0, &error);
  check_ok();
  check_value(db, read, "a", "1");
  check_value(db, read, "empty", "");
  leveldb_delete(db, write, "empty", 5, &error);
  check_ok();
  check_batches(db, write);
  check_value(db, read, "a", NULL);
  check_iterators(db, read);
  check_snapshots(db, read, write);
  check_maintenance(db, write);
  leveldb_close(db);

  leveldb_repair_db(options, folder, &error);
  check_ok();
  leveldb_options_set_error_if_exists(options, 0);
  db = leveldb_open(options, folder, &error);
  check_ok();
  check_value(db, read, "c", "3");
  leveldb_close(db);
  check_filters(options, read, write, folder);
  leveldb_destroy_db(options, folder, &error);
  check_ok();

  leveldb_writeoptions_destroy(write);
  leveldb_readoptions_destroy(read);
  leveldb_options_destroy(options);
  leveldb_comparator_destroy(order);
  CHECK(order_destroyed == 1);
  leveldb_cache_destroy(cache);
  leveldb_env_destroy(env);
  printf("ok\n");
  return 0;
}
