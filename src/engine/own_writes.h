// The writes of a transaction before its commit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "entry/batch_inside.h"
#include "entry/entry.h"
#include "memtable/memtable.h"
#include "tamis/batch.h"
#include "tamis/status.h"

namespace tamis {

/// A batch, which is committed, and memtables with the same writes, which are read. A few writes are looked up in the
/// batch itself: the memtables are made for scans, for range deletes and for more writes.
///
/// Invariant: the i-th write has the sequence snapshot + i, so that its own writes are the newest run of a transaction.
///
/// Threads: one at a time. Memtables that a scan keeps may be read beside writes here.
class OwnWrites {
 public:
  /// The hasher outlives this.
  OwnWrites(Sequence snapshot, const KeyHasher& hasher) : snapshot_(snapshot), hasher_(hasher) {}

  /// Adds what `add` adds to the batch. kOutOfSpace if memory is short; then nothing was added.
  template <typename Add>
  Status write(Add add) {
    const BatchMark before = BatchInside::mark(batch_);
    try {
      add(batch_);
    } catch (const std::bad_alloc&) {
      BatchInside::truncate(batch_, before);
      return Status::out_of_space("no memory for the writes of a transaction");
    }
    return {};
  }
  [[nodiscard]] const Batch& batch() const { return batch_; }
  [[nodiscard]] bool empty() const { return batch_.empty(); }
  /// The sequence of the last write.
  [[nodiscard]] Sequence last() const { return snapshot_ + batch_.size(); }

  /// The last write to the key: a delete if it removed a range with the key. Its value is valid until the next write or
  /// rollback.
  Result<std::optional<FoundEntry>> find(KeyspaceId keyspace, std::string_view key) {
    return find(keyspace, key, last());
  }
  /// The same of the writes up to a sequence.
  Result<std::optional<FoundEntry>> find(KeyspaceId keyspace, std::string_view key, Sequence up_to);
  /// The writes to a keyspace; null if there are none.
  Result<std::shared_ptr<Memtable>> memtable(KeyspaceId keyspace);

  [[nodiscard]] BatchMark mark() const { return BatchInside::mark(batch_); }
  void truncate(const BatchMark& mark);

 private:
  /// Up to this many are compared one by one: cheaper than a memtable.
  static constexpr std::size_t kFewWrites = 8;

  Result<std::optional<FoundEntry>> find_in_memtable(KeyspaceId keyspace, std::string_view key, Sequence up_to);
  Status fill_memtables();
  Memtable& memtable_of(KeyspaceId keyspace);

  const Sequence snapshot_;
  const KeyHasher& hasher_;
  Batch batch_;
  std::map<KeyspaceId, std::shared_ptr<Memtable>> memtables_;
  BatchMark filled_;  // What the memtables have of the batch.
};

}  // namespace tamis
