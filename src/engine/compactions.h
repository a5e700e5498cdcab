// The compactions of a store: which begin, and what they do.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/change_signal.h"
#include "base/sync.h"
#include "compaction/claims.h"
#include "compaction/policy.h"
#include "engine/catalog.h"
#include "engine/health.h"
#include "engine/keyspaces.h"
#include "engine/store_context.h"
#include "engine/table_rewrites.h"
#include "tamis/db.h"
#include "tamis/status.h"

namespace tamis {

/// Begins the compactions that are due, several at once, and those of compact().
///
/// Invariants:
///  1. No two running compactions of a tree meet (rule 47).
///  2. A plan of compact() that must wait is the next to begin where it wants to.
///
/// Threads: any. mutex_ is held while a plan is chosen, before the mutexes of Catalog and Tree, and never while one is
/// executed.
class Compactions {
 public:
  Compactions(const StoreContext& context, Catalog& catalog, Keyspaces& keyspaces, TableRewrites& rewrites,
              Health& health, ChangeSignal& changes)
      : context_(context),
        catalog_(catalog),
        keyspaces_(keyspaces),
        rewrites_(rewrites),
        health_(health),
        changes_(changes) {}

  /// Called now and then during a compaction, by its thread. To be set before the first one.
  void set_interlude(std::function<void()> interlude) { interlude_ = std::move(interlude); }

  /// Executes the most urgent plan that may begin. False: there is none, or it failed.
  bool run_one() EXCLUDES(mutex_);
  /// Whether one runs, or may be due.
  [[nodiscard]] bool is_due() const;

  /// What a caller does when its plan must wait for another compaction.
  enum class Patience : std::uint8_t { kWaits, kIsBusy };
  /// Merges the tables of this moment that may hold keys of the range into the last level that has any. It does so in
  /// steps; writers and other compactions get their turn in between.
  Status compact(OpenKeyspace& keyspace, const Range& range, const Progress& progress, Patience patience)
      EXCLUDES(mutex_, step_mutex_);

 private:
  struct Begun {
    std::shared_ptr<OpenKeyspace> keyspace;
    CompactionPlan plan;
    Claims::Id claim = 0;
    std::uint64_t number = 0;  ///< Of all that were begun.
  };

  /// The most urgent plan of all trees that may begin, or nothing.
  std::optional<Begun> begin_next() EXCLUDES(mutex_);
  std::optional<Begun> begin_in(const std::shared_ptr<OpenKeyspace>& keyspace, std::uint64_t now_unix_seconds)
      REQUIRES(mutex_);
  Begun begin(std::shared_ptr<OpenKeyspace> keyspace, const Shape& shape, CompactionPlan plan) REQUIRES(mutex_);
  /// Executes and ends it.
  Status finish(const Begun& begun) EXCLUDES(mutex_);
  [[nodiscard]] std::optional<CompactionPlan> plan_for(const Tree& tree, const Version& version,
                                                       Admission& admission) const;
  /// Removes the tables that range deletes cover whole, but for those that are being rewritten. False if there are
  /// none.
  Result<bool> remove_covered(OpenKeyspace& keyspace) EXCLUDES(mutex_);
  /// The same in all trees.
  Result<bool> remove_covered() EXCLUDES(mutex_);

  Result<RangeGoal> goal_for(const Tree& tree, const Range& range, Patience patience) EXCLUDES(mutex_);
  Result<bool> step_towards(OpenKeyspace& keyspace, const RangeGoal& goal, Patience patience)
      EXCLUDES(mutex_, step_mutex_);
  /// Nothing begins and `must_wait` is false: the goal is reached.
  std::optional<Begun> begin_step(const std::shared_ptr<OpenKeyspace>& keyspace, const RangeGoal& goal, bool& must_wait)
      EXCLUDES(mutex_);
  [[nodiscard]] Status busy() const { return Status::busy(context_.directory + ": a compaction is running"); }

  const StoreContext& context_;
  Catalog& catalog_;
  Keyspaces& keyspaces_;
  TableRewrites& rewrites_;
  Health& health_;
  ChangeSignal& changes_;
  std::function<void()> interlude_ = [] {};

  std::atomic<std::uint64_t> settled_generation_ = 0;  // Of all trees when nothing was left to compact.
  std::atomic<std::uint64_t> settled_at_ = 0;          // The time of that, in seconds.
  std::atomic<std::size_t> running_count_ = 0;

  Mutex step_mutex_;  // One step of compact() at a time; before mutex_.
  Mutex mutex_;
  std::unordered_map<KeyspaceId, Claims> claims_ GUARDED_BY(mutex_);
  std::set<std::uint64_t> running_ GUARDED_BY(mutex_);  // Their numbers.
  std::uint64_t begun_ GUARDED_BY(mutex_) = 0;
  /// The generation, the number of compactions begun and running, and the time when nothing could begin.
  std::tuple<std::uint64_t, std::uint64_t, std::size_t, std::uint64_t> stuck_ GUARDED_BY(mutex_) = {};
};

}  // namespace tamis
