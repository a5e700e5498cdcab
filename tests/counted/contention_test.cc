// Counts the mutexes that an operation takes, and how often two threads that read different blocks take the same one.
// On the machine's file system: the one in memory has mutexes of its own.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "counted/counted_store.h"
#include "counted/lock_count.h"
#include "io/posix_file_system.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

/// More blocks than the cache holds, each with one entry, in one run of several tables.
struct ColdStore {
  static constexpr std::uint64_t kKeys = 14'000;

  ColdStore() : counting(posix_file_system()) {
    Options options;
    options.compaction = "manual";
    options.memory_bytes = std::uint64_t{40} << 20;
    options.memtable_bytes = std::uint64_t{4} << 20;
    options.table_bytes = std::uint64_t{8} << 20;
    Result<DB> opened =
        DB::open(folder.path(), options, {.files = &counting, .random_seed = 7, .runs_in_background = false});
    TAMIS_CHECK(opened.ok());
    db.emplace(std::move(*opened));
    const std::string long_value(3900, 'v');
    for (std::uint64_t i = 0; i < kKeys; ++i) TAMIS_CHECK(db->put(CountedStore::present_key(i), long_value).ok());
    TAMIS_CHECK(db->compact().ok());
    for (std::uint64_t i = 0; i < kKeys; ++i) get(i);  // Indexes and filters are in memory, and the cache is full.
  }
  void get(std::uint64_t i) {
    const std::uint64_t before = counting.reads();
    const Result<bool> found = db->get(CountedStore::present_key(i), &value);
    TAMIS_CHECK(found.ok() && *found);
    cold_gets += counting.reads() > before ? 1 : 0;
  }

  const ScratchFolder folder;
  CountingFileSystem counting;
  std::optional<DB> db;
  std::string value;
  std::uint64_t cold_gets = 0;
};

std::vector<const void*> locks_of(const std::function<void()>& work) {
  const RecordedLocks recorded;
  work();
  return recorded.taken();
}

TEST(Contention, AColdGetTakesFewMutexes) {
  ColdStore store;
  store.cold_gets = 0;
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < 2000; ++i) taken += locks_of([&] { store.get(i); }).size();
  ASSERT_EQ(store.cold_gets, 2000U);
  fmt::print("{:.2f} mutexes per cold get\n", static_cast<double>(taken) / 2000);
  EXPECT_LT(taken, 6U * 2000);
}

/// Each thread reads its own half of the blocks. They need not run at once: what counts is whether they could meet.
TEST(Contention, ColdGetsOfTwoThreadsRarelyTakeTheSameMutex) {
  constexpr std::uint64_t kGets = 2000;
  ColdStore store;
  store.cold_gets = 0;
  std::vector<std::set<const void*>> first(kGets);
  const auto get_all = [&](std::uint64_t from,
                           const std::function<void(std::uint64_t, std::vector<const void*>)>& see) {
    std::thread([&] {
      for (std::uint64_t i = 0; i < kGets; ++i) see(i, locks_of([&] { store.get(from + i); }));
    }).join();
  };
  get_all(0, [&](std::uint64_t i, const std::vector<const void*>& locks) { first[i] = {locks.begin(), locks.end()}; });
  std::uint64_t met = 0;
  get_all(ColdStore::kKeys / 2, [&](std::uint64_t i, const std::vector<const void*>& locks) {
    met += std::ranges::any_of(locks, [&](const void* lock) { return first[i].contains(lock); }) ? 1 : 0;
  });
  ASSERT_EQ(store.cold_gets, 2 * kGets);
  fmt::print("{:.1f} % of cold gets could meet another\n", 100.0 * static_cast<double>(met) / kGets);
  EXPECT_LT(met, kGets * 35 / 100) << "the parts of the cache, of which there are at least four";
}

TEST(Contention, AScanTakesMutexesForBlocksNotForEntries) {
  CountedStore store([] {
    Options options;
    options.compaction = "manual";
    return options;
  }());
  store.put_numbers(0, 5000, 1);
  ASSERT_TRUE(store.db->flush().ok());
  std::uint64_t entries = 0;
  const auto scan = [&] {
    for (Iterator it = store.db->scan({}); it.valid(); it.next()) ++entries;
  };
  scan();
  ASSERT_EQ(entries, 5000U);
  const std::uint64_t of_scan = locks_of(scan).size();
  const std::uint64_t of_begin = locks_of([&] { EXPECT_TRUE(store.db->scan({}).valid()); }).size();
  const std::uint64_t blocks = (5000 * 30) / 4096;  // At least.
  fmt::print("{} mutexes to begin and end a scan, {} to read 5000 entries\n", of_begin, of_scan);
  EXPECT_LT(of_scan, of_begin + 4 * blocks);
}

TEST(Contention, APutAloneTakesNoMutex) {
  for (const bool syncs : {false, true}) {
    const ScratchFolder folder;
    Result<DB> db = DB::open(folder.path(), {}, {.random_seed = 7});  // With threads: else a put looks for work.
    ASSERT_TRUE(db.ok());
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(db->put("first", "value", {.sync = syncs}).ok());
    const auto put_many = [&] {
      for (int i = 0; i < 1000; ++i) ASSERT_TRUE(db->put(CountedStore::present_key(i), "value", {.sync = syncs}).ok());
    };
    const std::size_t taken = locks_of(put_many).size();
    fmt::print("{} mutexes in 1000 puts, sync {}\n", taken, syncs);
    EXPECT_LE(taken, 10U) << "of the windows of the journal";
  }
}

/// Most of them are in groups, led by one of them.
TEST(Contention, EightWritersThatSyncTakeNoMutex) {
  constexpr int kEach = 300;
  const ScratchFolder folder;
  Result<DB> db = DB::open(folder.path(), {}, {.random_seed = 7});
  ASSERT_TRUE(db.ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(db->put("first", "value", {.sync = true}).ok());
  std::atomic<std::uint64_t> taken = 0;
  std::vector<std::jthread> writers;
  for (std::uint64_t t = 0; t < 8; ++t) {
    writers.emplace_back([&, t] {
      taken += locks_of([&] {
                 for (int i = 0; i < kEach; ++i) {
                   ASSERT_TRUE(db->put(CountedStore::present_key(t), "value", {.sync = true}).ok());
                 }
               }).size();
    });
  }
  writers.clear();
  fmt::print("{} mutexes in {} puts, {} records\n", taken.load(), 8 * kEach, db->stats().journal.records);
  EXPECT_LE(taken, 100U) << "of memory and of the windows of the journal";
}

}  // namespace
}  // namespace tamis::test
