// Transactions in C.
#include "tamis/c/transaction.h"

#include <utility>

#include "capi/db.h"
#include "capi/values.h"

using namespace tamis;
using namespace tamis::capi;

static_assert(TAMIS_SERIALIZABLE == static_cast<int>(Isolation::kSerializable));
static_assert(TAMIS_SNAPSHOT == static_cast<int>(Isolation::kSnapshot));

struct tamis_transaction_options {
  TransactionOptions options;
};

struct tamis_transaction {
  Transaction transaction;
  std::uint64_t number = 0;  // As its savepoints name it; 0 before the first.
};

namespace {

TransactionOptions given(const tamis_transaction_options_t* options) {
  return options != nullptr ? options->options : TransactionOptions();
}

/// The values that could be read, and the first error.
Status give_values(std::vector<Result<std::optional<std::string>>> results, tamis_values_t* values) {
  values->values.clear();
  Status first;
  for (Result<std::optional<std::string>>& result : results) {
    if (!result.ok() && first.ok()) first = result.status();
    values->values.push_back(result.ok() ? *std::move(result) : std::nullopt);
  }
  return first;
}

/// Calls the work of a program. Its text is the message of the status.
Status run_work(tamis_work_t work, void* context, Transaction& transaction) {
  tamis_transaction handle{std::move(transaction)};
  char* error = nullptr;
  const tamis_code_t code = work(context, &handle, &error);
  transaction = std::move(handle.transaction);
  const std::string text = error != nullptr ? error : "the work of the transaction failed";
  tamis_free(error);
  // The text of a call begins with the name of its code, which the status adds again.
  const std::string name = std::string(tamis_code_name(code)) + ": ";
  return {static_cast<StatusCode>(code), text.starts_with(name) ? text.substr(name.size()) : text};
}

}  // namespace

tamis_transaction_options_t* tamis_transaction_options_create() { return make<tamis_transaction_options>(); }
void tamis_transaction_options_free(tamis_transaction_options_t* options) { delete options; }
void tamis_transaction_options_set_isolation(tamis_transaction_options_t* options, tamis_isolation_t isolation) {
  options->options.isolation = static_cast<Isolation>(isolation);
}
void tamis_transaction_options_set_max_read_bytes(tamis_transaction_options_t* options, uint64_t bytes) {
  options->options.max_read_bytes = bytes;
}
void tamis_transaction_options_set_max_tries(tamis_transaction_options_t* options, uint32_t tries) {
  options->options.max_tries = tries;
}
void tamis_transaction_options_set_commit(tamis_transaction_options_t* options, const tamis_write_options_t* commit) {
  options->options.commit = given(commit);
}

tamis_transaction_t* tamis_begin(tamis_t* db, const tamis_transaction_options_t* options) {
  return never_throws([&] { return new tamis_transaction{db->db.begin(given(options), {.file = "tamis_begin"})}; });
}
void tamis_transaction_free(tamis_transaction_t* transaction) { delete transaction; }
tamis_code_t tamis_transaction_commit(tamis_transaction_t* transaction, const tamis_write_options_t* options,
                                      char** errptr) {
  return answer(errptr, [&] { return transaction->transaction.commit(given(options)); });
}
tamis_code_t tamis_transaction_rollback(tamis_transaction_t* transaction, char** errptr) {
  return answer(errptr, [&] { return transaction->transaction.rollback(); });
}
bool tamis_transaction_is_active(const tamis_transaction_t* transaction) {
  return transaction->transaction.is_active();
}
uint64_t tamis_transaction_sequence(const tamis_transaction_t* transaction) {
  return transaction->transaction.sequence();
}
tamis_code_t tamis_transact(tamis_t* db, const tamis_transaction_options_t* options, tamis_work_t work, void* context,
                            char** errptr) {
  return answer(errptr, [&] {
    const auto call = [&](Transaction& transaction) { return run_work(work, context, transaction); };
    return db->db.transact(call, given(options), {.file = "tamis_transact"});
  });
}

tamis_code_t tamis_transaction_get(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace, const char* key,
                                   size_t key_size, char** value, size_t* value_size, char** errptr) {
  *value = nullptr;
  *value_size = 0;
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      const auto get = [&](std::string* to) {
        return transaction->transaction.get(in..., bytes_of(key, key_size), to);
      };
      return give_value(get, value, value_size);
    });
  });
}
tamis_code_t tamis_transaction_get_into(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace, const char* key,
                                        size_t key_size, char* buffer, size_t capacity, size_t* value_size, bool* found,
                                        char** errptr) {
  *found = false;
  *value_size = 0;
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      const auto get = [&](std::string* to) {
        return transaction->transaction.get(in..., bytes_of(key, key_size), to);
      };
      return give_value_into(get, buffer, capacity, value_size, found);
    });
  });
}
tamis_code_t tamis_transaction_exists(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace, const char* key,
                                      size_t key_size, bool* found, char** errptr) {
  *found = false;
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      return take(transaction->transaction.exists(in..., bytes_of(key, key_size)), found);
    });
  });
}
tamis_code_t tamis_transaction_multi_get(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace, size_t count,
                                         const char* const* keys, const size_t* key_sizes, tamis_values_t* values,
                                         char** errptr) {
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      return give_values(transaction->transaction.multi_get(in..., views_of(count, keys, key_sizes)), values);
    });
  });
}
tamis_code_t tamis_transaction_scan(tamis_transaction_t* transaction, const tamis_scan_options_t* options,
                                    tamis_keyspace_t* keyspace, tamis_iterator_t** iterator, char** errptr) {
  *iterator = nullptr;
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      const Caller caller = {.file = "tamis_transaction_scan"};
      return give_iterator(transaction->transaction.scan(in..., given(options), caller), iterator);
    });
  });
}

tamis_code_t tamis_transaction_put(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace, const char* key,
                                   size_t key_size, const char* value, size_t value_size, char** errptr) {
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      return transaction->transaction.put(in..., bytes_of(key, key_size), bytes_of(value, value_size));
    });
  });
}
tamis_code_t tamis_transaction_remove(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace, const char* key,
                                      size_t key_size, char** errptr) {
  return answer(errptr, [&] {
    return with(keyspace,
                [&](const auto&... in) { return transaction->transaction.remove(in..., bytes_of(key, key_size)); });
  });
}
tamis_code_t tamis_transaction_remove_range(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace,
                                            const char* from, size_t from_size, const char* to, size_t to_size,
                                            char** errptr) {
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      return transaction->transaction.remove_range(in..., bytes_of(from, from_size), bytes_or_none(to, to_size));
    });
  });
}
tamis_code_t tamis_transaction_merge(tamis_transaction_t* transaction, tamis_keyspace_t* keyspace, const char* key,
                                     size_t key_size, const char* operand, size_t operand_size, char** errptr) {
  return answer(errptr, [&] {
    return with(keyspace, [&](const auto&... in) {
      return transaction->transaction.merge(in..., bytes_of(key, key_size), bytes_of(operand, operand_size));
    });
  });
}
tamis_code_t tamis_transaction_write(tamis_transaction_t* transaction, const tamis_batch_t* batch, char** errptr) {
  return answer(errptr, [&] { return transaction->transaction.write(batch->batch); });
}

tamis_code_t tamis_transaction_savepoint(tamis_transaction_t* transaction, uint64_t* savepoint, char** errptr) {
  *savepoint = 0;
  return answer(errptr, [&] {
    const Result<Savepoint> made = transaction->transaction.savepoint();
    if (made.ok()) {
      transaction->number = made->transaction;
      *savepoint = made->number;
    }
    return made.status();
  });
}
tamis_code_t tamis_transaction_rollback_to(tamis_transaction_t* transaction, uint64_t savepoint, char** errptr) {
  return answer(errptr, [&] {
    return transaction->transaction.rollback_to({.transaction = transaction->number, .number = savepoint});
  });
}
