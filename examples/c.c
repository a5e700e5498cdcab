// The C API: a store, its iterators, batches, transactions and keyspaces, and a filter alone. Usage: c PATH
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>

static void stop_on(char* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", error);
  exit(1);
}

static tamis_t* open_and_write(const char* path) {
  // README.md and docs/C.md show the lines between the marks.
  // [store]
  char* error = NULL;
  tamis_t* db = NULL;
  tamis_options_t* options = tamis_options_create();
  tamis_options_set(options, "memory_bytes", "64MiB", &error);
  tamis_open(path, options, &db, &error);  // A directory, created if it does not exist.
  tamis_options_free(options);
  stop_on(error);

  // No write options, the default keyspace, a key, a value.
  if (tamis_put(db, NULL, NULL, "paris", 5, "2102650", 7, &error) != TAMIS_OK) stop_on(error);
  char* value = NULL;
  size_t size = 0;
  if (tamis_get(db, NULL, NULL, "rome", 4, &value, &size, &error) != TAMIS_OK) stop_on(error);
  printf("rome: %s\n", value != NULL ? value : "not there");  // Absence is no error.
  tamis_free(value);
  // [/store]
  return db;
}

static void write_together(tamis_t* db) {
  char* error = NULL;
  // [batch]
  tamis_batch_t* batch = tamis_batch_create();
  tamis_batch_put(batch, NULL, "lyon", 4, "522250", 6);
  tamis_batch_put(batch, NULL, "lille", 5, "236234", 6);
  tamis_write_options_t* options = tamis_write_options_create();
  tamis_write_options_set_sync(options, true);  // Survives a crash of the machine.
  tamis_write(db, options, batch, &error);      // Both or none.
  tamis_write_options_free(options);
  tamis_batch_free(batch);
  stop_on(error);
  // [/batch]
}

static void read_in_order(tamis_t* db) {
  char* error = NULL;
  // [iterator]
  tamis_scan_options_t* options = tamis_scan_options_create();
  tamis_scan_options_set_prefix(options, "l", 1);
  tamis_iterator_t* it = NULL;
  if (tamis_scan(db, options, NULL, &it, &error) != TAMIS_OK) stop_on(error);
  for (; tamis_iterator_valid(it); tamis_iterator_advance(it)) {
    size_t key_size = 0, value_size = 0;
    const char* key = tamis_iterator_key(it, &key_size);
    const char* value = tamis_iterator_value(it, &value_size);
    printf("%.*s: %.*s\n", (int)key_size, key, (int)value_size, value);
  }
  if (tamis_iterator_status(it, &error) != TAMIS_OK) stop_on(error);  // Why the loop ended.
  tamis_iterator_free(it);
  tamis_scan_options_free(options);
  // [/iterator]
}

// [transaction]
static tamis_code_t count_visit(void* context, tamis_transaction_t* tx, char** errptr) {
  char digits[21] = "0";
  size_t size = 0;
  bool found = false;
  tamis_code_t code = tamis_transaction_get_into(tx, NULL, "visits", 6, digits, 20, &size, &found, errptr);
  if (code != TAMIS_OK) return code;
  const int visits = *(int*)context = atoi(digits) + 1;
  snprintf(digits, sizeof(digits), "%d", visits);
  return tamis_transaction_put(tx, NULL, "visits", 6, digits, strlen(digits), errptr);
}

static void visit(tamis_t* db) {
  char* error = NULL;
  int visits = 0;
  tamis_transact(db, NULL, count_visit, &visits, &error);  // Runs again if another write interferes.
  stop_on(error);
  printf("visits: %d\n", visits);
}
// [/transaction]

static void use_keyspace(tamis_t* db) {
  char* error = NULL;
  // [keyspace]
  tamis_keyspace_t* logs = NULL;
  tamis_keyspace_options_t* options = tamis_keyspace_options_create();
  tamis_keyspace_options_set(options, "merge_operator", "append", &error);
  tamis_keyspace_open(db, "logs", 4, options, &logs, &error);
  tamis_keyspace_options_free(options);
  stop_on(error);
  tamis_merge(db, NULL, logs, "paris", 5, "come,", 5, &error);
  tamis_merge(db, NULL, logs, "paris", 5, "gone,", 5, &error);  // Nothing is read here.
  char log[32];
  size_t size = 0;
  bool found = false;
  tamis_get_into(db, NULL, logs, "paris", 5, log, sizeof(log), &size, &found, &error);
  stop_on(error);
  printf("log: %.*s\n", (int)size, log);
  tamis_keyspace_free(logs);
  // [/keyspace]
}

static void use_filter(void) {
  char* error = NULL;
  // [filter]
  tamis_filter_options_t* options = tamis_filter_options_create();
  tamis_filter_options_set_kind(options, "ribbon");
  tamis_filter_options_set_target_rate(options, 0.004);
  tamis_filter_builder_t* builder = tamis_filter_builder_create(options);
  tamis_filter_builder_add(builder, "apple", 5);
  tamis_filter_builder_add(builder, "pear", 4);
  tamis_filter_t* filter = NULL;
  tamis_filter_builder_finish(builder, &filter, &error);
  stop_on(error);
  printf("apple: %s\n", tamis_filter_may_contain(filter, "apple", 5) ? "maybe" : "certainly not");
  printf("zebra: %s\n", tamis_filter_may_contain(filter, "zebra", 5) ? "maybe" : "certainly not");
  tamis_filter_free(filter);
  tamis_filter_builder_free(builder);
  tamis_filter_options_free(options);
  // [/filter]
}

int main(int argc, char** argv) {
  tamis_t* db = open_and_write(argc > 1 ? argv[1] : "cities");
  write_together(db);
  read_in_order(db);
  visit(db);
  visit(db);
  use_keyspace(db);
  use_filter();
  // [report]
  tamis_report_t* stats = tamis_stats(db);
  puts(tamis_report_json(stats));  // Or tamis_report_text, for people.
  tamis_report_free(stats);
  // [/report]
  char* error = NULL;
  tamis_close(db, &error);  // Fails while iterators, snapshots or transactions are alive.
  tamis_db_free(db);        // In any case.
  stop_on(error);
  return 0;
}
