// Transactions in C: several reads and writes as one step.
//
//     tamis_transaction_t* tx = tamis_begin(db, NULL);
//     tamis_transaction_get(tx, NULL, "visits", 6, &value, &size, &error);
//     tamis_transaction_put(tx, NULL, "visits", 6, "1", 1, &error);
//     if (tamis_transaction_commit(tx, NULL, &error) == TAMIS_CONFLICT) …   // Nothing was written: begin again.
//     tamis_transaction_free(tx);
#pragma once

#include "tamis/c/db.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Options of one transaction.
typedef struct tamis_transaction_options tamis_transaction_options_t;
/// What a commit checks.
typedef enum tamis_isolation {
  TAMIS_SERIALIZABLE = 0,  ///< Nothing the transaction has read was written since it began.
  TAMIS_SNAPSHOT = 1,      ///< No key that the transaction writes was written since it began.
} tamis_isolation_t;
/// The defaults: serializable.
TAMIS_API tamis_transaction_options_t* tamis_transaction_options_create(void);
/// Frees the options; nothing refers to them.
TAMIS_API void tamis_transaction_options_free(tamis_transaction_options_t* options);
/// What the commit checks.
TAMIS_API void tamis_transaction_options_set_isolation(tamis_transaction_options_t* options,
                                                       tamis_isolation_t isolation);
/// Memory for the list of what was read; beyond it, some commits conflict without need.
TAMIS_API void tamis_transaction_options_set_max_read_bytes(tamis_transaction_options_t* options, uint64_t bytes);
/// For tamis_transact: how often the work may run; at least 1.
TAMIS_API void tamis_transaction_options_set_max_tries(tamis_transaction_options_t* options, uint32_t tries);
/// For tamis_transact: the options of the commit, which are copied.
TAMIS_API void tamis_transaction_options_set_commit(tamis_transaction_options_t* options,
                                                    const tamis_write_options_t* commit);

/// Reads and writes that take effect together at commit, or not at all. Ended, every call but tamis_transaction_free
/// returns TAMIS_INVALID_ARGUMENT. A `keyspace` that is NULL is the default one.
///
/// Threads: one at a time, its iterators included. May outlive its store, and then returns TAMIS_CLOSED.
typedef struct tamis_transaction tamis_transaction_t;
/// Begins a transaction as of now; never NULL. Of a closed store, every call of it returns TAMIS_CLOSED.
TAMIS_API tamis_transaction_t* tamis_begin(tamis_t* db, const tamis_transaction_options_t* options);
/// Rolls back, unless it has ended, and frees the handle.
TAMIS_API void tamis_transaction_free(tamis_transaction_t* transaction);
/// Writes all changes as one commit and ends the transaction. TAMIS_CONFLICT: nothing was written.
TAMIS_API tamis_code_t tamis_transaction_commit(tamis_transaction_t* transaction, const tamis_write_options_t* options,
                                                char** errptr);
/// Ends the transaction and drops its writes.
TAMIS_API tamis_code_t tamis_transaction_rollback(tamis_transaction_t* transaction, char** errptr);
/// Whether it has begun and not ended.
TAMIS_API bool tamis_transaction_is_active(const tamis_transaction_t* transaction);
/// The number of writes to the store that it sees; 0 if it has ended.
TAMIS_API uint64_t tamis_transaction_sequence(const tamis_transaction_t* transaction);

/// One step of tamis_transact: returns what its calls returned. It must not free the transaction.
typedef tamis_code_t (*tamis_work_t)(void* context, tamis_transaction_t* transaction, char** errptr);
/// Runs `work` in a transaction and commits it; again on TAMIS_CONFLICT, in a new transaction.
TAMIS_API tamis_code_t tamis_transact(tamis_t* db, const tamis_transaction_options_t* options, tamis_work_t work,
                                      void* context, char** errptr);

/// As tamis_get.
TAMIS_API tamis_code_t tamis_transaction_get(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                             const char* key, size_t key_size, char** value, size_t* value_size,
                                             char** errptr);
/// As tamis_get_into.
TAMIS_API tamis_code_t tamis_transaction_get_into(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                                  const char* key, size_t key_size, char* buffer, size_t capacity,
                                                  size_t* value_size, bool* found, char** errptr);
/// As tamis_exists.
TAMIS_API tamis_code_t tamis_transaction_exists(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                                const char* key, size_t key_size, bool* found, char** errptr);
/// As tamis_multi_get.
TAMIS_API tamis_code_t tamis_transaction_multi_get(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                                   size_t count, const char* const* keys, const size_t* key_sizes,
                                                   tamis_values_t* values, char** errptr);
/// As tamis_scan; it sees the writes of the transaction so far. Options must not have a snapshot. The iterator must not
/// be used after the transaction has ended.
TAMIS_API tamis_code_t tamis_transaction_scan(tamis_transaction_t* transaction, const tamis_scan_options_t* options,
                                              tamis_keyspace_t* keyspace, tamis_iterator_t** iterator, char** errptr);

/// Sets the value of a key at commit.
TAMIS_API tamis_code_t tamis_transaction_put(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                             const char* key, size_t key_size, const char* value, size_t value_size,
                                             char** errptr);
/// Removes a key at commit.
TAMIS_API tamis_code_t tamis_transaction_remove(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                                const char* key, size_t key_size, char** errptr);
/// Removes a range of keys at commit; to the last key if `to` is NULL.
TAMIS_API tamis_code_t tamis_transaction_remove_range(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                                      const char* from, size_t from_size, const char* to,
                                                      size_t to_size, char** errptr);
/// Merges an operand into the value of a key at commit.
TAMIS_API tamis_code_t tamis_transaction_merge(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                               const char* key, size_t key_size, const char* operand,
                                               size_t operand_size, char** errptr);
/// Adds the changes of a batch.
TAMIS_API tamis_code_t tamis_transaction_write(tamis_transaction_t* transaction, const tamis_batch_t* batch,
                                               char** errptr);

/// Marks the writes so far with a number.
TAMIS_API tamis_code_t tamis_transaction_savepoint(tamis_transaction_t* transaction, uint64_t* savepoint,
                                                   char** errptr);
/// Drops the writes since the savepoint, and the savepoints after it.
TAMIS_API tamis_code_t tamis_transaction_rollback_to(tamis_transaction_t* transaction, uint64_t savepoint,
                                                     char** errptr);

#ifdef __cplusplus
}
#endif
