// What happens behind the writers' backs: one thread flushes, one compacts.
#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/thread_priority.h"
#include "base/try.h"
#include "engine/engine.h"
#include "engine/pacing.h"

namespace tamis {
namespace {

/// A table that could not be written is written anew as another file; after so many failures in a row writes stop.
constexpr std::uint32_t kMostFailures = 3;
constexpr auto kPauseAfterFailure = std::chrono::milliseconds(100);
/// With more cores a flush, a compaction and two writers do not meet.
constexpr unsigned kFewCores = 3;
/// Of compact(), about: where two steps meet, a table of the level below is written twice.
constexpr std::uint64_t kTablesPerStep = 16;

}  // namespace

void Engine::start_background() {
  if (!environment_.runs_in_background || options_.read_only) return;
  if (options_.background_threads == 1) {
    threads_.emplace_back([this] { work_in_background(); });
    return;
  }
  gives_way_ = std::thread::hardware_concurrency() <= kFewCores;
  threads_.emplace_back([this] { flush_in_background(); });
  threads_.emplace_back([this] { compact_in_background(); });
}

/// What is being flushed is flushed; a compaction ends early.
void Engine::stop_background() {
  {
    MutexLock lock(state_mutex_);
    is_stopping_ = true;
    state_changed_.notify_all();
  }
  threads_.clear();  // Joins.
}

void Engine::flush_in_background() {
  while (true) {
    {
      MutexLock lock(state_mutex_);
      while ((sealed_.empty() || write_stop_) && !is_stopping_) state_changed_.wait(state_mutex_);
      if (is_stopping_ && (sealed_.empty() || write_stop_)) return;
    }
    if (flush_if_due()) continue;
    MutexLock lock(state_mutex_);
    if (is_stopping_) return;
    state_changed_.wait_for(state_mutex_, kPauseAfterFailure);
  }
}

void Engine::compact_in_background() {
  lower_own_priority();
  while (true) {
    {
      MutexLock lock(state_mutex_);
      while ((!compaction_wanted_ || write_stop_) && !is_stopping_) {
        if (!state_changed_.wait_for(state_mutex_, std::chrono::seconds(1))) break;
      }
      if (is_stopping_) return;
    }
    while (compact_if_due()) {
    }
    remove_obsolete_files();
    reconsider_residency();
    index_runs();
    MutexLock lock(state_mutex_);
    if (failed_rewrites_ > 0 && !is_stopping_) state_changed_.wait_for(state_mutex_, kPauseAfterFailure);
  }
}

/// One thread for both: a flush waits while a compaction runs.
void Engine::work_in_background() {
  while (true) {
    {
      MutexLock lock(state_mutex_);
      while (((sealed_.empty() && !compaction_wanted_) || write_stop_) && !is_stopping_) {
        if (!state_changed_.wait_for(state_mutex_, std::chrono::seconds(1))) break;
      }
      if (is_stopping_ && (sealed_.empty() || write_stop_)) return;
    }
    run_due_work();
    MutexLock lock(state_mutex_);
    if (failed_rewrites_ > 0 && !is_stopping_) state_changed_.wait_for(state_mutex_, kPauseAfterFailure);
  }
}

void Engine::run_due_work() {
  while (flush_if_due()) {
  }
  while (compact_if_due()) {
  }
  remove_obsolete_files();
  reconsider_residency();
  index_runs();
}

void Engine::run_scheduled_work() {
  if (schedule_ == nullptr) return run_due_work();
  {
    MutexLock lock(state_mutex_);
    if (sealed_.empty() && !compaction_wanted_) return;
  }
  switch (schedule_->draw()) {
    case Schedule::Step::kNothing: return;
    case Schedule::Step::kFlush: (void)flush_if_due(); break;
    case Schedule::Step::kCompaction: (void)compact_if_due(); break;
    case Schedule::Step::kEverything: return run_due_work();
  }
  remove_obsolete_files();
  reconsider_residency();
  index_runs();
}

void Engine::make_way(bool seals) {
  while (!seals && debt_.load(std::memory_order_relaxed) >= kDebtThatStops && compact_if_due()) {
  }
  {
    MutexLock lock(state_mutex_);
    if (sealed_.empty() || (!seals && active_->memory_bytes() < memtable_bytes_)) return;
  }
  while (flush_if_due()) {
  }
}

bool Engine::flush_if_due() {
  {
    MutexLock lock(state_mutex_);
    if (is_left_to_others(flush_runs_)) return false;
  }
  MutexLock flush_lock(flush_mutex_);
  {
    MutexLock lock(state_mutex_);
    if (sealed_.empty() || write_stop_) return false;
    flush_runs_ = true;
  }
  const Status flushed = flush_oldest();
  if (flushed.ok()) prepare_next_journal();
  {
    MutexLock lock(state_mutex_);
    flush_runs_ = false;
    state_changed_.notify_all();  // For a compaction that gives way.
  }
  if (!flushed.ok()) rewrite_failed("flush", flushed);
  return flushed.ok();
}

bool Engine::compact_if_due() {
  {
    MutexLock lock(state_mutex_);
    if (is_left_to_others(compaction_runs_)) return false;
  }
  MutexLock compaction_lock(compaction_mutex_);
  {
    MutexLock lock(state_mutex_);
    compaction_wanted_ = false;
    if (write_stop_ || is_stopping_) return false;
    compaction_runs_ = true;
  }
  // Not under the mutex: it looks at every table. What is flushed meanwhile lies above whatever it picks.
  const std::optional<CompactionPlan> plan = policy_->pick(tree_version()->shape(), policy_options());
  const Status done = plan ? execute(*plan) : Status();
  {
    MutexLock lock(state_mutex_);
    compaction_runs_ = false;
    if (!done.ok()) compaction_wanted_ = true;
    state_changed_.notify_all();
  }
  if (!done.ok() && done.code() != StatusCode::kClosed) rewrite_failed("compaction", done);
  return plan && done.ok();
}

/// Where cores are few, a flush and a compaction at once would leave none to the writer, who waits for the flush before
/// long, and for the compaction only when much is owed to it.
void Engine::give_way_to_flush() {
  if (!gives_way_) return;
  MutexLock lock(state_mutex_);
  while (flush_runs_ && !is_stopping_ && debt_.load(std::memory_order_relaxed) < kDebtThatPresses) {
    state_changed_.wait(state_mutex_);
  }
}

void Engine::rewrite_failed(std::string_view what, const Status& why) {
  bool stops = why.code() == StatusCode::kOutOfSpace || why.code() == StatusCode::kCorruption;
  {
    MutexLock lock(state_mutex_);
    stops |= ++failed_rewrites_ >= kMostFailures;
  }
  if (stops) stop_writes({why.code(), std::string(what) + ": " + std::string(why.message())});
}

Status Engine::compact(const Range& range, const Progress& progress) {
  if (options_.read_only) return Status::not_supported(directory_ + ": the store was opened read-only");
  TAMIS_TRY_STATUS(flush());
  TAMIS_TRY(const RangeGoal goal, goal_for(range));
  std::uint64_t most_left = 0;
  while (true) {
    const std::uint64_t left = bytes_left_for_range(tree_version()->shape(), goal);
    most_left = std::max(most_left, left);
    if (progress && !progress(most_left - left, most_left)) return Status::closed("stopped");
    TAMIS_TRY(const bool has_stepped, step_towards(goal));
    if (!has_stepped) return {};
    // Others may compact now. Who waits for the mutex may not get it, and writers must not suffer from that.
    if (debt_.load(std::memory_order_relaxed) >= kDebtThatPresses) (void)compact_if_due();
  }
}

/// What is in tables now.
Result<RangeGoal> Engine::goal_for(const Range& range) {
  {
    MutexLock lock(state_mutex_);
    if (is_left_to_others(compaction_runs_)) return Status::busy(directory_ + ": a compaction is running");
  }
  // One that runs may have begun when snapshots were alive that are gone now: its tables have smaller numbers.
  MutexLock compaction_lock(compaction_mutex_);
  MutexLock lock(tree_mutex_);
  return RangeGoal{.from = range.from,
                   .to = range.to,
                   .newest = Sequence{manifest_->state().flushed_sequence},
                   .first_new_table = next_number_,
                   .step_bytes = kTablesPerStep * options_.table_bytes};
}

/// False when there was nothing left to do.
Result<bool> Engine::step_towards(const RangeGoal& goal) {
  TAMIS_TRY_STATUS(check_open());
  {
    MutexLock lock(state_mutex_);
    if (is_left_to_others(compaction_runs_)) return Status::busy(directory_ + ": a compaction is running");
  }
  MutexLock compaction_lock(compaction_mutex_);
  {
    MutexLock lock(state_mutex_);
    if (write_stop_) return write_stop_->why;
    compaction_runs_ = true;
  }
  const std::optional<CompactionPlan> plan = pick_for_range(tree_version()->shape(), goal);
  const Status done = plan ? execute(*plan) : Status();
  {
    MutexLock lock(state_mutex_);
    compaction_runs_ = false;
    state_changed_.notify_all();
  }
  if (!done.ok()) return done;
  return plan.has_value();
}

Status Engine::wait_idle() {
  TAMIS_TRY_STATUS(check_open());
  if (options_.read_only) return {};
  if (!environment_.runs_in_background) {
    if (schedule_ == nullptr) {
      index_runs();
      return {};
    }
    run_due_work();
    MutexLock lock(state_mutex_);
    return flush_runs_ || compaction_runs_ ? Status::busy(directory_ + ": a rewrite is running") : Status();
  }
  {
    MutexLock lock(state_mutex_);
    while (!sealed_.empty() || compaction_wanted_ || compaction_runs_) {
      if (write_stop_) return write_stop_->why;
      if (is_closed_ || is_stopping_) return Status::closed(directory_ + ": closed");
      state_changed_.wait(state_mutex_);
    }
  }
  {
    MutexLock lock(state_mutex_);
    while (is_indexing_ && !is_stopping_) state_changed_.wait(state_mutex_);
  }
  index_runs();
  // A flush whose table is installed may still be letting go of its journal.
  const MutexLock flush_lock(flush_mutex_);
  return {};
}

}  // namespace tamis
