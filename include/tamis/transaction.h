// Transactions: several reads and writes as one step.
//
//     tamis::Status s = db.transact([&](tamis::Transaction& tx) -> tamis::Status {   // Runs again on conflict.
//       auto value = tx.get("visits");
//       if (!value.ok()) return value.status();
//       return tx.put("visits", std::to_string(std::stoi(value->value_or("0")) + 1));
//     });
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/batch.h"
#include "tamis/call_options.h"
#include "tamis/caller.h"
#include "tamis/export.h"
#include "tamis/iterator.h"
#include "tamis/keyspace.h"
#include "tamis/status.h"

namespace tamis {

class TransactionState;  // src/engine.

/// What a commit checks.
enum class Isolation : std::uint8_t {
  /// Nothing the transaction has read was written since it began: keys, absent keys and scanned ranges. All committed
  /// transactions of this kind, and all writes outside of transactions, have the effect of some serial order.
  kSerializable,
  /// No key that the transaction writes was written since it began. Cheaper for transactions that read much, but two of
  /// them may each read what the other writes (write skew).
  kSnapshot,
};

/// Options of one transaction.
struct TransactionOptions {
  Isolation isolation = Isolation::kSerializable;  ///< What a commit checks.
  /// Memory for the list of what was read. Beyond it, the list gets less exact: keys between those that were read count
  /// as read, so that some commits conflict without need.
  std::uint64_t max_read_bytes = std::uint64_t{1} << 20;
  std::uint32_t max_tries = 100;  ///< For DB::transact, DB::put_if and DB::remove_if; at least 1.
  WriteOptions commit = {};       ///< For DB::transact: the options of the commit.
};

/// A state of the writes of one transaction, for Transaction::rollback_to.
struct Savepoint {
  std::uint64_t transaction = 0;  ///< The transaction; 0: none.
  std::uint64_t number = 0;       ///< Counts the savepoints of the transaction, from 1.
};

/// Reads and writes that take effect together at commit, or not at all. It reads the store as of its begin, and its own
/// writes. It takes no locks and never waits for another transaction; commit returns kConflict if another write
/// interfered (Isolation). Reads that are not followed by a write never conflict.
///
///     tamis::Transaction tx = db.begin();
///     auto value = tx.get("a");
///     …
///     tamis::Status s = tx.put("b", "1");
///     s = tx.commit();                       // kConflict: nothing was written; begin again.
///
/// A live transaction keeps old versions readable, like a Snapshot, and DB::close returns kBusy. It ends with commit,
/// rollback or its destructor, which rolls back. After that every call returns kInvalidArgument. One that was
/// default-constructed or moved from belongs to no store: every call returns kClosed.
///
/// Threads: one at a time, its iterators included. May outlive its DB, and then returns kClosed.
class TAMIS_EXPORT Transaction {
 public:
  /// Belongs to no store.
  Transaction() noexcept;
  /// For DB::begin.
  explicit Transaction(std::unique_ptr<TransactionState> state);
  /// Moves the transaction; the source then belongs to no store.
  Transaction(Transaction&&) noexcept;
  /// Like the constructor; rolls back the transaction this one was.
  Transaction& operator=(Transaction&&) noexcept;
  /// Rolls back, unless it has ended.
  ~Transaction();

  /// Returns the value of a key, or none if absent.
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key);
  /// Returns whether the key is present and copies its value to `*value`.
  [[nodiscard]] Result<bool> get(std::string_view key, std::string* value);
  /// Returns whether the key is present.
  [[nodiscard]] Result<bool> exists(std::string_view key);
  /// Returns what get would for each key.
  [[nodiscard]] std::vector<Result<std::optional<std::string>>> multi_get(std::span<const std::string_view> keys);
  /// Returns an iterator over a range of keys. It sees the writes of the transaction so far, not later ones. What it
  /// passes counts as read, gaps included; a backward step also reads the key before the one it shows. A
  /// ScanOptions::snapshot is refused. It must not be used after the transaction has ended.
  [[nodiscard]] Iterator scan(const ScanOptions& options = {}, Caller caller = Caller::here());

  /// The same for a keyspace.
  [[nodiscard]] Result<std::optional<std::string>> get(const Keyspace& keyspace, std::string_view key);
  /// The same for a keyspace.
  [[nodiscard]] Result<bool> get(const Keyspace& keyspace, std::string_view key, std::string* value);
  /// The same for a keyspace.
  [[nodiscard]] Result<bool> exists(const Keyspace& keyspace, std::string_view key);
  /// The same for a keyspace.
  [[nodiscard]] std::vector<Result<std::optional<std::string>>> multi_get(const Keyspace& keyspace,
                                                                          std::span<const std::string_view> keys);
  /// The same for a keyspace.
  [[nodiscard]] Iterator scan(const Keyspace& keyspace, const ScanOptions& options = {},
                              Caller caller = Caller::here());

  /// Sets the value of a key at commit. kInvalidArgument for a key or value that is too large; nothing changes then.
  Status put(std::string_view key, std::string_view value);
  /// Removes a key at commit.
  Status remove(std::string_view key);
  /// Removes all keys from `from` (inclusive) to `to` (exclusive) at commit, or to the last key if there is no `to`:
  /// one change, whatever it removes. It reads nothing. To other transactions it is a write of every key of the range,
  /// present or absent; with Isolation::kSnapshot, any write in the range since the begin is a conflict.
  Status remove_range(std::string_view from, std::optional<std::string_view> to);
  /// Merges an operand into the value of a key at commit, as DB::merge. It reads nothing: merges of one key by several
  /// transactions do not conflict.
  Status merge(std::string_view key, std::string_view operand);
  /// The same for a keyspace.
  Status merge(const Keyspace& keyspace, std::string_view key, std::string_view operand);
  /// The same for a keyspace.
  Status put(const Keyspace& keyspace, std::string_view key, std::string_view value);
  /// The same for a keyspace.
  Status remove(const Keyspace& keyspace, std::string_view key);
  /// The same for a keyspace.
  Status remove_range(const Keyspace& keyspace, std::string_view from, std::optional<std::string_view> to);
  /// Adds the changes of a batch.
  Status write(const Batch& batch);

  /// Marks the writes so far.
  [[nodiscard]] Result<Savepoint> savepoint();
  /// Drops the writes since the savepoint, and the savepoints after it. What was read stays read. kInvalidArgument for
  /// a savepoint that is not, or no longer, one of this transaction.
  Status rollback_to(const Savepoint& savepoint);
  /// Ends the transaction and drops its writes.
  Status rollback();
  /// Ends the transaction and writes its changes as one commit. kConflict names the first key that another write
  /// changed; then nothing was written. The same for a transaction that is older than the list of recent commits, and
  /// for one that used a keyspace that was dropped. After another error, the writes may appear when the store is opened
  /// again, as after a failed DB::write.
  Status commit(const WriteOptions& options = {});

  /// The number of writes to the store that it sees, as Snapshot::sequence; 0 if it has ended or belongs to no store.
  [[nodiscard]] std::uint64_t sequence() const;
  /// Whether it has begun and not ended.
  [[nodiscard]] bool is_active() const;

 private:
  std::unique_ptr<TransactionState> state_;
};

}  // namespace tamis
