// Checks of the C API's test. A failed one says where and ends the program.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/// A literal as pointer and size.
#define S(text) text, sizeof(text) - 1

/// The error text of the last call that was checked with SUCCEEDS or FAILS.
extern char* error;
/// The folder of the test, and the top of the source tree.
extern const char* folder;
extern const char* sources;

#define CHECK(condition) check((condition), #condition, __FILE__, __LINE__)
/// The call returns TAMIS_OK and leaves `error` alone.
#define SUCCEEDS(call) check_code(TAMIS_OK, (call), #call, __FILE__, __LINE__)
/// The call returns this code, and the text begins with its name.
#define FAILS(code, call) check_code((code), (call), #call, __FILE__, __LINE__)
/// Bytes that a function returned are those of this literal.
#define IS(text, data, size) check_bytes(S(text), (data), (size), __FILE__, __LINE__)
/// A text has this part.
#define HAS(text, part) check_has((text), (part), __FILE__, __LINE__)

void check(bool is_true, const char* what, const char* file, int line);
void check_code(tamis_code_t expected, tamis_code_t got, const char* what, const char* file, int line);
void check_bytes(const char* expected, size_t expected_size, const char* data, size_t size, const char* file, int line);
void check_has(const char* text, const char* part, const char* file, int line);

/// A path in the test's folder; valid until the next but seven calls.
const char* path_of(const char* name);
/// A store in a new folder of that name.
tamis_t* open_store(const char* name);
/// Checks the value of a key in the default keyspace; NULL: absent.
void check_value(tamis_t* db, const char* key, const char* value);

/// All tests; each is a function test_NAME.
#define EACH_TEST(use)                                                                                         \
  use(codes) use(options) use(writes) use(reads) use(large_values) use(absent_results) use(expiry) use(merges) \
      use(listener) use(closing) use(iterators) use(snapshots) use(keyspaces) use(batches) use(batch_cursors)  \
          use(transactions) use(savepoints) use(transact) use(reads_of_transactions) use(upkeep) use(reports)  \
              use(repair) use(followers) use(filters) use(rows) use(filter_options) use(mutable_filters)       \
                  use(foreign_filters)

#define DECLARE_TEST(name) void test_##name(void);
EACH_TEST(DECLARE_TEST)
#undef DECLARE_TEST

#ifdef __cplusplus
}
#endif
