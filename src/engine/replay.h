// Puts the entries of a journal's record into memtables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/hash.h"
#include "entry/batch_format.h"
#include "entry/keyspace_id.h"
#include "memtable/memtable.h"
#include "tamis/status.h"

namespace tamis {

/// Where the entries of one keyspace go.
struct ReplayTarget {
  Memtable* memtable = nullptr;        ///< Null: the keyspace was dropped, and they go nowhere (rule 35).
  std::uint64_t flushed_sequence = 0;  ///< Entries up to here are in tables already (rule 34).
};

/// `bytes` is the size of the record. Stops at the first error; then some of the entries are in their memtables.
Status replay_batch(const BatchView& batch, std::size_t bytes, const KeyHasher& hasher,
                    const std::function<Result<ReplayTarget>(KeyspaceId)>& target_of);

}  // namespace tamis
