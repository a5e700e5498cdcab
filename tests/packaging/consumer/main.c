/* A third-party program in C: opens a store, puts, gets. Usage: consumer_c FOLDER */
#include <stdio.h>
#include <tamis/tamis.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  char* error = NULL;
  tamis_t* db = NULL;
  char* value = NULL;
  size_t size = 0;
  if (tamis_open(argv[1], NULL, &db, &error) == TAMIS_OK &&
      tamis_put(db, NULL, NULL, "paris", 5, "2102650", 7, &error) == TAMIS_OK &&
      tamis_get(db, NULL, NULL, "paris", 5, &value, &size, &error) == TAMIS_OK) {
    printf("paris: %s\n", value);
  } else {
    fprintf(stderr, "%s\n", error);
  }
  tamis_free(value);
  tamis_db_free(db);
  return error != NULL;
}
