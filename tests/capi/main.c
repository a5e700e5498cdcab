// The test of the C API as a program in C: calls every function of <tamis/tamis.h>. Usage: capi_test FOLDER SOURCES
#include <stdio.h>

#include "check.h"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  folder = argv[1];
  sources = argv[2];
#define RUN_TEST(name) test_##name();
  EACH_TEST(RUN_TEST)
  CHECK(error == NULL);
  puts("done");
  return 0;
}
