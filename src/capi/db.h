// The handles of the C API that belong to a store.
#pragma once

#include <cstdint>
#include <memory>

#include "capi/options.h"
#include "capi/status.h"
#include "tamis/c/db.h"
#include "tamis/db.h"

struct tamis_db {
  std::shared_ptr<tamis::EventListener> listener;  // Outlives the store.
  tamis::DB db;
  std::uint64_t number;  // Of this handle; another one may get its address later.
};

struct tamis_keyspace {
  tamis::Keyspace keyspace;
  std::uint64_t owner;  // The number of its store.
};

struct tamis_iterator {
  tamis::Iterator iterator;
};

struct tamis_batch {
  tamis::Batch batch;
};

namespace tamis::capi {

/// Calls `call` with the store itself, which stands for its default keyspace, or with the keyspace; returns its status.
template <typename Call>
tamis_code_t ask(tamis_t* db, tamis_keyspace_t* keyspace, char** errptr, Call call) noexcept {
  if (keyspace == nullptr) return give_status(call(db->db), errptr);
  if (keyspace->owner != db->number) {
    return give_status(Status::invalid_argument("the keyspace was not opened with this store"), errptr);
  }
  return give_status(call(keyspace->keyspace), errptr);
}

/// Calls `call` with the keyspace or, if there is none, with nothing: the functions of a batch and of a transaction
/// take it as their first parameter.
template <typename Call>
auto with(tamis_keyspace_t* keyspace, Call call) noexcept {
  return keyspace == nullptr ? call() : call(keyspace->keyspace);
}

/// An iterator, or the error that it begins with.
Status give_iterator(Iterator made, tamis_iterator_t** iterator);

}  // namespace tamis::capi
