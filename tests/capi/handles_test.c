// What a program passes to a store, closing it with live handles, iterators, snapshots and keyspaces.
#include <stdio.h>
#include <string.h>

#include "check.h"

/// Keeps the longer value; cannot fold "bad". Counts its calls in the context.
static bool longer(void* context, const char* older, size_t older_size, const char* newer, size_t newer_size,
                   tamis_bytes_t* result) {
  ++*(int*)context;
  if (newer_size == 3 && memcmp(newer, "bad", 3) == 0) return false;
  if (newer_size > older_size) {
    tamis_bytes_append(result, newer, 1);
    tamis_bytes_append(result, newer + 1, newer_size - 1);
  } else {
    tamis_bytes_append(result, older, older_size);
  }
  return true;
}

static void forget(void* context) { *(int*)context = -1; }

void test_merges(void) {
  int calls = 0;
  tamis_options_t* options = tamis_options_create();
  tamis_options_add_merge_operator(options, "longer", longer, &calls, forget);
  SUCCEEDS(tamis_options_set(options, "merge_operator", "longer", &error));
  tamis_t* db = NULL;
  SUCCEEDS(tamis_open(path_of("merges"), options, &db, &error));
  tamis_options_free(options);
  CHECK(calls == 0);  // The store still needs it.
  SUCCEEDS(tamis_merge(db, NULL, NULL, S("k"), S("aa"), &error));
  SUCCEEDS(tamis_merge(db, NULL, NULL, S("k"), S("bbbb"), &error));
  SUCCEEDS(tamis_merge(db, NULL, NULL, S("k"), S("c"), &error));
  check_value(db, "k", "bbbb");
  CHECK(calls >= 2);
  SUCCEEDS(tamis_merge(db, NULL, NULL, S("k"), S("bad"), &error));
  char* value = NULL;
  size_t size = 0;
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_get(db, NULL, NULL, S("k"), &value, &size, &error));
  tamis_db_free(db);
  CHECK(calls == -1);

  SUCCEEDS(tamis_open(path_of("merges"), NULL, &db, &error));  // Without the operator.
  FAILS(TAMIS_NOT_SUPPORTED, tamis_get(db, NULL, NULL, S("k"), &value, &size, &error));
  tamis_db_free(db);
}

struct seen {
  int flushes;
  uint64_t tables, entries, bytes;
  bool has_text;
};

static void listen(void* context, const tamis_event_t* event) {
  struct seen* seen = context;
  size_t size = 0;
  (void)tamis_event_what(event, &size);
  seen->has_text = seen->has_text || size > 0;
  if (tamis_event_kind(event) != TAMIS_EVENT_FLUSHED) return;
  ++seen->flushes;
  seen->tables += tamis_event_tables(event);
  seen->entries += tamis_event_entries(event);
  seen->bytes += tamis_event_bytes(event);
}

void test_listener(void) {
  struct seen seen = {0, 0, 0, 0, false};
  tamis_options_t* options = tamis_options_create();
  tamis_options_set_listener(options, listen, &seen, NULL);
  tamis_t* db = NULL;
  SUCCEEDS(tamis_open(path_of("listener"), options, &db, &error));
  tamis_options_free(options);
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("1"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("b"), S("2"), &error));
  SUCCEEDS(tamis_flush(db, &error));
  SUCCEEDS(tamis_wait_idle(db, &error));
  tamis_db_free(db);
  CHECK(seen.flushes == 1 && seen.tables == 1 && seen.entries == 2 && seen.bytes > 0);
}

void test_closing(void) {
  tamis_t* db = open_store("closing");
  tamis_iterator_t* it = NULL;
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("1"), &error));
  SUCCEEDS(tamis_scan(db, NULL, NULL, &it, &error));
  tamis_snapshot_t* snapshot = tamis_snapshot_create(db);
  tamis_transaction_t* tx = tamis_begin(db, NULL);
  CHECK(tamis_close(db, &error) == TAMIS_BUSY);
  HAS(error, "tamis_scan");
  HAS(error, "made at tamis_snapshot_create");
  HAS(error, "tamis_begin");
  tamis_free(error);
  error = NULL;
  check_value(db, "a", "1");  // Still open.

  tamis_t* second = NULL;
  FAILS(TAMIS_BUSY, tamis_open(path_of("closing"), NULL, &second, &error));
  tamis_keyspace_t* keyspace = NULL;
  SUCCEEDS(tamis_keyspace_open(db, S("k"), NULL, &keyspace, &error));
  tamis_db_free(db);

  SUCCEEDS(tamis_open(path_of("closing"), NULL, &second, &error));
  tamis_iterator_next(it);
  FAILS(TAMIS_CLOSED, tamis_iterator_status(it, &error));
  FAILS(TAMIS_CLOSED, tamis_transaction_put(tx, NULL, S("a"), S("2"), &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_put(second, NULL, keyspace, S("a"), S("2"), &error));
  tamis_keyspace_free(keyspace);
  tamis_transaction_free(tx);
  tamis_snapshot_free(snapshot);
  tamis_iterator_free(it);

  SUCCEEDS(tamis_close(second, &error));
  FAILS(TAMIS_CLOSED, tamis_close(second, &error));
  FAILS(TAMIS_CLOSED, tamis_put(second, NULL, NULL, S("a"), S("1"), &error));
  snapshot = tamis_snapshot_create(second);
  tamis_snapshot_free(snapshot);
  tamis_db_free(second);
  tamis_db_free(NULL);
}

/// The keys that are left, as one text.
static void check_keys(tamis_iterator_t* it, const char* expected) {
  char keys[64] = "";
  size_t used = 0;
  for (; tamis_iterator_valid(it); tamis_iterator_advance(it)) {
    size_t size = 0;
    const char* key = tamis_iterator_key(it, &size);
    CHECK(used + size < sizeof(keys));
    memcpy(keys + used, key, size);
    used += size;
  }
  SUCCEEDS(tamis_iterator_status(it, &error));
  check_bytes(expected, strlen(expected), keys, used, __FILE__, __LINE__);
}

void test_iterators(void) {
  tamis_t* db = open_store("iterators");
  for (char c = 'a'; c <= 'g'; ++c) SUCCEEDS(tamis_put(db, NULL, NULL, &c, 1, &c, 1, &error));
  tamis_iterator_t* it = NULL;
  SUCCEEDS(tamis_scan(db, NULL, NULL, &it, &error));
  check_keys(it, "abcdefg");
  size_t size = 1;
  (void)tamis_iterator_key(it, &size);
  CHECK(size == 0);
  tamis_iterator_seek(it, S("c"));
  tamis_iterator_next(it);
  const char* value = tamis_iterator_value(it, &size);
  IS("d", value, size);
  tamis_iterator_previous(it);
  tamis_iterator_previous(it);
  check_keys(it, "bcdefg");
  tamis_iterator_seek_before(it, S("f"));
  check_keys(it, "efg");
  tamis_iterator_seek_to_last(it);
  check_keys(it, "g");
  tamis_iterator_seek_to_first(it);
  check_keys(it, "abcdefg");
  tamis_iterator_free(it);

  tamis_scan_options_t* options = tamis_scan_options_create();
  tamis_scan_options_set_from(options, S("b"));
  tamis_scan_options_set_to(options, S("f"));
  tamis_scan_options_set_fills_cache(options, false);
  SUCCEEDS(tamis_scan(db, options, NULL, &it, &error));
  check_keys(it, "bcde");
  tamis_iterator_free(it);
  tamis_scan_options_set_reverse(options, true);
  SUCCEEDS(tamis_scan(db, options, NULL, &it, &error));
  tamis_scan_options_set_from(options, S("d"));  // Not seen by the scan that has begun.
  check_keys(it, "edcb");
  tamis_iterator_free(it);
  tamis_scan_options_set_prefix(options, S("e"));
  SUCCEEDS(tamis_scan(db, options, NULL, &it, &error));
  check_keys(it, "e");
  tamis_iterator_free(it);
  tamis_scan_options_free(options);
  tamis_db_free(db);
}

void test_snapshots(void) {
  tamis_t* db = open_store("snapshots");
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("old"), &error));
  tamis_snapshot_t* snapshot = tamis_snapshot_create(db);
  CHECK(tamis_snapshot_sequence(snapshot) == 1);
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("new"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("b"), S("new"), &error));

  tamis_read_options_t* reads = tamis_read_options_create();
  tamis_read_options_set_snapshot(reads, snapshot);
  char buffer[8];
  size_t size = 0;
  bool found = false;
  SUCCEEDS(tamis_get_into(db, reads, NULL, S("a"), buffer, sizeof(buffer), &size, &found, &error));
  IS("old", buffer, size);
  tamis_read_options_set_snapshot(reads, NULL);
  SUCCEEDS(tamis_get_into(db, reads, NULL, S("a"), buffer, sizeof(buffer), &size, &found, &error));
  IS("new", buffer, size);

  tamis_scan_options_t* scans = tamis_scan_options_create();
  tamis_scan_options_set_snapshot(scans, snapshot);
  tamis_iterator_t* it = NULL;
  SUCCEEDS(tamis_scan(db, scans, NULL, &it, &error));
  tamis_snapshot_free(snapshot);
  check_keys(it, "a");
  tamis_iterator_free(it);
  tamis_scan_options_free(scans);
  tamis_read_options_free(reads);
  SUCCEEDS(tamis_close(db, &error));
  tamis_db_free(db);
}

void test_keyspaces(void) {
  tamis_t* db = open_store("keyspaces");
  tamis_keyspace_options_t* options = tamis_keyspace_options_create();
  SUCCEEDS(tamis_keyspace_options_set(options, "merge_operator", "append", &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_keyspace_options_set(options, "memory_bytes", "1GiB", &error));
  tamis_keyspace_t* users = NULL;
  SUCCEEDS(tamis_keyspace_open(db, S("users"), options, &users, &error));
  tamis_keyspace_options_free(options);
  size_t size = 0;
  const char* name = tamis_keyspace_name(users, &size);
  IS("users", name, size);
  CHECK(tamis_keyspace_id(users) > 0);

  SUCCEEDS(tamis_put(db, NULL, users, S("ada"), S("18"), &error));
  SUCCEEDS(tamis_merge(db, NULL, users, S("ada"), S("15"), &error));
  check_value(db, "ada", NULL);
  char* value = NULL;
  SUCCEEDS(tamis_get(db, NULL, users, S("ada"), &value, &size, &error));
  IS("1815", value, size);
  tamis_free(value);
  tamis_iterator_t* it = NULL;
  SUCCEEDS(tamis_scan(db, NULL, users, &it, &error));
  check_keys(it, "ada");
  tamis_iterator_free(it);
  bool found = false;
  SUCCEEDS(tamis_exists(db, NULL, users, S("ada"), &found, &error));
  CHECK(found);
  SUCCEEDS(tamis_compact(db, users, NULL, 0, NULL, 0, NULL, NULL, &error));
  uint64_t bytes = 0;
  SUCCEEDS(tamis_approximate_size(db, users, NULL, 0, NULL, 0, &bytes, &error));
  CHECK(bytes > 0);
  SUCCEEDS(tamis_approximate_size(db, NULL, NULL, 0, NULL, 0, &bytes, &error));
  CHECK(bytes == 0);

  tamis_values_t* names = tamis_values_create();
  tamis_keyspace_names(db, names);
  CHECK(tamis_values_count(names) == 2);
  name = tamis_values_get(names, 0, &size);
  IS("default", name, size);
  name = tamis_values_get(names, 1, &size);
  IS("users", name, size);
  tamis_values_free(names);
  char* json = tamis_keyspaces_json(db);
  HAS(json, "[{\"name\": \"default\", \"id\": 0,");
  HAS(json, "\"options\": {\"merge_operator\": \"append\"}}]");
  tamis_free(json);

  SUCCEEDS(tamis_keyspace_drop(db, S("users"), &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_keyspace_drop(db, S("users"), &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_put(db, NULL, users, S("ada"), S("1815"), &error));
  tamis_keyspace_free(users);
  tamis_db_free(db);
}
