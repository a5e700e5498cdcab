// What happens behind the writers' backs: one thread flushes, one compacts.
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
  std::optional<CompactionPlan> plan;
  {
    MutexLock lock(state_mutex_);
    if (is_left_to_others(compaction_runs_)) return false;
  }
  MutexLock compaction_lock(compaction_mutex_);
  {
    MutexLock lock(state_mutex_);
    compaction_wanted_ = false;
    if (write_stop_ || is_stopping_) return false;
    plan = policy_->pick(version_->shape(), policy_options());
    if (!plan) {
      state_changed_.notify_all();  // For those who wait until nothing is due.
      return false;
    }
    compaction_runs_ = true;
  }
  const Status done = execute(*plan);
  {
    MutexLock lock(state_mutex_);
    compaction_runs_ = false;
    if (!done.ok()) compaction_wanted_ = true;
    state_changed_.notify_all();
  }
  if (!done.ok() && done.code() != StatusCode::kClosed) rewrite_failed("compaction", done);
  return done.ok();
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
  {
    MutexLock lock(state_mutex_);
    if (is_left_to_others(compaction_runs_)) return Status::busy(directory_ + ": a compaction is running");
  }
  MutexLock compaction_lock(compaction_mutex_);
  {
    MutexLock lock(state_mutex_);
    compaction_runs_ = true;
  }
  Status done = compact_range(range, progress);
  MutexLock lock(state_mutex_);
  compaction_runs_ = false;
  state_changed_.notify_all();
  return done;
}

Status Engine::compact_range(const Range& range, const Progress& progress) {
  // What is flushed meanwhile is not waited for: a pass from level 0 to the last takes a step or two per level.
  for (std::uint64_t step = 0; step < 2 * Shape::kMaxLevels; ++step) {
    TAMIS_TRY_STATUS(check_open());
    std::optional<CompactionPlan> plan;
    std::uint64_t levels = 0;
    {
      MutexLock lock(state_mutex_);
      if (write_stop_) return write_stop_->why;
      plan = pick_for_range(version_->shape(), range.from, range.to);
      levels = version_->shape().levels.size();
    }
    if (progress && !progress(step, step + (plan ? levels : 0))) return Status::closed("stopped");
    if (!plan) break;
    TAMIS_TRY_STATUS(execute(*plan));
  }
  return {};
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
