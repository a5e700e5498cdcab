// The write path: commit queue, journal, memtable, published.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/catalog.h"
#include "engine/commit_queue.h"
#include "engine/health.h"
#include "engine/journals.h"
#include "engine/maintenance.h"
#include "engine/published_sequence.h"
#include "engine/store_context.h"
#include "engine/throttle.h"
#include "engine/tree.h"
#include "tamis/options.h"
#include "tamis/status.h"

namespace tamis {

/// Groups the writes of all threads; one of them, the leader, appends the group to the journal, inserts it into the
/// memtable and publishes it.
///
/// Invariants:
///  1. Everything that can fail happens before the memtable is touched (rule 6).
///  2. Only the leader seals a memtable, and only between groups.
///
/// Threads: any.
class Writer final : public GroupLeader {
 public:
  Writer(const StoreContext& context, Catalog& catalog, Tree& tree, Journals& journals, Maintenance& maintenance,
         Health& health, PublishedSequence& published, ChangeSignal& changes);

  /// Call once, after the tree was opened and recovered.
  void begin() { writing_ = tree_.active(); }

  Status write(const Changes& changes, const WriteOptions& options, bool may_wait);
  Status sync();
  /// Seals the memtable and waits for its flush.
  Status flush();
  Status resume();
  void lead(std::span<CommitRequest* const> group) override;

  [[nodiscard]] std::uint64_t writes() const { return writes_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t bytes_written() const { return bytes_written_.load(std::memory_order_relaxed); }
  [[nodiscard]] Stats::Stalls stalls() const { return throttle_.stats(); }

 private:
  Status lead_group(std::span<CommitRequest* const> group);
  Status append_and_insert(std::span<CommitRequest* const> group);
  Status encode_group();
  void insert_group(std::uint64_t entries);
  Status make_room(std::uint64_t group_bytes);
  Status seal();
  Status restart();
  Status begin_term();
  [[nodiscard]] Status check_would_not_wait() const;

  const StoreContext& context_;
  Catalog& catalog_;
  Tree& tree_;
  Journals& journals_;
  Maintenance& maintenance_;
  JobPool& pool_;
  Health& health_;
  PublishedSequence& published_;
  CommitQueue commits_;
  // Belongs to the leader.
  Throttle throttle_;
  std::shared_ptr<Memtable> writing_;  // The tree's active memtable.
  std::string payload_;
  std::vector<Changes> changes_;

  std::atomic<std::uint64_t> writes_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
};

}  // namespace tamis
