// An open store: everything behind DB.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/change_signal.h"
#include "base/sync.h"
#include "engine/catalog.h"
#include "engine/counters_file.h"
#include "engine/delete_walks.h"
#include "engine/follower.h"
#include "engine/fork_generation.h"
#include "engine/health.h"
#include "engine/journals.h"
#include "engine/keyspaces.h"
#include "engine/live_handles.h"
#include "engine/maintenance.h"
#include "engine/published_sequence.h"
#include "engine/residency.h"
#include "engine/store_context.h"
#include "engine/store_memory.h"
#include "engine/table_rewrites.h"
#include "engine/writer.h"
#include "tamis/caller.h"
#include "tamis/db.h"

namespace tamis {

class IteratorState;
struct TransactionLayer;  // engine/iterator_state.h.

/// Puts the parts together: opens and closes them, and answers DB and Keyspace. The work is theirs: Writer takes writes
/// into the trees of the keyspaces, Reader looks keys up in one, Maintenance flushes and compacts them.
///
/// Invariant: a part refers only to parts that are declared before it.
///
/// Threads: any. Mutexes are taken in this order: Maintenance's, Catalog's, Keyspaces', Tree's; the others are
/// innermost.
class Store final : public std::enable_shared_from_this<Store> {
 public:
  static Result<std::shared_ptr<Store>> open(const std::string& path, const Options& options,
                                             const Environment& environment);
  ~Store();

  Status put(KeyspaceId keyspace, std::string_view key, std::string_view value, const WriteOptions& options) {
    if (options.expires_in.count() != 0 || context_->expiry.has_defaults()) [[unlikely]]
      return put_expiring(keyspace, key, value, options);
    return write({keyspace, EntryKind::kPut, key, value}, options, true);
  }
  Status merge(KeyspaceId keyspace, std::string_view key, std::string_view operand, const WriteOptions& options);
  /// `check`: of a transaction.
  Status write(const Changes& changes, const WriteOptions& options, bool may_wait, const CommitCheck* check = nullptr);
  /// The same for a batch, which may name keyspaces.
  Status write_batch(const Batch& batch, const WriteOptions& options, bool may_wait,
                     const CommitCheck* check = nullptr);
  /// Whether the keyspaces that the batch names are of this store.
  [[nodiscard]] Status check_owns(const Batch& batch) const;
  Status sync();
  Status flush();
  Status set_option(std::string_view name, std::string_view value);
  Status resume();
  /// kNotSupported unless the store is a follower.
  Result<std::uint64_t> catch_up();

  /// Opens or makes a keyspace.
  Result<std::shared_ptr<OpenKeyspace>> keyspace(std::string_view name, const KeyspaceOptions& options);
  Status drop_keyspace(std::string_view name);
  std::vector<KeyspaceInfo> keyspaces();  // store_stats.cc
  [[nodiscard]] OpenKeyspace& default_keyspace() { return keyspaces_.default_keyspace(); }

  // Each of these reads one keyspace.
  Result<bool> get(OpenKeyspace& keyspace, std::string_view key, std::string* value, const ReadOptions& options) {
    if (!may_read(options.snapshot)) [[unlikely]]
      return get_followed(keyspace, key, value, options);
    if (GetSampling::is_sampled()) [[unlikely]]
      return get_timed(keyspace, key, value, options);
    return keyspace.reader.get(key, value, options);
  }
  Result<bool> exists(OpenKeyspace& keyspace, std::string_view key, const ReadOptions& options);
  Result<std::optional<PinnedValue>> get_pinned(OpenKeyspace& keyspace, std::string_view key,
                                                const ReadOptions& options);
  std::vector<Result<std::optional<std::string>>> multi_get(OpenKeyspace& keyspace,
                                                            std::span<const std::string_view> keys,
                                                            const ReadOptions& options);
  Status multi_get(OpenKeyspace& keyspace, std::span<const std::string_view> keys,
                   std::vector<std::optional<std::string>>* values, const ReadOptions& options);
  Result<Explanation> explain(OpenKeyspace& keyspace, std::string_view key, const ReadOptions& options);
  Iterator scan(OpenKeyspace& keyspace, const ScanOptions& options, Caller caller);
  Iterator scan_in_transaction(OpenKeyspace& keyspace, const ScanOptions& options, Caller caller,
                               const TransactionLayer& layer);
  /// A scan that could not begin.
  Iterator failed_scan(Status why);
  Snapshot snapshot(Caller caller);

  Status compact(OpenKeyspace& keyspace, const Range& range, const Progress& progress);
  Status wait_idle();
  Status checkpoint(const std::string& path);
  Result<VerifyReport> verify(const Progress& progress);
  Result<std::uint64_t> approximate_size(OpenKeyspace& keyspace, const Range& range);
  Stats stats();                              // store_stats.cc
  std::optional<WriterStats> writer_stats();  // store_stats.cc
  PlanReport plan(std::optional<std::uint64_t> filter_memory);

  /// kBusy while handles are alive, unless `detaches`: they answer kClosed from then on.
  Status close(bool detaches);
  [[nodiscard]] Status check_open() const;
  /// True in a child that was forked after the store was opened (rule 10).
  [[nodiscard]] bool is_of_another_process() const {
    return known_fork_generation.load(std::memory_order_relaxed) != fork_generation_;
  }
  /// Whether check_open() is ok.
  [[nodiscard]] bool is_open() const {
    return known_fork_generation.load(std::memory_order_relaxed) == open_generation_.load(std::memory_order_relaxed);
  }
  /// No other store of this process has or had it. An address may be that of a later store.
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] LiveHandles& live_handles() { return live_handles_; }
  [[nodiscard]] const PublishedSequence& published() const { return published_; }
  [[nodiscard]] EmptyRanges& empty_ranges() { return empty_ranges_; }
  /// Then what scans find empty is not kept: another term may take it back (rule 42).
  [[nodiscard]] bool is_follower() const { return follower_ != nullptr; }
  /// What a follower shows now; any other store: no views.
  [[nodiscard]] FollowedMoment followed_now() const {
    return follower_ == nullptr ? FollowedMoment() : follower_->now();
  }
  [[nodiscard]] const ExpiryClock& expiry() const { return context_->expiry; }
  [[nodiscard]] const BlockCache& cache() const { return memory_->cache(); }
  [[nodiscard]] GroupLeader& leader() { return writer_; }
  [[nodiscard]] CommitWindow& window() { return writer_.window(); }
  [[nodiscard]] const KeyHasher& hasher() const { return context_->hasher; }

 private:
  Store(std::unique_ptr<StoreContext> context, std::unique_ptr<StoreMemory> memory);

  Status open_parts();
  Status put_expiring(KeyspaceId keyspace, std::string_view key, std::string_view value, const WriteOptions& options);
  /// Whether the store is open, no follower, and the snapshot, if any, belongs to it.
  [[nodiscard]] bool may_read(const Snapshot* snapshot) const {
    return known_fork_generation.load(std::memory_order_relaxed) == read_generation_.load(std::memory_order_relaxed) &&
           (snapshot == nullptr || owns(*snapshot));
  }
  /// Otherwise: what to read of a keyspace if the store is a follower, or why not.
  Result<Reader::KeptView> followed(const OpenKeyspace& keyspace, const Snapshot* snapshot) const;
  Result<bool> get_followed(OpenKeyspace& keyspace, std::string_view key, std::string* value,
                            const ReadOptions& options);
  Result<bool> get_timed(OpenKeyspace& keyspace, std::string_view key, std::string* value, const ReadOptions& options);
  Result<Reader::KeptView> view_for(const OpenKeyspace& keyspace, const Snapshot* snapshot) const;
  Result<std::unique_ptr<IteratorState>> begin_followed_scan(OpenKeyspace& keyspace, const Snapshot* snapshot,
                                                             Caller caller);
  [[nodiscard]] bool owns(const Snapshot& snapshot) const;
  void stop_background();
  std::unique_ptr<IteratorState> begin_scan(OpenKeyspace& keyspace, const Snapshot* snapshot, Caller caller);

  static constexpr std::uint64_t kClosed = ~std::uint64_t{0};

  const std::uint64_t fork_generation_;
  std::atomic<std::uint64_t> open_generation_;  // fork_generation_, or kClosed.
  std::atomic<std::uint64_t> read_generation_;  // The same; kClosed in a follower, whose reads go another way.
  const std::unique_ptr<StoreContext> context_;
  ChangeSignal changes_;
  Health health_;
  const std::unique_ptr<StoreMemory> memory_;
  LiveHandles live_handles_;
  PublishedSequence published_;
  EmptyRanges empty_ranges_;
  Catalog catalog_;
  Journals journals_;
  TableContext followed_tables_;  // Of a follower. Outlives the tables, which are destroyed with the keyspaces.
  Keyspaces keyspaces_;
  SharedWork shared_work_;
  TableRewrites rewrites_;
  Residency residency_;
  Maintenance maintenance_;
  DeleteWalks delete_walks_;
  Writer writer_;
  CountersFile counters_;
  std::unique_ptr<Follower> follower_;  // Constant once the store is open; mostly null.
  Mutex lock_mutex_;
  std::unique_ptr<FileLock> lock_ GUARDED_BY(lock_mutex_);
  const std::uint64_t number_;
};

}  // namespace tamis
