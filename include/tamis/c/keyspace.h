// Keyspaces in C: named trees of one store.
#pragma once

#include "tamis/c/options.h"
#include "tamis/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_db tamis_t;  ///< See <tamis/c/db.h>.

/// A handle of one keyspace.
///
/// Threads: any number, except for tamis_keyspace_free. It may outlive its store.
typedef struct tamis_keyspace tamis_keyspace_t;
/// Opens the keyspace of this name; makes it if there is none. `options`, which may be NULL, are stored.
TAMIS_API tamis_code_t tamis_keyspace_open(tamis_t* db, const char* name, size_t name_size,
                                           const tamis_keyspace_options_t* options, tamis_keyspace_t** keyspace,
                                           char** errptr);
/// Frees the handle; the keyspace stays.
TAMIS_API void tamis_keyspace_free(tamis_keyspace_t* keyspace);
/// The name, valid as long as the handle.
TAMIS_API const char* tamis_keyspace_name(const tamis_keyspace_t* keyspace, size_t* size);
/// Its number in the store; never reused.
TAMIS_API uint32_t tamis_keyspace_id(const tamis_keyspace_t* keyspace);
/// Drops a keyspace and all it holds.
TAMIS_API tamis_code_t tamis_keyspace_drop(tamis_t* db, const char* name, size_t name_size, char** errptr);
/// The names of all keyspaces, the default one first.
TAMIS_API void tamis_keyspace_names(tamis_t* db, tamis_values_t* names);
/// A JSON list with an object for each keyspace: name, options, sizes. Free it with tamis_free.
TAMIS_API char* tamis_keyspaces_json(tamis_t* db);

#ifdef __cplusplus
}
#endif
