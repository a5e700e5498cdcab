// The background work of a store: what is due, and how it is done.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/change_signal.h"
#include "base/sync.h"
#include "engine/catalog.h"
#include "engine/compactions.h"
#include "engine/health.h"
#include "engine/job_pool.h"
#include "engine/journals.h"
#include "engine/keyspaces.h"
#include "engine/residency.h"
#include "engine/store_context.h"
#include "engine/table_rewrites.h"
#include "tamis/db.h"
#include "tamis/status.h"

namespace tamis {

/// Flushes, compactions, the run index and the residency of metadata, of all keyspaces, as jobs on a pool. A compaction
/// gives way to a flush where cores are few.
///
/// Invariants:
///  1. There is one flush at a time.
///  2. A job that fails is tried again; Health stops writes when that does not help.
///
/// Threads: any. flush_mutex_ is held over a whole flush, before the mutexes of Catalog and Tree.
class Maintenance final : public JobSource {
 public:
  Maintenance(const StoreContext& context, Catalog& catalog, Keyspaces& keyspaces, Journals& journals,
              TableRewrites& rewrites, Residency& residency, Health& health, ChangeSignal& changes, SharedWork& work);

  [[nodiscard]] JobPool& pool() { return *pool_; }

  /// Called at every upkeep and now and then during a compaction. To be set before the pool is started.
  void set_publisher(std::function<void()> publish) { publish_ = std::move(publish); }

  bool run(Job job) override EXCLUDES(flush_mutex_);
  [[nodiscard]] bool is_due(Job job) const override;
  [[nodiscard]] bool holds_up_writes(Job job, bool seals) const override;
  [[nodiscard]] std::chrono::milliseconds time_between_upkeeps() const override { return residency_.pause(); }

  /// Flushes all sealed memtables in the calling thread. For recovery, and for the leader between two groups. kBusy if
  /// it must not wait for a flush that runs.
  Status flush_sealed() EXCLUDES(flush_mutex_);
  /// As TableRewrites::write_changes. For the leader, with nothing sealed.
  Result<std::vector<TreeChange>> write_changes(const Changes& changes, Sequence first) EXCLUDES(flush_mutex_);
  /// Records that journals which no memtable needs are not needed, and removes them. A flush does so too.
  Status release_journals() EXCLUDES(flush_mutex_);
  /// As Compactions::compact.
  Status compact(OpenKeyspace& keyspace, const Range& range, const Progress& progress);
  /// Waits until nothing is due.
  Status wait_idle() EXCLUDES(flush_mutex_);

 private:
  /// Whether the caller may wait for its turn at a flush. With some pools it must not while one runs.
  [[nodiscard]] bool may_begin_flush() const { return !flush_runs_ || pool_->may_wait_for_running_job(); }
  bool flush() EXCLUDES(flush_mutex_);
  Status flush_oldest() REQUIRES(flush_mutex_);
  void prepare_next_journal() REQUIRES(flush_mutex_);
  void give_way_to_flush();
  void keep_up();
  void index_runs();
  bool is_reading_in_vain(const Tree& tree, const std::vector<std::uint64_t>& tables);

  const StoreContext& context_;
  Catalog& catalog_;
  Keyspaces& keyspaces_;
  Journals& journals_;
  TableRewrites& rewrites_;
  Residency& residency_;
  Health& health_;
  ChangeSignal& changes_;
  SharedWork& work_;
  std::function<void()> publish_ = [] {};

  Mutex flush_mutex_;
  std::atomic<bool> flush_runs_ = false;
  Compactions compactions_;
  const std::unique_ptr<JobPool> pool_;
  const bool gives_way_;
};

}  // namespace tamis
