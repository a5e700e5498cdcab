// The store in C. <tamis/db.h> says more about what each call promises; a parameter that C adds is described here.
//
//     tamis_t* db = NULL;
//     if (tamis_open("cities", NULL, &db, &error) != TAMIS_OK) …
//     tamis_put(db, NULL, NULL, "paris", 5, "2102650", 7, &error);
//     tamis_get(db, NULL, NULL, "paris", 5, &value, &size, &error);   // NULL if absent; tamis_free(value).
//
// A `keyspace` that is NULL is the default one, `options` that are NULL are the defaults.
#pragma once

#include "tamis/c/batch.h"
#include "tamis/c/iterator.h"
#include "tamis/c/keyspace.h"
#include "tamis/c/options.h"
#include "tamis/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A store in a folder. One process at a time may write it.
///
/// Threads: any number, except for tamis_close and tamis_db_free.
typedef struct tamis_db tamis_t;
/// Opens or makes the store in the folder `path`.
TAMIS_API tamis_code_t tamis_open(const char* path, const tamis_options_t* options, tamis_t** db, char** errptr);
/// Closes the store: all calls then return TAMIS_CLOSED. TAMIS_BUSY while iterators, snapshots or transactions are
/// alive; the text names them, and the store stays open. The handle stays until tamis_db_free in any case.
TAMIS_API tamis_code_t tamis_close(tamis_t* db, char** errptr);
/// Closes the store if it is open, and frees the handle. Iterators, snapshots, transactions and keyspaces that are left
/// then return TAMIS_CLOSED; they are still to be freed.
TAMIS_API void tamis_db_free(tamis_t* db);

/// Reports the progress of a long task; `total` may grow. Return false to stop it.
typedef bool (*tamis_progress_t)(void* context, uint64_t done, uint64_t total);
/// Makes a damaged store usable and reports what was lost; with `dry_run`, it only reports. `progress` and `report` may
/// be NULL.
TAMIS_API tamis_code_t tamis_repair_store(const char* path, bool dry_run, tamis_progress_t progress, void* context,
                                          tamis_report_t** report, char** errptr);
/// Removes the files of a store that nobody has open.
TAMIS_API tamis_code_t tamis_destroy_store(const char* path, char** errptr);

/// Sets the value of a key.
TAMIS_API tamis_code_t tamis_put(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                                 const char* key, size_t key_size, const char* value, size_t value_size, char** errptr);
/// Removes a key; an absent one is not an error.
TAMIS_API tamis_code_t tamis_remove(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                                    const char* key, size_t key_size, char** errptr);
/// Removes all keys from `from` (inclusive) to `to` (exclusive); to the last key if `to` is NULL.
TAMIS_API tamis_code_t tamis_remove_range(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                                          const char* from, size_t from_size, const char* to, size_t to_size,
                                          char** errptr);
/// Merges an operand into the value of a key by the merge operator of the keyspace, without reading it.
TAMIS_API tamis_code_t tamis_merge(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                                   const char* key, size_t key_size, const char* operand, size_t operand_size,
                                   char** errptr);
/// Sets the value of a key if it has the value `expected` or, if that is NULL, if the key is absent. `done`, which may
/// be NULL, says whether it did.
TAMIS_API tamis_code_t tamis_put_if(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                                    const char* key, size_t key_size, const char* expected, size_t expected_size,
                                    const char* value, size_t value_size, bool* done, char** errptr);
/// Removes a key if it has the value `expected`.
TAMIS_API tamis_code_t tamis_remove_if(tamis_t* db, const tamis_write_options_t* options, tamis_keyspace_t* keyspace,
                                       const char* key, size_t key_size, const char* expected, size_t expected_size,
                                       bool* done, char** errptr);
/// Applies a batch atomically; the batch stays as it is.
TAMIS_API tamis_code_t tamis_write(tamis_t* db, const tamis_write_options_t* options, const tamis_batch_t* batch,
                                   char** errptr);
/// The same, but TAMIS_BUSY instead of waiting while compaction is behind.
TAMIS_API tamis_code_t tamis_try_write(tamis_t* db, const tamis_write_options_t* options, const tamis_batch_t* batch,
                                       char** errptr);
/// Makes all earlier writes durable.
TAMIS_API tamis_code_t tamis_sync(tamis_t* db, char** errptr);

/// Returns a copy of the value, to be freed with tamis_free; NULL if the key is absent. An empty value is not NULL.
TAMIS_API tamis_code_t tamis_get(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                                 const char* key, size_t key_size, char** value, size_t* value_size, char** errptr);
/// Copies the value to a buffer: the first `capacity` bytes of it. `value_size` gets its whole size, `found` whether
/// the key is present. Values of up to 64 KiB cost no allocation.
TAMIS_API tamis_code_t tamis_get_into(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                                      const char* key, size_t key_size, char* buffer, size_t capacity,
                                      size_t* value_size, bool* found, char** errptr);
/// Whether the key is present.
TAMIS_API tamis_code_t tamis_exists(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                                    const char* key, size_t key_size, bool* found, char** errptr);
/// A value that is read in place.
///
/// Threads: one at a time. May outlive its store.
typedef struct tamis_pinned tamis_pinned_t;
/// Returns a handle of the value, to be freed with tamis_pinned_free; NULL if the key is absent. A large value that is
/// in memory is not copied.
TAMIS_API tamis_code_t tamis_get_pinned(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                                        const char* key, size_t key_size, tamis_pinned_t** value, char** errptr);
/// The value, valid as long as the handle.
TAMIS_API const char* tamis_pinned_value(const tamis_pinned_t* value, size_t* size);
/// Releases the value.
TAMIS_API void tamis_pinned_free(tamis_pinned_t* value);
/// Looks up many keys as of one moment; faster than one by one. `values` gets a value for each, absent or not. After an
/// error of any key, those that could not be read are absent in the list.
TAMIS_API tamis_code_t tamis_multi_get(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                                       size_t count, const char* const* keys, const size_t* key_sizes,
                                       tamis_values_t* values, char** errptr);

/// Returns an iterator over a range of keys, on the first of them or, with reverse, on the last.
TAMIS_API tamis_code_t tamis_scan(tamis_t* db, const tamis_scan_options_t* options, tamis_keyspace_t* keyspace,
                                  tamis_iterator_t** iterator, char** errptr);

/// A snapshot of the store as of now; never NULL. Of a closed store, reads with it fail.
TAMIS_API tamis_snapshot_t* tamis_snapshot_create(tamis_t* db);
/// The number of writes that it sees.
TAMIS_API uint64_t tamis_snapshot_sequence(const tamis_snapshot_t* snapshot);
/// Releases the snapshot.
TAMIS_API void tamis_snapshot_free(tamis_snapshot_t* snapshot);

/// Writes the memtables to tables, which are durable on return.
TAMIS_API tamis_code_t tamis_flush(tamis_t* db, char** errptr);
/// Rewrites a range of a keyspace into the last level. `from` NULL: from the first key, `to` NULL: to the last.
TAMIS_API tamis_code_t tamis_compact(tamis_t* db, tamis_keyspace_t* keyspace, const char* from, size_t from_size,
                                     const char* to, size_t to_size, tamis_progress_t progress, void* context,
                                     char** errptr);
/// Waits until no flush or compaction is due or running.
TAMIS_API tamis_code_t tamis_wait_idle(tamis_t* db, char** errptr);
/// Changes memory_bytes or filter_memory of the open store, until it is closed; `value` as for tamis_options_set.
TAMIS_API tamis_code_t tamis_set_option(tamis_t* db, const char* name, const char* value, char** errptr);
/// Resumes writes once the cause of a background error is gone.
TAMIS_API tamis_code_t tamis_resume(tamis_t* db, char** errptr);
/// Of a follower: shows what the writer has committed since. `sequence`, which may be NULL, gets the number of writes.
TAMIS_API tamis_code_t tamis_catch_up(tamis_t* db, uint64_t* sequence, char** errptr);
/// Copies the store as of now into a folder that must not exist.
TAMIS_API tamis_code_t tamis_checkpoint(tamis_t* db, const char* path, char** errptr);
/// Reads every byte. `is_sound` gets whether no damage was found; `progress`, `is_sound` and `report` may be NULL.
TAMIS_API tamis_code_t tamis_verify(tamis_t* db, tamis_progress_t progress, void* context, bool* is_sound,
                                    tamis_report_t** report, char** errptr);

/// The size in tables of a range of a keyspace; bounds as of tamis_compact.
TAMIS_API tamis_code_t tamis_approximate_size(tamis_t* db, tamis_keyspace_t* keyspace, const char* from,
                                              size_t from_size, const char* to, size_t to_size, uint64_t* bytes,
                                              char** errptr);
/// Counters and current state.
TAMIS_API tamis_report_t* tamis_stats(tamis_t* db);
/// What the writer of a followed store has counted; NULL if nothing is published.
TAMIS_API tamis_report_t* tamis_writer_stats(tamis_t* db);
/// Every step of looking up a key, and its cost.
TAMIS_API tamis_code_t tamis_explain(tamis_t* db, const tamis_read_options_t* options, tamis_keyspace_t* keyspace,
                                     const char* key, size_t key_size, tamis_report_t** report, char** errptr);
/// The filter plan of the default keyspace with this filter memory; NULL: with the configured one.
TAMIS_API tamis_report_t* tamis_plan(tamis_t* db, const uint64_t* filter_memory);

#ifdef __cplusplus
}
#endif
