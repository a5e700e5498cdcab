// The write path: commit queue, journal, memtables, published.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/features.h"
#include "base/try.h"
#include "engine/catalog.h"
#include "engine/commit_queue.h"
#include "engine/commit_window.h"
#include "engine/delete_walks.h"
#include "engine/health.h"
#include "engine/journals.h"
#include "engine/keyspaces.h"
#include "engine/live_handles.h"
#include "engine/maintenance.h"
#include "engine/published_sequence.h"
#include "engine/store_context.h"
#include "engine/throttle.h"
#include "entry/batch_inside.h"
#include "entry/keyspace_id.h"
#include "tamis/options.h"
#include "tamis/status.h"

namespace tamis {

/// Groups the writes of all threads; one of them, the leader, appends the group to the journal, inserts it into the
/// memtables and publishes it.
///
/// Invariants:
///  1. Everything that can fail happens before a memtable is touched (rule 6).
///  2. Only the leader seals memtables, and only between groups.
///  3. With several keyspaces, what is in a sealed memtable is durable in the journals: a crash after its flush cannot
///     leave half of a batch (rule 33).
///
/// Threads: any.
class Writer final : public GroupLeader {
 public:
  Writer(const StoreContext& context, Catalog& catalog, Keyspaces& keyspaces, Journals& journals,
         Maintenance& maintenance, DeleteWalks& delete_walks, Health& health, PublishedSequence& published,
         const LiveHandles& handles, ChangeSignal& changes);

  /// Call once, after the trees were opened and recovered.
  void begin();

  /// `check`: written only if it holds; kConflict otherwise.
  Status write(const Changes& changes, const WriteOptions& options, bool may_wait, const CommitCheck* check = nullptr);
  Status sync();
  /// Seals the memtables and waits for their flush.
  Status flush();
  Status resume();
  /// Runs the task between two groups of writes.
  Status run_alone(const std::function<Status()>& task);
  /// For such a task: everything written so far is in tables on return.
  Status flush_alone();

  /// Makes the change between two groups of writes, and keeps to the shares of the new options from then on.
  Status change_memory(const std::function<Result<Options>()>& change);

  // writer_trees.cc
  /// Makes the keyspace if it does not exist; otherwise adds to its options.
  Result<std::shared_ptr<OpenKeyspace>> open_keyspace(std::string_view name, const KeyspaceOptions& options);
  Status drop_keyspace(std::string_view name);
  void lead(std::span<CommitRequest* const> group) override;

  [[nodiscard]] std::uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  [[nodiscard]] CommitWindow& window() { return window_; }
  [[nodiscard]] Stats::Stalls stalls() const { return throttle_.stats(); }

 private:
  /// A tree with entries in its memtable, besides the default one.
  struct Writing {
    std::shared_ptr<OpenKeyspace> keyspace;
    std::shared_ptr<Memtable> memtable;
    std::uint64_t counted_bytes = 0;  // Of its memory, in others_bytes_.
    bool is_touched = false;          // By the current group.
  };
  /// Of the leader's buffer: enough for groups of small writes, and small beside the budget.
  static constexpr std::size_t kMaxKeptPayloadBytes = std::size_t{128} << 10;
  using Trees = std::vector<std::shared_ptr<OpenKeyspace>>;

  Status write_large(const Changes& changes, const CommitCheck* check);
  Status lead_group(std::span<CommitRequest* const> group);
  Status append_and_insert(std::span<CommitRequest* const> group);
  Status encode_group();
  Status append_to_journal(std::uint64_t entries, bool syncs) {
    TAMIS_TRY_STATUS(
        journals_.append(as_bytes(payload_), static_cast<std::uint32_t>(entries), context_.now_unix_milliseconds()));
    return syncs ? sync_journal() : Status();
  }
  Status sync_journal() {
    const LatencyTimer timer(context_.timed.sync);
    return journals_.sync();
  }
  void insert_group(std::uint64_t entries);
  // Groups that name other keyspaces than the default one.
  bool reject_dropped(std::span<CommitRequest* const> group);
  [[nodiscard]] bool is_dropped(KeyspaceId id) const;
  // Transactions.
  bool accept(CommitRequest& request);
  Status check_transaction(const CommitCheck& check, const Changes& changes);
  Status append_to_trees(std::uint64_t entries, bool syncs);
  Status reserve_in_trees(std::uint64_t entries);
  void insert_into_trees(std::uint64_t entries);
  // writer_range_deletes.cc
  Status prepare_range_deletes(std::uint64_t entries);
  void seal_if_tables_are_covered();
  Status prepare_merges(const Changes& changes);
  Status begin_merges(OpenKeyspace& keyspace);
  Writing& writing_to(KeyspaceId id);
  void count_bytes(Writing& writing);
  void stop_writing_to(KeyspaceId id);
  void forget_touched();
  void tell_deletes(KeyspaceId keyspace, std::string_view last, std::uint64_t entries);
  void forget_payload() {
    if (payload_.capacity() > kMaxKeptPayloadBytes) std::string().swap(payload_);
  }
  void publish(Sequence last) {
    window_.record(changes_, published_.newest(), last, committing_);
    published_.publish(last);
  }

  Status make_room(std::uint64_t group_bytes);
  [[nodiscard]] Trees trees_to_seal() const;
  [[nodiscard]] Trees trees_with_entries() const;
  [[nodiscard]] Trees trees_with_covered_tables() const;
  Status seal(const Trees& trees);
  Status begin_journal();
  Status use(Feature feature);
  void was_sealed(const Trees& trees, Sequence last, std::uint64_t journal);
  Status restart();
  Status begin_term();
  [[nodiscard]] Status check_would_not_wait() const;

  const StoreContext& context_;
  Catalog& catalog_;
  Keyspaces& keyspaces_;
  Journals& journals_;
  Maintenance& maintenance_;
  DeleteWalks& delete_walks_;
  JobPool& pool_;
  Health& health_;
  PublishedSequence& published_;
  CommitQueue commits_;
  // Belongs to the leader.
  Throttle throttle_;
  std::shared_ptr<Memtable> writing_;     // Of the default tree.
  std::map<KeyspaceId, Writing> others_;  // The other trees with entries.
  std::uint64_t others_bytes_ = 0;        // Of their memtables.
  std::vector<Writing*> touched_;         // By the current group.
  std::string payload_;                   // The group, encoded.
  EntryKeyspaces keyspaces_of_group_;
  bool has_range_deletes_ = false;  // The group.
  std::vector<Changes> changes_;
  CommitWindow window_;
  std::uint64_t committing_ = 0;  // Transactions in the current group.
  std::size_t in_group_ = 0;      // Of changes_: what the window knows of the current group.

  std::atomic<std::uint64_t> most_bytes_in_memory_;  // Of a batch; a larger one is written to tables.
  std::atomic<bool> has_used_expiry_ = false;        // Since the opening: every journal from then on has the feature.
  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
};

}  // namespace tamis
