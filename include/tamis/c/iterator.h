// Iterators in C.
//
//     for (; tamis_iterator_valid(it); tamis_iterator_advance(it)) {
//       const char* key = tamis_iterator_key(it, &key_size);
//       …
//     }
//     if (tamis_iterator_status(it, &error) != TAMIS_OK) …   // An error ended the loop.
#pragma once

#include "tamis/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A position in a range of keys, made by tamis_scan. It sees the store as of its creation.
///
/// Threads: one at a time. May outlive its store; moving it then ends the scan with TAMIS_CLOSED.
typedef struct tamis_iterator tamis_iterator_t;
/// Frees the iterator.
TAMIS_API void tamis_iterator_free(tamis_iterator_t* iterator);
/// Whether it is on a key.
TAMIS_API bool tamis_iterator_valid(const tamis_iterator_t* iterator);
/// The current key, valid until the iterator moves; size 0 if it is on none.
TAMIS_API const char* tamis_iterator_key(const tamis_iterator_t* iterator, size_t* size);
/// The current value, valid until the iterator moves; size 0 if it is on none.
TAMIS_API const char* tamis_iterator_value(const tamis_iterator_t* iterator, size_t* size);
/// When the current value expires, in milliseconds since 1970 (UTC); TAMIS_NEVER_EXPIRES if it does not.
TAMIS_API int64_t tamis_iterator_expires_at_ms(const tamis_iterator_t* iterator);
/// Why it is on no key: TAMIS_OK past either end of the range, otherwise the error that ended the scan.
TAMIS_API tamis_code_t tamis_iterator_status(const tamis_iterator_t* iterator, char** errptr);
/// Moves one key in the direction of the scan.
TAMIS_API void tamis_iterator_advance(tamis_iterator_t* iterator);
/// Moves to the next larger key, in every scan.
TAMIS_API void tamis_iterator_next(tamis_iterator_t* iterator);
/// Moves to the next smaller key, in every scan.
TAMIS_API void tamis_iterator_previous(tamis_iterator_t* iterator);
/// Moves to the first key at or after `key` in the direction of the scan, inside the range.
TAMIS_API void tamis_iterator_seek(tamis_iterator_t* iterator, const char* key, size_t key_size);
/// Moves to the largest key smaller than `key`, in every scan.
TAMIS_API void tamis_iterator_seek_before(tamis_iterator_t* iterator, const char* key, size_t key_size);
/// Moves to the smallest key of the range.
TAMIS_API void tamis_iterator_seek_to_first(tamis_iterator_t* iterator);
/// Moves to the largest key of the range.
TAMIS_API void tamis_iterator_seek_to_last(tamis_iterator_t* iterator);

#ifdef __cplusplus
}
#endif
