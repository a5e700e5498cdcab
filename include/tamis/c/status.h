// Errors, memory and reports of the C API.
//
//     char* error = NULL;
//     tamis_put(db, NULL, NULL, "paris", 5, "2102650", 7, &error);
//     if (error != NULL) fprintf(stderr, "%s\n", error);   // "out of space: cities: …"
//     tamis_free(error);
//
// A function that can fail returns a code, and takes a char** as its last parameter. On failure, that gets a text that
// begins with the name of the code, which the caller frees with tamis_free; a text that is already there is freed. On
// success it is not touched. It may be NULL. Results come through the parameters before it; after a failure they are
// NULL, 0 and false.
//
// Keys and values are any bytes, given as pointer and size; the pointer may be NULL if the size is 0. Names and paths
// end with a zero byte unless they have a size.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Marks the functions of the C API. src/capi/symbols.txt lists all of them; those keep their parameters for ever.
#define TAMIS_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/// What to do next; the message says what happened.
typedef enum tamis_code {
  TAMIS_OK = 0,                ///< Success.
  TAMIS_INVALID_ARGUMENT = 1,  ///< Fix the call.
  TAMIS_NOT_SUPPORTED = 2,     ///< This will never work here; the message names an alternative.
  TAMIS_BUSY = 3,              ///< Try again later.
  TAMIS_IO_ERROR = 4,          ///< Check the machine.
  TAMIS_OUT_OF_SPACE = 5,      ///< Free space, then continue.
  TAMIS_CORRUPTION = 6,        ///< Restore or repair; the message names file and offset.
  TAMIS_CLOSED = 7,            ///< The store was closed, or a progress function stopped the task.
  TAMIS_CONFLICT = 8,          ///< Another write interfered with a transaction; run it again.
  TAMIS_STALE = 9,             ///< A follower could not keep up; call tamis_catch_up again.
  TAMIS_CODE_MAX = 0x7fffffff  ///< No code: later ones have room, whatever the compiler makes of the type.
} tamis_code_t;

/// The name of the code, e.g. "corruption"; never NULL.
TAMIS_API const char* tamis_code_name(tamis_code_t code);

/// Frees what a function returned through a char**: error texts, values, JSON. NULL is allowed.
TAMIS_API void tamis_free(void* memory);

/// The version of the linked library, "MAJOR.MINOR.PATCH"; <tamis/version.h> has that of the headers.
TAMIS_API const char* tamis_version(void);

/// Bytes that a function of the program makes for the library.
typedef struct tamis_bytes tamis_bytes_t;
/// Appends bytes; copies them.
TAMIS_API void tamis_bytes_append(tamis_bytes_t* bytes, const char* data, size_t size);

/// A list of values, each of which may be absent: see tamis_multi_get and tamis_keyspace_names.
typedef struct tamis_values tamis_values_t;
/// An empty list. A list can be filled again and keeps its memory.
TAMIS_API tamis_values_t* tamis_values_create(void);
/// Frees the list and what it holds.
TAMIS_API void tamis_values_free(tamis_values_t* values);
/// The number of values, absent ones included.
TAMIS_API size_t tamis_values_count(const tamis_values_t* values);
/// One value, valid until the list is filled again or freed; NULL if it is absent. `index` counts from 0.
TAMIS_API const char* tamis_values_get(const tamis_values_t* values, size_t index, size_t* size);

/// A report: statistics, an explanation, a plan.
typedef struct tamis_report tamis_report_t;
/// For people, valid as long as the report.
TAMIS_API const char* tamis_report_text(const tamis_report_t* report);
/// A JSON object, valid as long as the report. Bytes that are not UTF-8 are hexadecimal, under names that end in _hex.
TAMIS_API const char* tamis_report_json(const tamis_report_t* report);
/// Statistics in Prometheus's text format 0.0.4, valid as long as the report; NULL for any other report.
TAMIS_API const char* tamis_report_prometheus(const tamis_report_t* report);
/// Frees the report.
TAMIS_API void tamis_report_free(tamis_report_t* report);

#ifdef __cplusplus
}
#endif
