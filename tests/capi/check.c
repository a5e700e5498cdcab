// Checks, and what most tests need.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

char* error;
const char* sources;
const char* folder;

void check(bool is_true, const char* what, const char* file, int line) {
  if (is_true) return;
  fprintf(stderr, "%s:%d: not true: %s\n", file, line, what);
  exit(1);
}

void check_code(tamis_code_t expected, tamis_code_t got, const char* what, const char* file, int line) {
  const char* text = error != NULL ? error : "";
  const size_t name_size = strlen(tamis_code_name(expected));
  const bool has_text = strncmp(text, tamis_code_name(expected), name_size) == 0 && strlen(text) > name_size;
  if (got != expected || has_text != (expected != TAMIS_OK)) {
    fprintf(stderr, "%s:%d: %s: expected %s, got %s: '%s'\n", file, line, what, tamis_code_name(expected),
            tamis_code_name(got), text);
    exit(1);
  }
  tamis_free(error);
  error = NULL;
}

void check_bytes(const char* expected, size_t expected_size, const char* data, size_t size, const char* file,
                 int line) {
  if (size == expected_size && (size == 0 || memcmp(data, expected, size) == 0)) return;
  fprintf(stderr, "%s:%d: expected '%s', got '%.*s'\n", file, line, expected, (int)size, data);
  exit(1);
}

void check_has(const char* text, const char* part, const char* file, int line) {
  if (text != NULL && strstr(text, part) != NULL) return;
  fprintf(stderr, "%s:%d: '%s' is not in '%s'\n", file, line, part, text != NULL ? text : "(null)");
  exit(1);
}

const char* path_of(const char* name) {
  static char paths[8][512];
  static int next;
  next = (next + 1) % 8;
  snprintf(paths[next], sizeof(paths[next]), "%s/%s", folder, name);
  return paths[next];
}

tamis_t* open_store(const char* name) {
  tamis_options_t* options = tamis_options_create();
  tamis_options_set_error_if_exists(options, true);
  SUCCEEDS(tamis_options_set(options, "memory_bytes", "4MiB", &error));
  SUCCEEDS(tamis_options_set(options, "memtable_bytes", "1MiB", &error));
  tamis_t* db = NULL;
  SUCCEEDS(tamis_open(path_of(name), options, &db, &error));
  CHECK(db != NULL);
  tamis_options_free(options);
  return db;
}

void check_value(tamis_t* db, const char* key, const char* value) {
  char* got = NULL;
  size_t size = 0;
  SUCCEEDS(tamis_get(db, NULL, NULL, key, strlen(key), &got, &size, &error));
  CHECK((got == NULL) == (value == NULL));
  if (value != NULL) check_bytes(value, strlen(value), got, size, __FILE__, __LINE__);
  tamis_free(got);
}
