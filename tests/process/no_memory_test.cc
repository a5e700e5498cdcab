// Running out of memory: a status or the end of the program, never an exception, a wrong answer or a store that does
// not open.
//
// Allocations of this program can be made to fail: its operators new forward everything unless a child was told
// otherwise.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <new>
#include <optional>

#include "crash/store_ledger.h"
#include "process/child_process.h"
#include "process/held_allocation.h"
#include "tamis/db.h"

namespace {

/// Which allocations fail.
struct Shortage {
  static constexpr std::int64_t kNever = std::int64_t{1} << 60;

  std::atomic<std::int64_t> left = kNever;  // This many of those that count succeed.
  std::size_t smallest = 0;                 // Smaller ones do not count. Without any memory, nothing could report it.
  bool once = false;                        // Only the first one fails.
  bool is_in_store = false;                 // The test's own never fail.

  bool hits(std::size_t size) {
    if (left.load(std::memory_order_relaxed) == kNever || size < smallest || !is_in_store) return false;
    const std::int64_t before = left.fetch_sub(1, std::memory_order_relaxed);
    return once ? before == 0 : before <= 0;
  }
  /// Ends it; true if one has failed.
  bool end() { return left.exchange(kNever) < 0; }
};
Shortage shortage;

template <typename Call>
auto in_store(Call call) {
  shortage.is_in_store = true;
  auto result = call();
  shortage.is_in_store = false;
  return result;
}

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  tamis::test::HeldAllocation::check();
  return shortage.hits(size) ? nullptr : std::malloc(size);
}
void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) return memory;
  throw std::bad_alloc();
}
// Not inlined: g++ would compare this free with the caller's new and warn of a mismatch.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace tamis::test {
namespace {

constexpr int kThrew = 9;
constexpr int kWrongAnswer = 8;
constexpr int kWrongStatus = 7;
constexpr std::uint64_t kKeys = 40;

Options small_options() {
  Options options;
  options.memory_bytes = 4 << 20;
  options.memtable_bytes = 64 << 10;
  options.table_bytes = 64 << 10;
  options.block_bytes = 1024;
  options.fanout = 2;
  return options;
}

/// Commit n sets its key and the counter to n.
std::string key_of(std::uint64_t commit) { return fmt::format("key{:02}", commit % kKeys); }
std::string value_of(std::uint64_t commit, std::size_t bytes) {
  return fmt::format("{:08}", commit) + std::string(bytes, static_cast<char>('a' + commit % 26));
}

struct Load {
  Options options;
  std::uint64_t commits = 200;
  std::size_t value_bytes = 600;
};

Status commit(DB& db, std::uint64_t number, const Load& load) {
  Batch batch;
  batch.put(key_of(number), value_of(number, load.value_bytes));
  batch.put("counter", fmt::format("{}", number));
  return in_store([&] { return db.write(batch); });
}

/// Reports what is acknowledged; every answer is right or an error.
int write_and_read(DB& db, const Load& load, const ChildProcess::Teller& teller) {
  const auto allowed = [](const Status& status) {
    return status.ok() || status.code() == StatusCode::kOutOfSpace || status.code() == StatusCode::kBusy;
  };
  for (std::uint64_t number = 1; number <= load.commits; ++number) {
    const Status written = commit(db, number, load);
    if (!allowed(written)) return kWrongStatus;
    if (!written.ok()) break;  // It may or may not be there after a reopening.
    teller.tell(number);
    const std::uint64_t earlier = number - number % kKeys / 2;
    const std::string key = key_of(earlier);
    const Result<std::optional<std::string>> value = in_store([&] { return db.get(key); });
    if (!allowed(value.status())) return kWrongStatus;
    if (value.ok() && *value != value_of(earlier, load.value_bytes)) return kWrongAnswer;
    if (number % 50 != 0) continue;
    if (!allowed(in_store([&] { return db.compact(); }))) return kWrongStatus;
    Iterator walk = in_store([&] { return db.scan(); });
    std::uint64_t found = 0;
    for (; walk.valid(); in_store([&] { return walk.next(), true; })) ++found;
    if (!allowed(walk.status())) return kWrongStatus;
    if (walk.status().ok() && found != std::min(number, kKeys) + 1) return kWrongAnswer;
  }
  return 0;
}

struct Outcome {
  bool was_short = false;    ///< Memory ran out.
  bool was_stopped = false;  ///< The program was stopped.
  std::uint64_t acknowledged = 0;
};

constexpr int kWasShort = 1;

/// A child that is short of memory after `begin`.
Outcome run_out(const std::string& path, const Load& load, const std::function<void()>& begin) {
  ChildProcess child([&](const ChildProcess::Teller& teller) {
    try {
      if (std::freopen("/dev/null", "w", stderr) == nullptr) return 2;  // The message of std::terminate.
      begin();
      Result<DB> db = in_store([&] { return DB::open(path, load.options, {.runs_in_background = false}); });
      const int code = db.ok() ? write_and_read(*db, load, teller) : 0;
      const bool was_short = shortage.end();
      return code != 0 ? code : was_short ? kWasShort : 0;
    } catch (...) {
      (void)shortage.end();
      return shortage.is_in_store ? kThrew : kWasShort;  // A limit of the machine also hits the test's own strings.
    }
  });
  Outcome outcome;
  while (const std::optional<std::uint64_t> number = child.next()) outcome.acknowledged = *number;
  const int ended = child.wait();
  EXPECT_TRUE(ended == 0 || ended == kWasShort || ended == -SIGABRT) << "ended with " << ended;
  outcome.was_stopped = ended == -SIGABRT;
  outcome.was_short = ended != 0;
  Result<DB> db = DB::open(path, load.options);
  EXPECT_TRUE(db.ok()) << db.status().to_text();
  if (!db.ok()) return outcome;
  Content found;
  EXPECT_EQ(read_all(*db, {}, found), "");
  const std::uint64_t last = found.empty() ? 0 : std::stoull(found["counter"]);
  EXPECT_TRUE(last == outcome.acknowledged || last == outcome.acknowledged + 1) << last << ": " << outcome.acknowledged;
  for (std::uint64_t number = last > kKeys ? last - kKeys + 1 : 1; number <= last; ++number) {
    EXPECT_EQ(found[key_of(number)], value_of(number, load.value_bytes)) << number;
  }
  return outcome;
}

/// The numbers of runs: all that ran short, and of these those in which the program was stopped.
struct Runs {
  int all = 0;
  int stopped = 0;
};

Runs fail_allocations(std::size_t smallest, bool once) {
  const Load load{small_options()};
  Runs runs;
  Outcome outcome{.was_short = true};
  for (std::int64_t left = 1; outcome.was_short && !testing::Test::HasFailure(); left += 1 + left / 2) {
    SCOPED_TRACE(fmt::format("of allocations from {} bytes on, {} succeed; once: {}", smallest, left, once));
    const ScratchFolder scratch;
    outcome = run_out(scratch.path(), load, [&] {
      shortage.smallest = smallest;
      shortage.once = once;
      shortage.left = left;
    });
    runs.all += outcome.was_short ? 1 : 0;
    runs.stopped += outcome.was_stopped ? 1 : 0;
  }
  fmt::print("from {} bytes on{}: {} runs, the program was stopped in {}\n", smallest, once ? ", once" : "", runs.all,
             runs.stopped);
  return runs;
}

TEST(NoMemory, AnyAllocationThatFailsIsToldOrEndsTheProgramAndNothingIsLost) {
  EXPECT_GT(fail_allocations(64, false).all, 10);
  EXPECT_GT(fail_allocations(64, true).all, 10);
  const Runs large = fail_allocations(700, true);  // A value and more.
  EXPECT_LT(large.stopped, large.all);
}

/// One put beside a live transaction that has read its key, with one failed allocation: the n-th of the put.
int put_beside_a_transaction(const std::string& path, std::int64_t n) {
  Result<DB> db = DB::open(path, small_options(), {.runs_in_background = false});
  if (!db.ok()) return kWrongStatus;
  {
    const Transaction other = db->begin();  // Buffers have grown, and the window is used.
    for (int i = 0; i < 100; ++i) {
      if (!db->put(fmt::format("key{}", i), "1").ok()) return kWrongStatus;
    }
  }
  Transaction tx = db->begin();
  const std::string key = "a key that is too long to stand in a string of the window";
  if (!tx.get(key).ok() || !tx.put("other", "1").ok()) return kWrongStatus;
  shortage.smallest = 64;
  shortage.once = true;
  shortage.left = n;
  const Status written = in_store([&] { return db->put(key, "2"); });
  const bool was_short = shortage.end();
  const Status committed = tx.commit();
  if (!written.ok() && written.code() != StatusCode::kOutOfSpace) return kWrongStatus;
  if (committed.code() != (written.ok() ? StatusCode::kConflict : StatusCode::kOk)) return kWrongAnswer;
  return was_short ? kWasShort : 0;
}

TEST(NoMemory, Rule39_ACommitThatCannotBeRecordedIsWrittenAndTransactionsConflict) {
  int ended = kWasShort;
  int runs = 0;
  for (std::int64_t n = 0; ended == kWasShort; ++n) {
    const ScratchFolder scratch;
    ChildProcess child([&](const ChildProcess::Teller&) { return put_beside_a_transaction(scratch.path(), n); });
    ended = child.wait();
    ++runs;
  }
  EXPECT_EQ(ended, 0);
  EXPECT_GT(runs, 2) << "nothing was allocated";
}

std::uint64_t mapped_bytes() {
  std::ifstream file("/proc/self/statm");
  std::uint64_t pages = 0;
  file >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// A limit of the machine, hit by a memtable that grows far beyond it.
TEST(NoMemory, ALimitOfTheMachineIsToldOrEndsTheProgramAndNothingIsLost) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's own memory has no limit";
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  GTEST_SKIP() << "the sanitizer's own memory has no limit";
#endif
#endif
  std::uint64_t fewest = 400;
  Load load{Options{}, fewest, 100'000};
  load.options.memory_bytes = 256 << 20;
  load.options.memtable_bytes = 32 << 20;
  for (std::uint64_t more = 1 << 20; more < (48 << 20); more = more * 5 / 3) {
    SCOPED_TRACE(fmt::format("{} bytes", more));
    const ScratchFolder scratch;
    const auto limit = [&] {
      const rlimit space{.rlim_cur = mapped_bytes() + more, .rlim_max = RLIM_INFINITY};
      if (::setrlimit(RLIMIT_AS, &space) != 0) std::abort();
    };
    fewest = std::min(fewest, run_out(scratch.path(), load, limit).acknowledged);
    if (HasFailure()) return;
  }
  EXPECT_LT(fewest, load.commits) << "the limit was never reached";
}

}  // namespace
}  // namespace tamis::test
