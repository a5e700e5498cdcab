// Puts the rooms together: an open store.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/sync.h"
#include "cache/block_cache.h"
#include "compaction/policy.h"
#include "compaction/rewriter.h"
#include "engine/commit_queue.h"
#include "engine/fork_generation.h"
#include "engine/journals.h"
#include "engine/live_handles.h"
#include "engine/memory_shares.h"
#include "engine/read_view.h"
#include "engine/reader.h"
#include "engine/schedule.h"
#include "io/file_handles.h"
#include "io/file_system.h"
#include "journal/journal_stream.h"
#include "table/table.h"
#include "tamis/caller.h"
#include "tamis/db.h"
#include "tree/manifest.h"

namespace tamis {

class SnapshotState;

/// A memtable that gets no more writes, and what its flush will tell the manifest.
struct SealedMemtable {
  std::shared_ptr<Memtable> memtable;
  Sequence last_sequence = {};
  std::uint64_t next_journal = 0;  ///< The journals before this one hold nothing younger than the memtable.
};

/// An open store: everything behind DB.
///
/// A put goes: CommitQueue → lead → Journals → Memtable → published_. A get: Reader. Behind them, one thread flushes
/// sealed memtables and one compacts (background.cc); both make tables durable, then the manifest, then the view
/// (rewrites.cc).
///
/// Invariants:
///  1. Every sequence up to published_ is in the memtables or in tables of the current view; readers take the view
///     first, then the sequence (rule 9).
///  2. Only the commit leader seals a memtable, and only between groups.
///  3. Flushes install in the order in which memtables were sealed.
///  4. A file is removed only when the manifest durably does without it and no view holds it.
///
/// Threads: any, except as said. Mutexes are taken in this order: compaction_mutex_, flush_mutex_, tree_mutex_,
/// state_mutex_; no I/O happens under state_mutex_.
class Engine final : public GroupLeader, public std::enable_shared_from_this<Engine> {
 public:
  static Result<std::shared_ptr<Engine>> open(const std::string& path, const Options& options,
                                              const Environment& environment);
  ~Engine() override;

  // writes.cc
  Status write(const Changes& changes, const WriteOptions& options, bool may_wait);
  Status sync();
  Status flush();
  Status resume();
  void lead(std::span<CommitRequest* const> group) override;

  // reads.cc
  Result<bool> get(std::string_view key, std::string* value, const ReadOptions& options);
  Result<bool> exists(std::string_view key, const ReadOptions& options);
  Result<std::optional<PinnedValue>> get_pinned(std::string_view key, const ReadOptions& options);
  std::vector<Result<std::optional<std::string>>> multi_get(std::span<const std::string_view> keys,
                                                            const ReadOptions& options);
  Status multi_get(std::span<const std::string_view> keys, std::vector<std::optional<std::string>>* values,
                   const ReadOptions& options);
  Result<Explanation> explain(std::string_view key, const ReadOptions& options);
  Iterator scan(const ScanOptions& options, Caller caller);
  Snapshot snapshot(Caller caller);
  Result<std::uint64_t> approximate_size(const Range& range);

  // background.cc, rewrites.cc
  Status compact(const Range& range, const Progress& progress);
  Status wait_idle() EXCLUDES(state_mutex_, flush_mutex_);

  // report.cc
  Stats stats();
  PlanReport plan(std::optional<std::uint64_t> filter_memory);

  // checkpoint.cc, verify.cc
  Status checkpoint(const std::string& path);
  Result<VerifyReport> verify(const Progress& progress);

  /// kBusy while handles are alive, unless `detaches`: they answer kClosed from then on.
  Status close(bool detaches);
  [[nodiscard]] Status check_open() const;
  /// True in a child that was forked after the store was opened (rule 10).
  [[nodiscard]] bool is_of_another_process() const {
    return known_fork_generation.load(std::memory_order_relaxed) != fork_generation_;
  }
  /// Whether check_open() is ok.
  [[nodiscard]] bool is_open() const { return !is_closed_.load(std::memory_order_relaxed) && !is_of_another_process(); }
  [[nodiscard]] std::uint64_t gets() const { return reader_.gets(); }
  [[nodiscard]] LiveHandles& live_handles() { return live_handles_; }
  [[nodiscard]] const BlockCache& cache() const { return *cache_; }

 private:
  /// Writes have stopped, and why.
  struct WriteStop {
    Status why;
    bool resumes_by_itself = false;  // No space: tried again by every write and by the background.
  };
  /// A table that the manifest does without; its file goes when nobody holds it any more.
  struct Obsolete {
    std::uint64_t number = 0;
    std::uint64_t blocks = 0;
    std::weak_ptr<Table> table;
  };

  Engine(std::string directory, const Options& options, const Environment& environment);

  // recovery.cc
  Status open_store();
  Status open_manifest();
  Status recover();
  Status keep_journals(const std::vector<std::uint64_t>& needed);
  Status replay(JournalStream& stream);
  Status flush_replayed();
  Status begin_new_journal(const std::vector<std::uint64_t>& replayed, const JournalStreamEnd& end);
  Status save_stranded(std::span<const std::uint64_t> journals);
  Result<std::vector<std::string>> redundant_files() EXCLUDES(tree_mutex_);
  Status remove_redundant_files() EXCLUDES(tree_mutex_);

  // writes.cc
  Status lead_writes(std::span<CommitRequest* const> group);
  Status append_and_insert(std::span<CommitRequest* const> group);
  Status encode_group();
  Status make_room(std::uint64_t group_bytes);
  Status wait_for_flush() EXCLUDES(state_mutex_);
  Status wait_until_flushed() EXCLUDES(state_mutex_);
  Status slow_down(std::uint64_t group_bytes) EXCLUDES(state_mutex_);
  void sleep_while_behind(std::chrono::steady_clock::time_point end) EXCLUDES(state_mutex_);
  Status wait_for_compaction() EXCLUDES(state_mutex_);
  Status wait_until_compacted() EXCLUDES(state_mutex_);
  /// Whether the background can end a wait; without threads kBusy, which says `otherwise`.
  [[nodiscard]] Status may_wait_for_background(std::string_view otherwise) const REQUIRES(state_mutex_);
  void count_delay(std::chrono::steady_clock::duration waited);
  void begin_stall(std::string_view why) EXCLUDES(state_mutex_);
  void end_stall();
  Status seal() EXCLUDES(state_mutex_);
  Status restart_writes() EXCLUDES(state_mutex_);
  void stop_writes(const Status& why) EXCLUDES(state_mutex_);
  [[nodiscard]] std::optional<WriteStop> write_stop() const EXCLUDES(state_mutex_);
  /// A new memtable for writes; the one before becomes a sealed one.
  void replace_active(Sequence last, std::uint64_t next_journal) noexcept REQUIRES(state_mutex_);

  // reads.cc
  /// Whether the store is open and the snapshot, if there is one, its own.
  [[nodiscard]] Status check_readable(const Snapshot* snapshot) const;
  /// The same where it is known at once: false proves nothing.
  [[nodiscard]] bool may_read(const Snapshot* snapshot) const { return snapshot == nullptr && is_open(); }
  std::unique_ptr<IteratorState> begin_scan(const Snapshot* snapshot, Caller caller);
  Result<std::shared_ptr<const Version>> current_version() const;
  [[nodiscard]] std::uint64_t entries_in_memtables() const;  // verify.cc

  // background.cc
  void start_background();
  void stop_background() EXCLUDES(state_mutex_);
  void flush_in_background() EXCLUDES(state_mutex_);
  void compact_in_background() EXCLUDES(state_mutex_);
  void work_in_background() EXCLUDES(state_mutex_);
  /// Everything that is due, now.
  void run_due_work();
  /// Without threads, after a write: the same, or what the schedule says.
  void run_scheduled_work() EXCLUDES(state_mutex_);
  /// Without threads, before a write or a seal: what the leader would wait for is done while others may still lead.
  void make_way(bool seals) EXCLUDES(state_mutex_);
  /// What the background would do next; false when nothing was due or it failed.
  bool flush_if_due() EXCLUDES(state_mutex_, flush_mutex_);
  bool compact_if_due() EXCLUDES(state_mutex_, compaction_mutex_);
  void give_way_to_flush() EXCLUDES(state_mutex_);
  void rewrite_failed(std::string_view what, const Status& why);
  Result<RangeGoal> goal_for(const Range& range) EXCLUDES(compaction_mutex_, tree_mutex_, state_mutex_);
  Result<bool> step_towards(const RangeGoal& goal) EXCLUDES(compaction_mutex_, state_mutex_);
  /// With a schedule nobody waits for a rewrite that runs: whoever runs it may stand still until the caller is done.
  [[nodiscard]] bool is_left_to_others(bool runs) const { return schedule_ != nullptr && runs; }

  // rewrites.cc
  Status flush_oldest() REQUIRES(flush_mutex_);
  void prepare_next_journal() REQUIRES(flush_mutex_);
  Status execute(const CompactionPlan& plan) REQUIRES(compaction_mutex_);
  Status move_tables(const CompactionPlan& plan, const Shape& shape);
  Status merge_tables(const CompactionPlan& plan, const std::shared_ptr<const Version>& version);
  RewriteSpec rewrite_spec(const Shape& shape, std::uint32_t level, std::uint64_t run);
  Result<std::shared_ptr<const TableFacts>> facts_of(const Shape& shape, std::uint64_t number) const;
  Result<std::uint64_t> new_number() noexcept EXCLUDES(tree_mutex_, state_mutex_);
  /// Makes the edit durable and then visible; `flushed` is the memtable that it replaces.
  Status commit_and_install(const ManifestEdit& edit, const Memtable* flushed) noexcept
      EXCLUDES(tree_mutex_, state_mutex_);
  Status commit_and_show(const ManifestEdit& edit, const Memtable* flushed) EXCLUDES(tree_mutex_, state_mutex_);
  void install_view() REQUIRES(state_mutex_);
  void retire(const Version& before, std::uint64_t number) REQUIRES(state_mutex_);
  void remove_obsolete_files() EXCLUDES(state_mutex_);
  void add_obsolete_tables(std::vector<std::uint64_t>& numbers) const EXCLUDES(state_mutex_);
  [[nodiscard]] PolicyOptions policy_options() const;
  [[nodiscard]] FilterPlanOptions filter_plan_options() const;
  [[nodiscard]] std::uint64_t now_unix_seconds() const;

  // residency.cc
  void share_memory(const Version& version);
  void reconsider_residency() EXCLUDES(state_mutex_);

  // run_indexing.cc
  /// Brings the run index up to date when that is worth the reading. One thread at a time; others go on without.
  void index_runs() EXCLUDES(tree_mutex_, state_mutex_);
  void index_waiting_runs() EXCLUDES(tree_mutex_, state_mutex_);
  void install_columns(const RunColumns& columns) EXCLUDES(tree_mutex_, state_mutex_);
  [[nodiscard]] std::shared_ptr<const Version> tree_version() const EXCLUDES(state_mutex_);
  bool is_reading_in_vain(const std::vector<std::uint64_t>& tables) EXCLUDES(compaction_mutex_, flush_mutex_);
  [[nodiscard]] bool is_compaction_awaited() const EXCLUDES(state_mutex_);

  void tell(StoreEvent::Kind kind, std::string_view what, const RewriteResult* result = nullptr);

  // Constant once open.
  const std::string directory_;
  const Options options_;
  const Environment environment_;
  FileSystem& files_;
  const std::unique_ptr<Manifest::Random> random_;
  const std::unique_ptr<Schedule> schedule_;  // Null: everything that is due runs at once.
  const CompactionPolicy* policy_ = nullptr;
  const std::uint64_t fork_generation_;
  bool gives_way_ = false;              // Compactions do, to flushes.
  const std::uint64_t memtable_bytes_;  // What fills one: 7/8 of its share; it grows by up to an eighth at once.
  TableContext context_;
  KeyHasher hasher_;

  // Safe for threads by themselves.
  const std::shared_ptr<SpareMemory> spare_memory_;  // Of the two memtables' share.
  std::unique_ptr<BlockCache> cache_;
  std::unique_ptr<FileHandles> file_handles_;
  MetadataBudget index_budget_;
  MetadataBudget filter_budget_;
  CommitQueue commits_;
  CurrentView view_;
  LiveHandles live_handles_;
  std::atomic<std::uint64_t> published_ = 0;  // Stored with release after the memtable, loaded with acquire.
  std::atomic<bool> is_closed_ = false;
  std::atomic<bool> is_stopping_ = false;  // Rewrites end early.
  Reader reader_;
  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<std::uint64_t> user_bytes_ = 0;
  std::atomic<std::uint64_t> table_bytes_written_ = 0;
  std::atomic<std::uint64_t> flushes_ = 0;
  std::atomic<std::uint64_t> compactions_ = 0;
  std::atomic<std::uint64_t> moves_ = 0;
  std::atomic<std::uint64_t> delayed_writes_ = 0;
  std::atomic<std::uint64_t> delay_us_ = 0;

  std::uint64_t lookups_at_indexing_ = 0;  // Of the one who has set is_indexing_.

  std::atomic<std::uint64_t> journal_number_ = 0;  // Reserved for the next journal, unless that is a newer one already.
  std::atomic<bool> is_write_stopped_ = false;     // Whether write_stop_ is set; read by the leader without the mutex.
  std::atomic<double> debt_ = 0;                   // Of compaction; 0.5 slows writers down.

  // The commit leader's.
  std::unique_ptr<Journals> journals_;
  std::shared_ptr<Memtable> writing_;  // The same as active_.
  std::string payload_;
  std::vector<Changes> changes_;
  std::uint64_t owed_delay_us_ = 0;
  std::string_view stall_;  // Why writers are held up; empty: they are not.

  Mutex compaction_mutex_;  // Held over a compaction: there is one at a time.
  Mutex flush_mutex_;       // Held over a flush.

  Mutex tree_mutex_;  // Held while the manifest is written.
  std::unique_ptr<Manifest> manifest_ GUARDED_BY(tree_mutex_);
  std::uint64_t next_number_ GUARDED_BY(tree_mutex_) = 0;
  bool manifest_failed_ GUARDED_BY(tree_mutex_) = false;

  mutable Mutex state_mutex_;
  Condition state_changed_;
  std::unique_ptr<FileLock> lock_ GUARDED_BY(state_mutex_);
  std::shared_ptr<Memtable> active_ GUARDED_BY(state_mutex_);
  std::vector<SealedMemtable> sealed_ GUARDED_BY(state_mutex_);                  // Newest first.
  std::vector<std::weak_ptr<const Memtable>> flushed_ GUARDED_BY(state_mutex_);  // Those that readers may still hold.
  std::shared_ptr<const Version> version_ GUARDED_BY(state_mutex_);
  std::optional<WriteStop> write_stop_ GUARDED_BY(state_mutex_);
  std::vector<Obsolete> obsolete_ GUARDED_BY(state_mutex_);
  int deletions_paused_ GUARDED_BY(state_mutex_) = 0;
  bool compaction_wanted_ GUARDED_BY(state_mutex_) = false;
  bool compaction_runs_ GUARDED_BY(state_mutex_) = false;
  bool flush_runs_ GUARDED_BY(state_mutex_) = false;
  bool is_indexing_ GUARDED_BY(state_mutex_) = false;  // There is one at a time.
  std::uint32_t failed_rewrites_ GUARDED_BY(state_mutex_) = 0;
  std::uint64_t lookups_at_review_ GUARDED_BY(state_mutex_) = 0;
  std::string stall_reason_ GUARDED_BY(state_mutex_);
  std::vector<TableCounts> retired_counts_ GUARDED_BY(state_mutex_);  // By level, of tables that are gone.

  Mutex listener_mutex_;
  std::vector<std::jthread> threads_;
};

}  // namespace tamis
