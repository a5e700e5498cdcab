// Who does a store's background work, and when.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/change_signal.h"
#include "engine/health.h"
#include "engine/store_context.h"
#include "tamis/status.h"

namespace tamis {

/// Background work, by priority.
enum class Job : std::uint8_t {
  kFlush,       ///< A sealed memtable becomes a table.
  kCompaction,  ///< Tables are merged or moved.
  kUpkeep,      ///< Obsolete files, residency of metadata, counters, the run index. Due from time to time.
};

/// Knows what is due and does it.
class JobSource {
 public:
  virtual ~JobSource() = default;
  /// Does one step; false when nothing was due or it failed. Upkeep is one step and returns false.
  virtual bool run(Job job) = 0;
  [[nodiscard]] virtual bool is_due(Job job) const = 0;
  /// Whether a write, or one that seals the memtable, would wait for this job now.
  [[nodiscard]] virtual bool holds_up_writes(Job job, bool seals) const = 0;
  /// How long upkeep may wait if nothing changes.
  [[nodiscard]] virtual std::chrono::milliseconds time_between_upkeeps() const { return std::chrono::seconds(1); }
};

/// Runs the jobs of a JobSource: on its own threads, or in the calls of the store's users. The second is for tests,
/// which then decide what happens when; the rest of the engine does not know the difference.
///
/// Threads: any, except as said.
class JobPool {
 public:
  /// On threads, unless the environment says otherwise. All must outlive the pool.
  static std::unique_ptr<JobPool> make(const StoreContext& context, JobSource& source, const Health& health,
                                       ChangeSignal& changes);
  virtual ~JobPool() = default;
  JobPool(const JobPool&) = delete;
  JobPool& operator=(const JobPool&) = delete;

  /// Once, when the store is open.
  virtual void start() {}
  /// After Health::begin_closing. A flush that is due is done, a compaction ends early.
  virtual void stop() {}

  /// Returns when `is_done`, which the job brings about; before that with an error when nothing would, which then says
  /// `otherwise` or why the store has stopped.
  virtual Status wait_until(Job job, const std::function<bool()>& is_done, std::string_view otherwise) = 0;

  /// Around every write. Without threads these do what is due.
  void before_write(bool seals) {
    if (threads_ == 0) [[unlikely]]
      work_before_write(seals);
  }
  void after_write() {
    if (threads_ == 0) [[unlikely]]
      work_after_write();
  }
  [[nodiscard]] std::uint32_t threads() const { return threads_; }
  /// False: a job that is running may stand still until the caller returns, so a call that needs its turn is kBusy.
  [[nodiscard]] virtual bool may_wait_for_running_job() const { return true; }

 protected:
  explicit JobPool(std::uint32_t threads) : threads_(threads) {}

 private:
  virtual void work_before_write(bool /*seals*/) {}
  virtual void work_after_write() {}

  const std::uint32_t threads_;
};

}  // namespace tamis
