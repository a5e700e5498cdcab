#include "engine/job_pool.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <string>
#include <thread>

#include "io/memory_file_system.h"

namespace tamis {
namespace {

/// Has this many steps of each job to do.
class CountedJobs final : public JobSource {
 public:
  explicit CountedJobs(ChangeSignal& changes) : changes_(changes) {}

  bool run(Job job) override {
    if (job == Job::kUpkeep) {
      ++upkeeps;
      return false;
    }
    if (job == Job::kCompaction) {
      ++compacting;
      while (is_compaction_held) std::this_thread::yield();
      --compacting;
    }
    std::atomic<int>& left = of(job);
    if (fails || left.fetch_sub(1) <= 0) {
      if (!fails) ++left;
      return false;
    }
    {
      MutexLock lock(mutex_);
      done_ += job == Job::kFlush ? 'f' : 'c';
    }
    if (job == Job::kCompaction) of(Job::kFlush) += flushes_per_compaction;
    changes_.announce();
    return true;
  }
  [[nodiscard]] bool is_due(Job job) const override { return left_[static_cast<std::size_t>(job)] > 0; }
  [[nodiscard]] bool holds_up_writes(Job job, bool seals) const override { return is_due(job) && seals; }

  std::atomic<int>& of(Job job) { return left_[static_cast<std::size_t>(job)]; }

  std::atomic<int> upkeeps = 0;
  std::atomic<int> compacting = 0;
  int flushes_per_compaction = 0;
  std::atomic<bool> fails = false;
  std::atomic<bool> is_compaction_held = false;

  [[nodiscard]] std::string done() const {
    MutexLock lock(mutex_);
    return done_;
  }

 private:
  ChangeSignal& changes_;
  mutable Mutex mutex_;
  std::string done_ GUARDED_BY(mutex_);
  std::array<std::atomic<int>, 3> left_ = {};
};

struct World {
  explicit World(Environment environment = {}, std::uint32_t threads = 2)
      : context("/store", {.background_threads = threads}, (environment.files = &files, environment)),
        pool(JobPool::make(context, jobs, health, changes)) {}
  ~World() {
    health.begin_closing();
    pool->stop();
  }

  Status wait_for(Job job) {
    return pool->wait_until(
        job, [this, job] { return !jobs.is_due(job); }, "it could not be done");
  }

  MemoryFileSystem files;
  StoreContext context;
  ChangeSignal changes;
  Health health{context, changes};
  CountedJobs jobs{changes};
  std::unique_ptr<JobPool> pool;
};

TEST(JobPool, WithoutThreadsAWriteDoesAllThatIsDue) {
  World world({.runs_in_background = false});
  EXPECT_EQ(world.pool->threads(), 0U);
  world.jobs.of(Job::kFlush) = 2;
  world.jobs.of(Job::kCompaction) = 3;
  world.pool->before_write(true);
  EXPECT_EQ(world.jobs.of(Job::kFlush), 2);
  world.pool->after_write();
  EXPECT_FALSE(world.jobs.is_due(Job::kFlush));
  EXPECT_FALSE(world.jobs.is_due(Job::kCompaction));
  EXPECT_EQ(world.jobs.upkeeps, 1);
}

TEST(JobPool, AFlushComesBeforeTheNextCompaction) {
  World world({.runs_in_background = false});
  world.jobs.flushes_per_compaction = 1;
  world.jobs.of(Job::kCompaction) = 3;
  world.pool->after_write();
  EXPECT_EQ(world.jobs.done(), "cfcfcf");
}

TEST(JobPool, WithoutThreadsAWaitDoesTheJobAndIsBusyWhenThatFails) {
  World world({.runs_in_background = false});
  world.jobs.of(Job::kFlush) = 2;
  EXPECT_TRUE(world.wait_for(Job::kFlush).ok());
  world.jobs.of(Job::kFlush) = 1;
  world.jobs.fails = true;
  EXPECT_EQ(world.wait_for(Job::kFlush).code(), StatusCode::kBusy);
  world.health.stop_writes(Status::io_error("disk"));
  EXPECT_EQ(world.wait_for(Job::kFlush).message(), "disk");
}

TEST(JobPool, AScheduleDoesBeforeAWriteWhatThatWouldWaitFor) {
  World world({.runs_in_background = false, .schedule_seed = 1});
  EXPECT_FALSE(world.pool->may_wait_for_running_job());
  world.jobs.of(Job::kFlush) = 2;
  world.pool->before_write(false);
  EXPECT_EQ(world.jobs.of(Job::kFlush), 2);
  world.pool->before_write(true);
  EXPECT_EQ(world.jobs.of(Job::kFlush), 0);
}

TEST(JobPool, TheSameSeedDoesTheSameWork) {
  const auto draw = [](std::uint64_t seed) {
    World world({.runs_in_background = false, .schedule_seed = seed});
    std::string done;
    for (int i = 0; i < 200; ++i) {
      world.jobs.of(Job::kFlush) = 2;
      world.jobs.of(Job::kCompaction) = 2;
      world.pool->after_write();
      done += static_cast<char>('0' + 3 * world.jobs.of(Job::kFlush) + world.jobs.of(Job::kCompaction));
    }
    return done;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(JobPool, ThreadsDoWhatIsDueAndWakeWhoWaits) {
  for (const std::uint32_t threads : {1U, 2U, 5U}) {
    World world({}, threads);
    EXPECT_EQ(world.pool->threads(), threads);
    world.pool->start();
    world.jobs.of(Job::kFlush) = 5;
    world.jobs.of(Job::kCompaction) = 5;
    world.changes.announce();
    EXPECT_TRUE(world.wait_for(Job::kFlush).ok());
    EXPECT_TRUE(world.wait_for(Job::kCompaction).ok());
  }
}

TEST(JobPool, OfTwoThreadsOneFlushesWhileTheOtherCompacts) {
  World world;
  world.jobs.is_compaction_held = true;
  world.jobs.of(Job::kCompaction) = 1;
  world.pool->start();
  world.jobs.of(Job::kFlush) = 3;
  world.changes.announce();
  EXPECT_TRUE(world.wait_for(Job::kFlush).ok());
  EXPECT_TRUE(world.jobs.is_due(Job::kCompaction));
  world.jobs.is_compaction_held = false;
  EXPECT_TRUE(world.wait_for(Job::kCompaction).ok());
}

/// Of four threads, three compact at once.
TEST(JobPool, AllThreadsButTheFirstCompact) {
  World world({}, 4);
  world.jobs.is_compaction_held = true;
  world.jobs.of(Job::kCompaction) = 3;
  world.pool->start();
  world.changes.announce();
  while (world.jobs.compacting < 3) std::this_thread::yield();
  world.jobs.of(Job::kFlush) = 1;
  world.changes.announce();
  EXPECT_TRUE(world.wait_for(Job::kFlush).ok());
  world.jobs.is_compaction_held = false;
  EXPECT_TRUE(world.wait_for(Job::kCompaction).ok());
}

TEST(JobPool, AWaitEndsWhenWritesStop) {
  World world;
  world.jobs.fails = true;
  world.jobs.of(Job::kFlush) = 1;
  world.pool->start();
  std::jthread breaks([&] { world.health.stop_writes(Status::io_error("disk")); });
  EXPECT_EQ(world.wait_for(Job::kFlush).message(), "disk");
}

TEST(JobPool, StoppingFlushesWhatIsDue) {
  World world;
  world.pool->start();
  world.jobs.of(Job::kFlush) = 3;
  world.health.begin_closing();
  world.pool->stop();
  EXPECT_FALSE(world.jobs.is_due(Job::kFlush));
}

}  // namespace
}  // namespace tamis
