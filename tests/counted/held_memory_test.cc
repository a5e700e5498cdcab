// What waiting readers and idle threads keep in memory, by the allocator's own count.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/check.h"
#include "io/posix_file_system.h"
#include "support/allocator_bytes.h"
#include "support/scratch_folder.h"
#include "support/stopped_reads.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint64_t kUncounted = 5 * kMiB / 16;  // Handles, small buffers, latencies, the engine itself.
constexpr std::uint64_t kKeys = 400;

std::string key_of(std::uint64_t number) { return fmt::format("key{:05}", number); }

/// In its own folder; everything runs in the calling thread.
class PosixStore {
  const ScratchFolder folder_;  // Outlives the store.

 public:
  explicit PosixStore(Options options) : options_(std::move(options)) { reopen(); }
  void reopen() {
    db.reset();
    bytes_before_ = allocator_bytes_in_use();
    Result<DB> opened =
        DB::open(folder_.path(), options_, {.files = &files, .random_seed = 1, .runs_in_background = false});
    TAMIS_CHECK(opened.ok());
    db.emplace(std::move(*opened));
  }
  void write(std::uint64_t bytes) {
    const std::string value(4000, 'w');
    for (std::uint64_t written = 0; written < bytes; written += value.size()) {
      TAMIS_CHECK(db->put(fmt::format("new{:03}", written / value.size() % 200), value).ok());
    }
  }
  /// Since it was opened.
  [[nodiscard]] std::uint64_t allocated() const { return allocator_bytes_in_use() - bytes_before_; }

  StoppedReads files{posix_file_system()};
  std::optional<DB> db;

 private:
  const Options options_;
  std::uint64_t bytes_before_ = 0;
};

/// A get, a multi_get, a pinned get and a scan step, each in its own thread and stopped at its read.
std::vector<std::jthread> begin_reads(PosixStore& store) {
  static const std::string kValue(1000, 'v');
  std::vector<std::jthread> readers;
  readers.emplace_back([&store] {
    store.files.stop_next_read();
    EXPECT_EQ(*store.db->get(key_of(7)), kValue);
  });
  readers.emplace_back([&store] {
    std::vector<std::string> keys;
    for (std::uint64_t i = 0; i < 100; ++i) keys.push_back(key_of(i));
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    std::vector<std::optional<std::string>> values;
    store.files.stop_next_read();
    EXPECT_TRUE(store.db->multi_get(views, &values).ok());
    for (const std::optional<std::string>& value : values) EXPECT_EQ(value, kValue);
  });
  readers.emplace_back([&store] {
    store.files.stop_next_read();
    EXPECT_EQ((**store.db->get_pinned(key_of(200))).view(), kValue);
  });
  readers.emplace_back([&store] {
    Iterator it = store.db->scan({.from = key_of(0), .to = "key~"});
    store.files.stop_next_read();
    std::uint64_t seen = 0;
    for (; it.valid(); it.next()) ++seen;
    EXPECT_EQ(seen, kKeys);
  });
  return readers;
}

TEST(Memory, P8_ReadersThatWaitForTheDiskKeepNoMemtableThatIsWrittenMeanwhile) {
  PosixStore store({.memory_bytes = 4 * kMiB, .memtable_bytes = kMiB});
  for (std::uint64_t i = 0; i < kKeys; ++i) ASSERT_TRUE(store.db->put(key_of(i), std::string(1000, 'v')).ok());
  ASSERT_TRUE(store.db->compact().ok());
  store.reopen();  // The tables are not in memory.
  store.write(kMiB / 2);
  std::vector<std::jthread> readers = begin_reads(store);
  store.files.wait_until_stopped(static_cast<int>(readers.size()));
  store.write(12 * kMiB);
  EXPECT_TRUE(store.db->flush().ok());
  const std::uint64_t allocated = store.allocated();
  const Stats::Memory memory = store.db->stats().memory;
  constexpr std::uint64_t kOneView = 2 * kMiB;  // A written memtable and a sealed one.
  EXPECT_LE(allocated, memory.budget + kOneView + kUncounted);
  const std::uint64_t shown = memory.memtables + memory.indexes + memory.filters;  // The rest is mapped or tiny.
  EXPECT_LE(allocated, shown + kUncounted) << "memory that stats() does not show";
  store.files.go_on();
}

/// Formerly each put was copied into a thread-local buffer, which stayed as large as the largest.
TEST(Memory, P8_ThreadsThatAreIdleKeepNothingOfWhatTheyPut) {
  constexpr std::uint64_t kThreads = 8;
  PosixStore store({.memory_bytes = 4 * kMiB, .memtable_bytes = kMiB});
  std::atomic<std::uint64_t> idle = 0;
  std::atomic<bool> may_end = false;
  std::vector<std::jthread> threads;
  for (std::uint64_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_TRUE(store.db->put(key_of(i), std::string(kMiB - 1000, 'v')).ok());
      ++idle;
      while (!may_end) std::this_thread::yield();
    });
    while (idle <= i) std::this_thread::yield();
  }
  EXPECT_TRUE(store.db->flush().ok());
  const Stats::Memory memory = store.db->stats().memory;
  EXPECT_LE(store.allocated(), memory.memtables + kUncounted) << "nothing was read, and nothing else may be large";
  may_end = true;
}

}  // namespace
}  // namespace tamis::test
