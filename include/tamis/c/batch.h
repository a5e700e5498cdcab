// Batches in C: groups of changes that tamis_write applies atomically.
//
//     tamis_batch_t* batch = tamis_batch_create();
//     tamis_batch_put(batch, NULL, "lyon", 4, "522969", 6);
//     tamis_batch_remove(batch, NULL, "paris", 5);
//     tamis_write(db, NULL, batch, &error);
#pragma once

#include "tamis/c/keyspace.h"
#include "tamis/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A list of changes, in order; keys and values are copied in. The first error is kept: tamis_write then returns it. A
/// `keyspace` that is NULL is the default one.
///
/// Threads: one at a time.
typedef struct tamis_batch tamis_batch_t;
/// An empty batch.
TAMIS_API tamis_batch_t* tamis_batch_create(void);
/// Frees the batch.
TAMIS_API void tamis_batch_free(tamis_batch_t* batch);
/// Adds a put.
TAMIS_API void tamis_batch_put(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size,
                               const char* value, size_t value_size);
/// Adds a put of a value that expires this long after the write. TAMIS_NEVER_EXPIRES: never; 0: as tamis_batch_put.
TAMIS_API void tamis_batch_put_expiring_in(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key,
                                           size_t key_size, const char* value, size_t value_size, int64_t milliseconds);
/// Adds a put of a value that expires at this time, in milliseconds since 1970 (UTC).
TAMIS_API void tamis_batch_put_expiring_at(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key,
                                           size_t key_size, const char* value, size_t value_size, int64_t milliseconds);
/// Adds a remove.
TAMIS_API void tamis_batch_remove(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size);
/// Adds a remove of all keys from `from` to `to`, exclusive; to the last key if `to` is NULL.
TAMIS_API void tamis_batch_remove_range(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* from,
                                        size_t from_size, const char* to, size_t to_size);
/// Adds a merge operand.
TAMIS_API void tamis_batch_merge(tamis_batch_t* batch, tamis_keyspace_t* keyspace, const char* key, size_t key_size,
                                 const char* operand, size_t operand_size);
/// Appends the changes of another batch, or adopts its error.
TAMIS_API void tamis_batch_append(tamis_batch_t* batch, const tamis_batch_t* other);
/// Drops the changes and the error; keeps the memory.
TAMIS_API void tamis_batch_clear(tamis_batch_t* batch);
/// TAMIS_OK, or the first error.
TAMIS_API tamis_code_t tamis_batch_status(const tamis_batch_t* batch, char** errptr);
/// The number of changes.
TAMIS_API size_t tamis_batch_count(const tamis_batch_t* batch);
/// The size of the changes in the journal.
TAMIS_API size_t tamis_batch_byte_size(const tamis_batch_t* batch);

/// What a change does.
typedef enum tamis_change_kind {
  TAMIS_CHANGE_PUT = 0,           ///< Sets the value of the key.
  TAMIS_CHANGE_REMOVE = 1,        ///< Removes the key.
  TAMIS_CHANGE_REMOVE_RANGE = 2,  ///< Removes the keys from the key up to the value.
  TAMIS_CHANGE_MERGE = 3,         ///< Merges the value into the key.
} tamis_change_kind_t;

/// Goes through the changes of a batch, which must not change meanwhile.
typedef struct tamis_batch_cursor tamis_batch_cursor_t;
/// On the first change.
TAMIS_API tamis_batch_cursor_t* tamis_batch_cursor_create(const tamis_batch_t* batch);
/// Frees the cursor.
TAMIS_API void tamis_batch_cursor_free(tamis_batch_cursor_t* cursor);
/// Whether it is on a change; otherwise it is past the last.
TAMIS_API bool tamis_batch_cursor_valid(const tamis_batch_cursor_t* cursor);
/// Moves to the next change. Requires tamis_batch_cursor_valid, as do the following.
TAMIS_API void tamis_batch_cursor_next(tamis_batch_cursor_t* cursor);
/// What the change does.
TAMIS_API tamis_change_kind_t tamis_batch_cursor_kind(const tamis_batch_cursor_t* cursor);
/// The key it changes; for TAMIS_CHANGE_REMOVE_RANGE the first one. Points into the batch.
TAMIS_API const char* tamis_batch_cursor_key(const tamis_batch_cursor_t* cursor, size_t* size);
/// The value; for TAMIS_CHANGE_REMOVE_RANGE the end, empty if there is none. Points into the batch.
TAMIS_API const char* tamis_batch_cursor_value(const tamis_batch_cursor_t* cursor, size_t* size);
/// The number of the keyspace it changes; 0 is the default one.
TAMIS_API uint32_t tamis_batch_cursor_keyspace_id(const tamis_batch_cursor_t* cursor);
/// How long after the write the value expires; 0 if the change does not say so.
TAMIS_API int64_t tamis_batch_cursor_expires_in_ms(const tamis_batch_cursor_t* cursor);
/// When the value expires, if that was given as a time; otherwise TAMIS_NEVER_EXPIRES.
TAMIS_API int64_t tamis_batch_cursor_expires_at_ms(const tamis_batch_cursor_t* cursor);

#ifdef __cplusplus
}
#endif
