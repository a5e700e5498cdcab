// Batches, and transactions.
#include <string.h>

#include "check.h"

void test_batches(void) {
  tamis_t* db = open_store("batches");
  tamis_keyspace_t* sums = NULL;
  tamis_keyspace_options_t* options = tamis_keyspace_options_create();
  SUCCEEDS(tamis_keyspace_options_set(options, "merge_operator", "append", &error));
  SUCCEEDS(tamis_keyspace_open(db, S("sums"), options, &sums, &error));
  tamis_keyspace_options_free(options);
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("0"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("x"), S("0"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("y"), S("0"), &error));

  tamis_batch_t* batch = tamis_batch_create();
  tamis_batch_put(batch, NULL, S("b"), S("1"));
  tamis_batch_remove(batch, NULL, S("a"));
  tamis_batch_remove_range(batch, NULL, S("x"), NULL, 0);
  tamis_batch_put(batch, sums, S("s"), S("1"));
  tamis_batch_merge(batch, sums, S("s"), S("2"));
  CHECK(tamis_batch_count(batch) == 5);
  CHECK(tamis_batch_byte_size(batch) > 5);
  SUCCEEDS(tamis_batch_status(batch, &error));
  SUCCEEDS(tamis_write(db, NULL, batch, &error));
  check_value(db, "a", NULL);
  check_value(db, "b", "1");
  check_value(db, "x", NULL);
  check_value(db, "y", NULL);
  char* value = NULL;
  size_t size = 0;
  SUCCEEDS(tamis_get(db, NULL, sums, S("s"), &value, &size, &error));
  IS("12", value, size);
  tamis_free(value);

  tamis_batch_t* more = tamis_batch_create();
  tamis_batch_put(more, NULL, S("c"), S("2"));
  tamis_batch_clear(batch);
  CHECK(tamis_batch_count(batch) == 0);
  tamis_batch_append(batch, more);
  CHECK(tamis_batch_count(batch) == 1);
  SUCCEEDS(tamis_try_write(db, NULL, batch, &error));
  check_value(db, "c", "2");

  tamis_batch_put_expiring_in(batch, NULL, S("k"), S("v"), -1);  // An error, which stays until clear.
  tamis_batch_put(batch, NULL, S("d"), S("3"));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_batch_status(batch, &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_write(db, NULL, batch, &error));
  check_value(db, "d", NULL);
  tamis_batch_free(more);
  tamis_batch_free(batch);
  tamis_keyspace_free(sums);
  tamis_db_free(db);
}

void test_batch_cursors(void) {
  tamis_batch_t* batch = tamis_batch_create();
  tamis_batch_put_expiring_in(batch, NULL, S("in"), S("v"), 5000);
  tamis_batch_put_expiring_at(batch, NULL, S("at"), S("v"), 4000000000000);
  tamis_batch_remove_range(batch, NULL, S("f"), S("t"));
  tamis_batch_remove(batch, NULL, S("r"));
  tamis_batch_merge(batch, NULL, S("m"), S("o"));
  tamis_batch_cursor_t* cursor = tamis_batch_cursor_create(batch);
  size_t size = 0;
  CHECK(tamis_batch_cursor_valid(cursor));
  CHECK(tamis_batch_cursor_kind(cursor) == TAMIS_CHANGE_PUT);
  const char* bytes = tamis_batch_cursor_key(cursor, &size);
  IS("in", bytes, size);
  bytes = tamis_batch_cursor_value(cursor, &size);
  IS("v", bytes, size);
  CHECK(tamis_batch_cursor_expires_in_ms(cursor) == 5000);
  CHECK(tamis_batch_cursor_expires_at_ms(cursor) == TAMIS_NEVER_EXPIRES);
  CHECK(tamis_batch_cursor_keyspace_id(cursor) == 0);
  tamis_batch_cursor_next(cursor);
  CHECK(tamis_batch_cursor_expires_in_ms(cursor) == 0);
  CHECK(tamis_batch_cursor_expires_at_ms(cursor) == 4000000000000);
  tamis_batch_cursor_next(cursor);
  CHECK(tamis_batch_cursor_kind(cursor) == TAMIS_CHANGE_REMOVE_RANGE);
  bytes = tamis_batch_cursor_value(cursor, &size);
  IS("t", bytes, size);
  tamis_batch_cursor_next(cursor);
  CHECK(tamis_batch_cursor_kind(cursor) == TAMIS_CHANGE_REMOVE);
  tamis_batch_cursor_next(cursor);
  CHECK(tamis_batch_cursor_kind(cursor) == TAMIS_CHANGE_MERGE);
  tamis_batch_cursor_next(cursor);
  CHECK(!tamis_batch_cursor_valid(cursor));
  tamis_batch_cursor_free(cursor);
  tamis_batch_free(batch);
}

void test_transactions(void) {
  tamis_t* db = open_store("transactions");
  tamis_transaction_t* tx = tamis_begin(db, NULL);
  CHECK(tamis_transaction_is_active(tx));
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("a"), S("1"), &error));
  check_value(db, "a", NULL);
  SUCCEEDS(tamis_transaction_commit(tx, NULL, &error));
  CHECK(!tamis_transaction_is_active(tx) && tamis_transaction_sequence(tx) == 0);
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_transaction_commit(tx, NULL, &error));
  tamis_transaction_free(tx);
  check_value(db, "a", "1");

  // What it has read was written meanwhile.
  tx = tamis_begin(db, NULL);
  CHECK(tamis_transaction_sequence(tx) == 1);
  bool found = false;
  SUCCEEDS(tamis_transaction_exists(tx, NULL, S("a"), &found, &error));
  CHECK(found);
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("b"), S("1"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("2"), &error));
  tamis_write_options_t* synced = tamis_write_options_create();
  tamis_write_options_set_sync(synced, true);
  FAILS(TAMIS_CONFLICT, tamis_transaction_commit(tx, synced, &error));
  tamis_transaction_free(tx);
  check_value(db, "b", NULL);

  // With snapshot isolation only what it writes counts.
  tamis_transaction_options_t* options = tamis_transaction_options_create();
  tamis_transaction_options_set_isolation(options, TAMIS_SNAPSHOT);
  tamis_transaction_options_set_max_read_bytes(options, 4096);
  tx = tamis_begin(db, options);
  SUCCEEDS(tamis_transaction_exists(tx, NULL, S("a"), &found, &error));
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("b"), S("1"), &error));
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("3"), &error));
  SUCCEEDS(tamis_transaction_commit(tx, synced, &error));
  tamis_transaction_free(tx);
  check_value(db, "b", "1");
  tamis_write_options_free(synced);
  tamis_transaction_options_free(options);

  tx = tamis_begin(db, NULL);
  SUCCEEDS(tamis_transaction_remove(tx, NULL, S("a"), &error));
  SUCCEEDS(tamis_transaction_rollback(tx, &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_transaction_rollback(tx, &error));
  tamis_transaction_free(tx);
  check_value(db, "a", "3");
  SUCCEEDS(tamis_close(db, &error));
  tamis_db_free(db);
}

void test_savepoints(void) {
  tamis_t* db = open_store("savepoints");
  tamis_transaction_t* tx = tamis_begin(db, NULL);
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_transaction_rollback_to(tx, 1, &error));
  uint64_t savepoint = 0;
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("a"), S("1"), &error));
  SUCCEEDS(tamis_transaction_savepoint(tx, &savepoint, &error));
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("b"), S("1"), &error));
  uint64_t later = 0;
  SUCCEEDS(tamis_transaction_savepoint(tx, &later, &error));
  SUCCEEDS(tamis_transaction_rollback_to(tx, savepoint, &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_transaction_rollback_to(tx, later, &error));
  SUCCEEDS(tamis_transaction_commit(tx, NULL, &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_transaction_savepoint(tx, &later, &error));
  tamis_transaction_free(tx);
  check_value(db, "a", "1");
  check_value(db, "b", NULL);
  tamis_db_free(db);
}

struct work {
  tamis_t* db;
  int runs;
};

/// Another write interferes with the first run.
static tamis_code_t count_up(void* context, tamis_transaction_t* tx, char** errptr) {
  struct work* work = context;
  char digit = '0';
  size_t size = 0;
  bool found = false;
  tamis_code_t code = tamis_transaction_get_into(tx, NULL, S("n"), &digit, 1, &size, &found, errptr);
  if (code != TAMIS_OK) return code;
  if (++work->runs == 1) SUCCEEDS(tamis_put(work->db, NULL, NULL, S("n"), S("5"), &error));
  ++digit;
  return tamis_transaction_put(tx, NULL, S("n"), &digit, 1, errptr);
}

static tamis_code_t give_up(void* context, tamis_transaction_t* tx, char** errptr) {
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("n"), S("9"), &error));
  ++((struct work*)context)->runs;
  return tamis_transaction_rollback_to(tx, 77, errptr);  // There is no such savepoint.
}

static tamis_code_t say_nothing(void* context, tamis_transaction_t* tx, char** errptr) {
  (void)context, (void)tx, (void)errptr;
  return TAMIS_CONFLICT;
}

void test_transact(void) {
  tamis_t* db = open_store("transact");
  struct work work = {db, 0};
  SUCCEEDS(tamis_transact(db, NULL, count_up, &work, &error));
  CHECK(work.runs == 2);
  check_value(db, "n", "6");
  work.runs = 0;
  CHECK(tamis_transact(db, NULL, give_up, &work, &error) == TAMIS_INVALID_ARGUMENT);
  HAS(error, "invalid argument: ");
  CHECK(strstr(error + 1, "invalid argument") == NULL);
  tamis_free(error);
  error = NULL;
  CHECK(work.runs == 1);
  check_value(db, "n", "6");

  tamis_transaction_options_t* options = tamis_transaction_options_create();
  tamis_transaction_options_set_max_tries(options, 2);
  tamis_write_options_t* commit = tamis_write_options_create();
  tamis_write_options_set_sync(commit, true);
  tamis_transaction_options_set_commit(options, commit);
  tamis_write_options_free(commit);
  FAILS(TAMIS_CONFLICT, tamis_transact(db, options, say_nothing, NULL, &error));
  tamis_transaction_options_free(options);
  tamis_db_free(db);
}

void test_reads_of_transactions(void) {
  tamis_t* db = open_store("transaction_reads");
  tamis_keyspace_options_t* append = tamis_keyspace_options_create();
  SUCCEEDS(tamis_keyspace_options_set(append, "merge_operator", "append", &error));
  tamis_keyspace_t* logs = NULL;
  SUCCEEDS(tamis_keyspace_open(db, S("logs"), append, &logs, &error));
  tamis_keyspace_options_free(append);
  SUCCEEDS(tamis_put(db, NULL, NULL, S("a"), S("1"), &error));
  SUCCEEDS(tamis_put(db, NULL, logs, S("l"), S("1"), &error));

  tamis_transaction_t* tx = tamis_begin(db, NULL);
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("b"), S("2"), &error));
  SUCCEEDS(tamis_transaction_put(tx, NULL, S("x"), S("3"), &error));
  SUCCEEDS(tamis_transaction_merge(tx, logs, S("l"), S("2"), &error));
  SUCCEEDS(tamis_transaction_remove_range(tx, NULL, S("x"), S("z"), &error));
  tamis_batch_t* batch = tamis_batch_create();
  tamis_batch_put(batch, NULL, S("c"), S("4"));
  SUCCEEDS(tamis_transaction_write(tx, batch, &error));
  tamis_batch_free(batch);

  char* value = NULL;
  size_t size = 0;
  SUCCEEDS(tamis_transaction_get(tx, NULL, S("b"), &value, &size, &error));
  IS("2", value, size);
  tamis_free(value);
  SUCCEEDS(tamis_transaction_get(tx, logs, S("l"), &value, &size, &error));
  IS("12", value, size);
  tamis_free(value);
  SUCCEEDS(tamis_transaction_get(tx, NULL, S("x"), &value, &size, &error));
  CHECK(value == NULL);

  const char* const keys[] = {"a", "x"};
  const size_t key_sizes[] = {1, 1};
  tamis_values_t* values = tamis_values_create();
  SUCCEEDS(tamis_transaction_multi_get(tx, NULL, 2, keys, key_sizes, values, &error));
  CHECK(tamis_values_count(values) == 2);
  const char* one = tamis_values_get(values, 0, &size);
  IS("1", one, size);
  CHECK(tamis_values_get(values, 1, &size) == NULL);

  tamis_iterator_t* it = NULL;
  SUCCEEDS(tamis_transaction_scan(tx, NULL, NULL, &it, &error));
  char seen[8] = "";
  for (size_t i = 0; tamis_iterator_valid(it); tamis_iterator_advance(it)) seen[i++] = *tamis_iterator_key(it, &size);
  CHECK(strcmp(seen, "abc") == 0);
  tamis_iterator_free(it);
  SUCCEEDS(tamis_transaction_commit(tx, NULL, &error));
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_transaction_multi_get(tx, NULL, 2, keys, key_sizes, values, &error));
  CHECK(tamis_values_count(values) == 2 && tamis_values_get(values, 0, &size) == NULL);
  FAILS(TAMIS_INVALID_ARGUMENT, tamis_transaction_scan(tx, NULL, NULL, &it, &error));
  CHECK(it == NULL);
  tamis_transaction_free(tx);
  tamis_values_free(values);
  check_value(db, "c", "4");
  tamis_keyspace_free(logs);
  tamis_db_free(db);
}
