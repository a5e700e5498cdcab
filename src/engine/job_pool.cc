#include "engine/job_pool.h"

#include <fmt/core.h>

#include <chrono>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/thread_priority.h"
#include "base/try.h"
#include "engine/background_threads.h"
#include "engine/schedule.h"

namespace tamis {
namespace {

constexpr auto kPauseAfterFailure = std::chrono::milliseconds(100);
constexpr Job kEveryJob[] = {Job::kFlush, Job::kCompaction, Job::kUpkeep};

/// Everything that is due. After each step the most urgent job comes first again.
void run_all(JobSource& source, std::span<const Job> jobs) {
  for (std::size_t i = 0; i < jobs.size();) i = source.run(jobs[i]) ? 0 : i + 1;
}

/// The first thread flushes, so that a flush need not wait for a compaction. The second compacts and keeps up the rest,
/// all others compact.
class ThreadPool final : public JobPool {
 public:
  ThreadPool(std::uint32_t threads, JobSource& source, const Health& health, ChangeSignal& changes)
      : JobPool(threads), source_(source), health_(health), changes_(changes) {}
  ~ThreadPool() override { stop(); }

  void start() override {
    constexpr std::span<const Job> kJobs = kEveryJob;
    if (threads() == 1) {
      begin_worker(kJobs);
      return;
    }
    begin_worker(kJobs.first(1));
    begin_worker(kJobs.subspan(1));
    while (workers_.size() < threads()) begin_worker(kJobs.subspan(1, 1));
  }
  void stop() override { workers_.clear(); }  // Joins.

  Status wait_until(Job /*job*/, const std::function<bool()>& is_done, std::string_view /*otherwise*/) override {
    while (true) {
      const ChangeSignal::Ticket ticket = changes_.ticket();
      if (is_done()) return {};
      TAMIS_TRY_STATUS(health_.check_working());
      changes_.wait(ticket);
    }
  }

 private:
  void begin_worker(std::span<const Job> jobs) {
    workers_.emplace_back([this, jobs] {
      if (jobs.front() != Job::kFlush) lower_own_priority();
      work(jobs);
    });
  }
  void work(std::span<const Job> jobs) {
    while (true) {
      const ChangeSignal::Ticket ticket = changes_.ticket();
      run_all(source_, jobs);
      if (health_.is_closing()) return;
      if (health_.is_retrying()) {
        changes_.wait_for(changes_.ticket(), kPauseAfterFailure);  // The failure has announced itself.
      } else if (jobs.back() == Job::kUpkeep) {
        changes_.wait_for(ticket, source_.time_between_upkeeps());
      } else {
        changes_.wait(ticket);
      }
    }
  }

  JobSource& source_;
  const Health& health_;
  ChangeSignal& changes_;
  std::vector<std::jthread> workers_;
};

/// Works in the callers' threads: after each write everything that is due, or what the schedule draws.
class CallerPool final : public JobPool {
 public:
  CallerPool(const StoreContext& context, JobSource& source, const Health& health)
      : JobPool(0), context_(context), source_(source), health_(health) {
    if (context.environment.schedule_seed) schedule_.emplace(*context.environment.schedule_seed);
  }

  Status wait_until(Job job, const std::function<bool()>& is_done, std::string_view otherwise) override {
    while (!is_done() && source_.run(job)) {
    }
    if (is_done()) return {};
    TAMIS_TRY_STATUS(health_.check_working());
    return Status::busy(fmt::format("{}: {}", context_.directory, otherwise));
  }
  [[nodiscard]] bool may_wait_for_running_job() const override { return !schedule_; }

 private:
  /// What the leader would wait for is done while others may still lead. A flush of many trees may be what makes a
  /// compaction due.
  void work_before_write(bool seals) override {
    if (!schedule_) return;
    const auto has_run = [&](Job job) { return source_.holds_up_writes(job, seals) && source_.run(job); };
    while (has_run(Job::kCompaction) || has_run(Job::kFlush)) {
    }
  }
  void work_after_write() override {
    if (!schedule_) return run_all(source_, kEveryJob);
    if (!source_.is_due(Job::kFlush) && !source_.is_due(Job::kCompaction)) return;
    switch (schedule_->draw()) {
      case Schedule::Step::kNothing: return;
      case Schedule::Step::kFlush: (void)source_.run(Job::kFlush); break;
      case Schedule::Step::kCompaction: (void)source_.run(Job::kCompaction); break;
      case Schedule::Step::kEverything: return run_all(source_, kEveryJob);
    }
    (void)source_.run(Job::kUpkeep);
  }

  const StoreContext& context_;
  JobSource& source_;
  const Health& health_;
  std::optional<Schedule> schedule_;
};

}  // namespace

std::unique_ptr<JobPool> JobPool::make(const StoreContext& context, JobSource& source, const Health& health,
                                       ChangeSignal& changes) {
  if (!context.environment.runs_in_background) return std::make_unique<CallerPool>(context, source, health);
  return std::make_unique<ThreadPool>(background_threads_of(context.options), source, health, changes);
}

}  // namespace tamis
