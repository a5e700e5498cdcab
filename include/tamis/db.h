// An embedded, durable, ordered key-value store.
//
//     auto opened = tamis::DB::open("cities");
//     if (!opened.ok()) return fail(opened.status());
//     tamis::DB& db = *opened;
//     tamis::Status s = db.put("paris", "2102650");
//     tamis::Result<std::optional<std::string>> v = db.get("paris");
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tamis/batch.h"
#include "tamis/call_options.h"
#include "tamis/caller.h"
#include "tamis/environment.h"
#include "tamis/export.h"
#include "tamis/iterator.h"
#include "tamis/keyspace.h"
#include "tamis/options.h"
#include "tamis/pinned_value.h"
#include "tamis/snapshot.h"
#include "tamis/stats.h"
#include "tamis/status.h"
#include "tamis/transaction.h"

namespace tamis {

class Store;  // src/engine/store.h.

/// A store in a folder. One process at a time may write it. Others may read it while none does, or beside the writer
/// with Options::follows.
///
/// Guarantees: a write that returned ok survives a crash of the process; a synced write also survives a crash of the
/// machine. After any crash the store holds a prefix of its writes and no partial batch. No answer comes from bytes
/// whose checksum was not verified.
///
/// Nothing here throws. If memory for a value, a memtable or a filter cannot be allocated, the call returns
/// kOutOfSpace. If one of the many small allocations fails, the process aborts; the guarantees above still hold.
///
/// A DB that was default-constructed or moved from belongs to no store. Every call returns kClosed, scans and snapshots
/// belong to no store, and stats and plan are empty.
///
/// Threads: any number, except for close, assignment and the destructor.
class TAMIS_EXPORT DB {
 public:
  /// Opens or creates the store in the folder `path`. Returns kBusy while another process holds it, kInvalidArgument
  /// for options out of range or a store that must not exist yet, kIoError if a store that must exist is missing.
  static Result<DB> open(const std::string& path, const Options& options = {}, const Environment& environment = {});
  /// Makes a damaged store usable: writes a new manifest and keeps everything that is readable. The report lists what
  /// was lost and where deleted keys may reappear. With `dry_run`, it only reports. `progress` counts the bytes of
  /// tables scanned; stopping there changes nothing. A folder without a file provably written by tamis, such as a
  /// LevelDB store, is left unchanged: kInvalidArgument.
  static Result<RepairReport> repair(const std::string& path, bool dry_run = false, const Environment& environment = {},
                                     const Progress& progress = {});
  /// Removes the files of a store that nobody has open. The folder, LOCK, lost/ and foreign files stay. CURRENT and
  /// manifests are removed only if their first bytes are ours; kNotSupported names any that stayed. A folder without a
  /// file provably written by tamis, such as a LevelDB store, is left unchanged: kInvalidArgument.
  static Status destroy(const std::string& path, const Environment& environment = {});

  /// Belongs to no store.
  DB() noexcept = default;
  /// Moves the store; the source then belongs to no store.
  DB(DB&&) noexcept;
  /// Like the constructor; closes the store this DB had.
  DB& operator=(DB&&) noexcept;
  /// Closes the store. Live handles then return kClosed.
  ~DB();

  /// Sets the value of a key. A key may have up to 16 MiB, a value up to 1 GiB; otherwise returns kInvalidArgument.
  /// Keys over 65,535 bytes work, but slowly.
  Status put(std::string_view key, std::string_view value, const WriteOptions& options = {});
  /// Removes a key. Removing an absent key is not an error.
  Status remove(std::string_view key, const WriteOptions& options = {});
  /// Removes all keys from `from` (inclusive) to `to` (exclusive), or to the last key if there is no `to`. One record
  /// of the journal, whatever it removes; snapshots see what they saw. An empty range is not an error.
  Status remove_range(std::string_view from, std::optional<std::string_view> to, const WriteOptions& options = {});
  /// Merges an operand into the value of a key, without reading it: get then returns the fold of the value and the
  /// operand by the keyspace's merge operator (Options::merge_operator). An absent key gets the operand as its value. A
  /// fold with a value that expires does not expire itself: when the value is due, the operands are left.
  /// kInvalidArgument without an operator, kNotSupported if it is not registered.
  Status merge(std::string_view key, std::string_view operand, const WriteOptions& options = {});
  /// Applies the batch atomically. It may have any size. One of more than a quarter of Options::memory_bytes is written
  /// to tables at once, and is durable on return.
  Status write(const Batch& batch, const WriteOptions& options = {});
  /// Like write, but returns kBusy instead of waiting while compaction is behind.
  Status try_write(const Batch& batch, const WriteOptions& options = {});
  /// Makes all earlier writes durable.
  Status sync();

  /// Begins a transaction as of now.
  [[nodiscard]] Transaction begin(const TransactionOptions& options = {}, Caller caller = Caller::here());
  /// Runs `work` in a transaction and commits it. On kConflict, from the commit or from `work`, it runs `work` again in
  /// a new transaction, after a pause that grows to a few milliseconds, at most TransactionOptions::max_tries times. It
  /// does not run again after any other error: then `work` or the commit has failed, and the error says whether the
  /// writes may have happened. If `work` ends the transaction itself, its answer is returned.
  Status transact(const std::function<Status(Transaction&)>& work, const TransactionOptions& options = {},
                  Caller caller = Caller::here());
  /// Sets the value of a key if it has the value `expected`; without `expected`, if the key is absent. Returns whether
  /// it did. kConflict after 100 tries against other writers of the key; then nothing was written.
  [[nodiscard]] Result<bool> put_if(std::string_view key, std::optional<std::string_view> expected,
                                    std::string_view value, const WriteOptions& options = {});
  /// Removes a key if it has the value `expected`. Returns whether it did.
  [[nodiscard]] Result<bool> remove_if(std::string_view key, std::string_view expected,
                                       const WriteOptions& options = {});

  /// Opens the keyspace of this name; makes it, durably, if there is none. The options that are set are stored and
  /// apply to tables written from now on. "default" is the keyspace that put, get and the others here use. A name has 1
  /// to 255 bytes. A read-only store makes none: kInvalidArgument.
  [[nodiscard]] Result<Keyspace> keyspace(std::string_view name, const KeyspaceOptions& options = {});
  /// Drops a keyspace and all it holds, durably. Snapshots taken before still see it; its files go with the last of
  /// them. kInvalidArgument if there is none of this name, and for the default one.
  Status drop_keyspace(std::string_view name);
  /// All keyspaces, in the order in which they were made; the default one first.
  [[nodiscard]] std::vector<KeyspaceInfo> keyspaces() const;

  /// Returns the value of a key, or none if absent. For a key with merge operands, kNotSupported if the operator is not
  /// registered, and kInvalidArgument if it cannot fold them; the same for the other reads and for scans, which stop
  /// there.
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key, const ReadOptions& options = {}) const;
  /// Returns whether the key is present and copies its value to `*value`. Allocates nothing if the capacity suffices.
  [[nodiscard]] Result<bool> get(std::string_view key, std::string* value, const ReadOptions& options = {}) const;
  /// Returns whether the key is present. Does the same lookup as get, filters included, but does not copy the value.
  [[nodiscard]] Result<bool> exists(std::string_view key, const ReadOptions& options = {}) const;
  /// Returns the value of a key, or none if absent. A large value that is in memory is not copied.
  [[nodiscard]] Result<std::optional<PinnedValue>> get_pinned(std::string_view key,
                                                              const ReadOptions& options = {}) const;
  /// Returns what get would for each key, all as of one moment.
  [[nodiscard]] std::vector<Result<std::optional<std::string>>> multi_get(std::span<const std::string_view> keys,
                                                                          const ReadOptions& options = {}) const;
  /// Same, but reuses strings: `*values` gets one element per key, none if the key is absent or unreadable. Returns the
  /// first error.
  [[nodiscard]] Status multi_get(std::span<const std::string_view> keys,
                                 std::vector<std::optional<std::string>>* values,
                                 const ReadOptions& options = {}) const;

  /// Returns an iterator over a range of keys, positioned on the first key, or on the last with `reverse`.
  ///
  ///     tamis::Iterator cities = db.scan({.from = "l", .to = "q"});
  ///     for (const auto& [key, value] : cities) use(key, value);
  ///     if (!cities.status().ok()) return cities.status();
  [[nodiscard]] Iterator scan(const ScanOptions& options = {}, Caller caller = Caller::here()) const;
  /// Returns a snapshot of the store as of now.
  [[nodiscard]] Snapshot snapshot(Caller caller = Caller::here());

  /// Writes the memtables to tables, which are durable on return.
  Status flush();
  /// Rewrites the range of the default keyspace into the last level and drops what no reader can see.
  Status compact(const Range& range = {}, const Progress& progress = {});
  /// Waits until no flush or compaction is due or running. Updates the run index if lookups need one.
  Status wait_idle();
  /// Changes an option of the open store, until it is closed: memory_bytes or filter_memory, as set_option of
  /// <tamis/options.h> would. With less memory, cached blocks, columns of filters and indexes are dropped before this
  /// returns; with more, what lookups ask for is loaded in the background. No table is rewritten. kInvalidArgument for
  /// other options, for values out of range, and if memory_bytes falls below four times the memtable size that the
  /// store was opened with. Like a write, it fails while writes have stopped.
  Status set_option(std::string_view name, std::string_view value);
  /// Resumes writes, to new files, once the cause of a background error is gone.
  Status resume();
  /// Shows what the writer of the store has committed since the store was opened with Options::follows, or since the
  /// last call. Returns the sequence that reads see now: the number of writes up to there. Iterators and snapshots keep
  /// what they saw. The sequence falls only if writes were lost: the machine crashed before they were synced, or they
  /// failed. Returns kStale if the writer replaced files faster than they could be opened; reads then see what they saw
  /// before, and the next call tries again. kNotSupported if the store was opened without follows.
  Result<std::uint64_t> catch_up();
  /// Copies the store as of now into a folder that must not exist. Hard-links tables if the file system can.
  Status checkpoint(const std::string& path);
  /// Reads every byte. The report lists damage; the status says whether verification itself succeeded.
  [[nodiscard]] Result<VerifyReport> verify(const Progress& progress = {}) const;

  /// The size of the range in tables, accurate to about a block.
  [[nodiscard]] Result<std::uint64_t> approximate_size(const Range& range) const;
  /// Counters and current state.
  [[nodiscard]] Stats stats() const;
  /// What the writer of a followed store has counted (Options::follows). It publishes that about once a second, if
  /// something has changed. Nullopt if nothing is published or legible, and in stores that are not followers.
  [[nodiscard]] std::optional<WriterStats> writer_stats() const;
  /// Every step of looking up a key, and its cost.
  [[nodiscard]] Result<Explanation> explain(std::string_view key, const ReadOptions& options = {}) const;
  /// The filter plan for the current runs of the default keyspace, with the configured filter memory or another amount.
  [[nodiscard]] PlanReport plan(std::optional<std::uint64_t> filter_memory = {}) const;

  /// Closes the store. Returns kBusy while iterators, snapshots or transactions are alive, naming where each was
  /// created; the store then stays open. More than 4 MiB in memtables is flushed, so that the next open need not replay
  /// it.
  Status close();

 private:
  explicit DB(std::shared_ptr<Store> store);

  std::shared_ptr<Store> store_;
};

}  // namespace tamis
