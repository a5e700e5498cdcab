// The implementation of Transaction.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/own_writes.h"
#include "engine/read_set.h"
#include "engine/snapshot_state.h"
#include "engine/store.h"
#include "entry/visible.h"
#include "tamis/transaction.h"

namespace tamis {

/// A snapshot, the writes so far and what was read. Reads ask its own writes first, then the store at the snapshot.
///
/// Invariants:
///  1. While active, it is counted in the CommitWindow, since before the snapshot was taken (rule 40).
///  2. With Isolation::kSerializable, everything that a caller can have learnt about the store is in the read set.
///
/// Threads: one at a time.
class TransactionState {
 public:
  TransactionState(std::shared_ptr<Store> store, const TransactionOptions& options, Caller caller);
  ~TransactionState();
  TransactionState(const TransactionState&) = delete;
  TransactionState& operator=(const TransactionState&) = delete;

  /// kClosed without an open store, kInvalidArgument after its end.
  [[nodiscard]] Status check_active() const;
  [[nodiscard]] bool is_active() const { return is_active_; }
  [[nodiscard]] bool is_of_another_process() const { return store_->is_of_another_process(); }
  [[nodiscard]] std::uint64_t sequence() const { return snapshot_.sequence(); }
  [[nodiscard]] Store& store() { return *store_; }
  /// The keyspace of a handle, if the transaction may use it.
  Result<OpenKeyspace*> find(const Keyspace& keyspace) const;

  // The caller has checked that the transaction is active.
  Result<bool> get(OpenKeyspace& keyspace, std::string_view key, std::string* value);
  Result<bool> exists(OpenKeyspace& keyspace, std::string_view key);
  std::vector<Result<std::optional<std::string>>> multi_get(OpenKeyspace& keyspace,
                                                            std::span<const std::string_view> keys);
  Iterator scan(OpenKeyspace& keyspace, const ScanOptions& options, Caller caller);
  template <typename Add>
  Status write(Add add) {
    return own_.write(add);
  }
  Status write(const Batch& batch);

  Savepoint savepoint();
  Status rollback_to(const Savepoint& savepoint);
  void end();
  Status commit(const WriteOptions& options);

 private:
  /// The key's own write, if any. Otherwise the key counts as read.
  Result<std::optional<FoundEntry>> find_own(OpenKeyspace& keyspace, std::string_view key);

  /// What an own write is.
  Visible meaning_of(const FoundEntry& own, std::string_view& value) const;
  /// The value of a key whose last own write this is; none if it has none.
  Result<std::optional<std::string>> own_value(OpenKeyspace& keyspace, std::string_view key, const FoundEntry& own);
  Result<std::optional<std::string>> fold(OpenKeyspace& keyspace, std::string_view key, FoundEntry own);

  const std::shared_ptr<Store> store_;
  const std::uint64_t number_;  // Of all transactions of the process.
  bool is_active_ = true;
  Snapshot snapshot_;
  OwnWrites own_;
  std::shared_ptr<ReadSet> reads_;  // Null with Isolation::kSnapshot.
  std::vector<BatchMark> savepoints_;
};

}  // namespace tamis
