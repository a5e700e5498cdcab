// Options in C: of a store, of a keyspace, and of single calls. Each has defaults, and NULL stands for them.
//
//     tamis_options_t* options = tamis_options_create();
//     if (tamis_options_set(options, "memory_bytes", "1GiB", &error) != TAMIS_OK) …
#pragma once

#include "tamis/c/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_snapshot tamis_snapshot_t;  ///< See <tamis/c/db.h>.

/// The name of one option that tamis_options_set takes; NULL after the last. `index` counts from 0.
TAMIS_API const char* tamis_option_name(size_t index, size_t* size);

/// The options of a store.
///
/// Threads: one at a time while it is changed.
typedef struct tamis_options tamis_options_t;
/// The defaults.
TAMIS_API tamis_options_t* tamis_options_create(void);
/// Frees the options; stores that were opened with them do not refer to them.
TAMIS_API void tamis_options_free(tamis_options_t* options);
/// Sets an option by name, e.g. "codec_last" to "zstd"; docs/OPTIONS.md has all.
TAMIS_API tamis_code_t tamis_options_set(tamis_options_t* options, const char* name, const char* value, char** errptr);
/// The same for an option that is a number or a size in bytes.
TAMIS_API tamis_code_t tamis_options_set_number(tamis_options_t* options, const char* name, uint64_t value,
                                                char** errptr);
/// The value in the form that tamis_options_set takes, to be freed with tamis_free; NULL if there is no such option.
TAMIS_API char* tamis_options_get(const tamis_options_t* options, const char* name);
/// Whether to make a missing store; true by default.
TAMIS_API void tamis_options_set_create_if_missing(tamis_options_t* options, bool creates);
/// Whether a store must not exist yet.
TAMIS_API void tamis_options_set_error_if_exists(tamis_options_t* options, bool fails);
/// Whether to write nothing.
TAMIS_API void tamis_options_set_read_only(tamis_options_t* options, bool reads_only);
/// With read_only: read beside a process that writes; see tamis_catch_up.
TAMIS_API void tamis_options_set_follows(tamis_options_t* options, bool follows);

/// Appends to `result`, which is empty, the fold of a value or operand and the operand after it. False if it cannot.
/// Called by any thread, by several at once; must not call the store. <tamis/merge.h> says what it must satisfy.
typedef bool (*tamis_fold_t)(void* context, const char* older, size_t older_size, const char* newer, size_t newer_size,
                             tamis_bytes_t* result);
/// Registers a merge operator of the program; the option merge_operator selects it. `free_context`, if it is not NULL,
/// is called with `context` when neither the options nor a store opened with them need it any more.
TAMIS_API void tamis_options_add_merge_operator(tamis_options_t* options, const char* name, tamis_fold_t fold,
                                                void* context, void (*free_context)(void* context));

/// A background event of a store, valid during the call.
typedef struct tamis_event tamis_event_t;
/// What happened.
typedef enum tamis_event_kind {
  TAMIS_EVENT_FLUSHED = 0,           ///< A memtable was written to a table.
  TAMIS_EVENT_COMPACTED = 1,         ///< A compaction merged tables.
  TAMIS_EVENT_MOVED = 2,             ///< Tables moved down a level without a rewrite.
  TAMIS_EVENT_STALL_BEGAN = 3,       ///< Writes are being slowed.
  TAMIS_EVENT_STALL_ENDED = 4,       ///< Writes run at full speed again.
  TAMIS_EVENT_BACKGROUND_ERROR = 5,  ///< Writes have stopped.
  TAMIS_EVENT_RESUMED = 6,           ///< Writes continue after a background error.
  TAMIS_EVENT_RECOVERED = 7,         ///< The store was opened after a crash.
} tamis_event_kind_t;
/// What happened.
TAMIS_API tamis_event_kind_t tamis_event_kind(const tamis_event_t* event);
/// Tables written or moved.
TAMIS_API uint64_t tamis_event_tables(const tamis_event_t* event);
/// Entries in those tables.
TAMIS_API uint64_t tamis_event_entries(const tamis_event_t* event);
/// Bytes of those tables.
TAMIS_API uint64_t tamis_event_bytes(const tamis_event_t* event);
/// A description; it has no zero byte at its end.
TAMIS_API const char* tamis_event_what(const tamis_event_t* event, size_t* size);
/// Receives events from any thread, one at a time. Must not call the store.
typedef void (*tamis_listener_t)(void* context, const tamis_event_t* event);
/// Sets the function that receives the events of stores opened with these options; `free_context` as above.
TAMIS_API void tamis_options_set_listener(tamis_options_t* options, tamis_listener_t listener, void* context,
                                          void (*free_context)(void* context));

/// What a keyspace sets for itself; stored with it.
typedef struct tamis_keyspace_options tamis_keyspace_options_t;
/// Sets nothing.
TAMIS_API tamis_keyspace_options_t* tamis_keyspace_options_create(void);
/// Frees the options; nothing refers to them.
TAMIS_API void tamis_keyspace_options_free(tamis_keyspace_options_t* options);
/// Sets an option by name, as tamis_options_set.
TAMIS_API tamis_code_t tamis_keyspace_options_set(tamis_keyspace_options_t* options, const char* name,
                                                  const char* value, char** errptr);

/// A value never expires, whatever the default of its keyspace is.
#define TAMIS_NEVER_EXPIRES INT64_MAX

/// Options of one write.
typedef struct tamis_write_options tamis_write_options_t;
/// The defaults: no sync, the expiry of the keyspace.
TAMIS_API tamis_write_options_t* tamis_write_options_create(void);
/// Frees the options; nothing refers to them.
TAMIS_API void tamis_write_options_free(tamis_write_options_t* options);
/// Whether to return only once the write would survive a machine crash.
TAMIS_API void tamis_write_options_set_sync(tamis_write_options_t* options, bool sync);
/// How long after the write its values expire; 0: the default of the keyspace. TAMIS_NEVER_EXPIRES is allowed.
TAMIS_API void tamis_write_options_set_expires_in_ms(tamis_write_options_t* options, int64_t milliseconds);

/// Options of one read.
typedef struct tamis_read_options tamis_read_options_t;
/// The defaults: read as of now, cache what is read.
TAMIS_API tamis_read_options_t* tamis_read_options_create(void);
/// Frees the options; nothing refers to them.
TAMIS_API void tamis_read_options_free(tamis_read_options_t* options);
/// Reads as of this snapshot, which must live as long as the options are used; NULL: as of now.
TAMIS_API void tamis_read_options_set_snapshot(tamis_read_options_t* options, const tamis_snapshot_t* snapshot);
/// Whether to cache blocks read from disk.
TAMIS_API void tamis_read_options_set_fills_cache(tamis_read_options_t* options, bool fills_cache);

/// The keys that a scan visits, and their order. A key must satisfy all bounds given.
typedef struct tamis_scan_options tamis_scan_options_t;
/// The defaults: all keys, from the smallest, as of now.
TAMIS_API tamis_scan_options_t* tamis_scan_options_create(void);
/// Frees the options; iterators do not refer to them.
TAMIS_API void tamis_scan_options_free(tamis_scan_options_t* options);
/// Only keys that begin with this; copies it.
TAMIS_API void tamis_scan_options_set_prefix(tamis_scan_options_t* options, const char* prefix, size_t prefix_size);
/// The lower bound, inclusive; copies it.
TAMIS_API void tamis_scan_options_set_from(tamis_scan_options_t* options, const char* from, size_t from_size);
/// The upper bound, exclusive; copies it.
TAMIS_API void tamis_scan_options_set_to(tamis_scan_options_t* options, const char* to, size_t to_size);
/// Whether to start at the last key and advance to smaller ones.
TAMIS_API void tamis_scan_options_set_reverse(tamis_scan_options_t* options, bool reverse);
/// As tamis_read_options_set_snapshot; the iterator does not need the snapshot once it is made.
TAMIS_API void tamis_scan_options_set_snapshot(tamis_scan_options_t* options, const tamis_snapshot_t* snapshot);
/// As tamis_read_options_set_fills_cache.
TAMIS_API void tamis_scan_options_set_fills_cache(tamis_scan_options_t* options, bool fills_cache);

#ifdef __cplusplus
}
#endif
