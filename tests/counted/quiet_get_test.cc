// A get into a large enough buffer makes no allocation, no system call and takes no lock. A scan makes a few
// allocations, however long it is.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <tamis/tamis.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string_view>
#include <vector>

#include "counted/counted_store.h"
#include "counted/lock_count.h"
#include "support/allocation_count.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 5000;

/// Keys below kKeys in tables, the next ten in the memtable; block caches, indexes and filters warm.
void warm(CountedStore& store, std::string& value) {
  store.put_numbers(0, kKeys, 2);
  ASSERT_TRUE(store.db->flush().ok());
  store.put_numbers(1, kKeys, 2);
  ASSERT_TRUE(store.db->flush().ok());
  store.put_numbers(kKeys, kKeys + 10, 1);
  value.reserve(1000);
  for (std::uint64_t i = 0; i < kKeys + 10; ++i) {
    ASSERT_TRUE(*store.db->get(CountedStore::present_key(i), &value));
    ASSERT_FALSE(*store.db->get(CountedStore::absent_key(i), &value));
  }
}

/// Hits in a memtable, hits in cached blocks, and misses. Returns how many answers were wrong.
std::uint64_t wrong_answers(const DB& db, const std::vector<std::string>& present,
                            const std::vector<std::string>& absent, std::string& value) {
  std::uint64_t wrong = 0;
  for (const std::string& key : present) {
    const Result<bool> found = db.get(key, &value);
    wrong += found.ok() && *found && !value.empty() ? 0 : 1;
  }
  for (const std::string& key : absent) {
    const Result<bool> found = db.get(key, &value);
    wrong += found.ok() && !*found ? 0 : 1;
  }
  return wrong;
}

struct Keys {
  Keys() {
    for (std::uint64_t i = 0; i < kKeys + 10; i += i < kKeys ? 3 : 1) {
      present.push_back(CountedStore::present_key(i));
      absent.push_back(CountedStore::absent_key(i));
    }
  }
  std::vector<std::string> present;
  std::vector<std::string> absent;
};

Options quiet_options() {
  Options options;
  options.compaction = "manual";
  return options;
}

TEST(QuietGet, AllocatesNothingAndTouchesNoFile) {
  CountedStore store(quiet_options());
  std::string value;
  warm(store, value);
  const Keys keys;
  std::uint64_t wrong = 0;
  const std::uint64_t calls = store.counting.calls();
  const std::uint64_t allocated =
      allocations_when_repeated([&] { wrong += wrong_answers(*store.db, keys.present, keys.absent, value); });
  EXPECT_EQ(allocated, 0U);
  EXPECT_EQ(wrong, 0U);
  EXPECT_EQ(store.counting.calls(), calls);
}

/// The values are too long for a std::string's inline buffer: a new string per answer would allocate.
TEST(QuietGet, OfManyKeysAllocatesNothing) {
  CountedStore store(quiet_options());
  std::string value;
  warm(store, value);
  const Keys keys;
  const std::string long_value(100, 'v');
  for (const std::string& key : keys.present) ASSERT_TRUE(store.db->put(key, long_value).ok());
  ASSERT_TRUE(store.db->flush().ok());
  ASSERT_TRUE(store.db->put(keys.present.back(), long_value).ok());
  for (const std::string& key : keys.present) ASSERT_TRUE(*store.db->get(key, &value));
  const std::vector<std::string_view> present(keys.present.begin(), keys.present.end());
  std::vector<std::optional<std::string>> values;
  std::uint64_t wrong = 0;
  const std::uint64_t allocated = allocations_when_repeated([&] {
    if (!store.db->multi_get(present, &values).ok()) ++wrong;
    for (const std::optional<std::string>& found : values) wrong += found && *found == long_value ? 0 : 1;
  });
  EXPECT_EQ(allocated, 0U);
  EXPECT_EQ(wrong, 0U);
}

/// Copying such a value would allocate.
TEST(QuietGet, ExistsAllocatesNothingWhateverTheLengthOfTheValue) {
  CountedStore store(quiet_options());
  std::string value;
  warm(store, value);
  const Keys keys;
  for (const std::string& key : keys.present) ASSERT_TRUE(store.db->put(key, std::string(1000, 'v')).ok());
  ASSERT_TRUE(store.db->flush().ok());
  ASSERT_TRUE(store.db->put(keys.present.front(), std::string(1000, 'v')).ok());
  std::uint64_t wrong = 0;
  const auto ask = [&] {
    for (const std::string& key : keys.present) wrong += store.db->exists(key).value_or(false) ? 0 : 1;
    for (const std::string& key : keys.absent) wrong += store.db->exists(key).value_or(true) ? 1 : 0;
  };
  EXPECT_EQ(allocations_when_repeated(ask), 0U);
  EXPECT_EQ(wrong, 0U);
  const auto get = [&] { wrong += store.db->get(keys.present.front())->has_value() ? 0 : 1; };
  EXPECT_GT(allocations_when_repeated(get), 0U) << "the values are too short to tell";
}

/// Up to 64 KiB, and with a thread-local string in between. The store's own threads may allocate now and then.
TEST(QuietGet, OfCIntoABufferAllocatesNothing) {
  const ScratchFolder folder;
  tamis_t* db = nullptr;
  ASSERT_EQ(tamis_open(folder.path().c_str(), nullptr, &db, nullptr), TAMIS_OK);
  const std::string value(60'000, 'v');
  ASSERT_EQ(tamis_put(db, nullptr, nullptr, "key", 3, value.data(), value.size(), nullptr), TAMIS_OK);
  std::string buffer(value.size(), '-');
  std::size_t size = 0;
  bool found = false;
  std::uint64_t least = ~std::uint64_t{0};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t allocated = allocations_when_repeated([&] {
      (void)tamis_get_into(db, nullptr, nullptr, "key", 3, buffer.data(), buffer.size(), &size, &found, nullptr);
    });
    least = std::min(least, allocated);
  }
  EXPECT_EQ(least, 0U);
  EXPECT_TRUE(found && size == value.size() && buffer == value);
  tamis_db_free(db);
}

TEST(QuietGet, TakesNoLock) {
  CountedStore store(quiet_options());
  std::string value;
  const std::uint64_t when_nothing_was_done = locks_taken();
  warm(store, value);
  ASSERT_GT(locks_taken(), when_nothing_was_done) << "locks are not counted here";
  const Keys keys;
  const std::uint64_t before = locks_taken();
  EXPECT_EQ(wrong_answers(*store.db, keys.present, keys.absent, value), 0U);
  EXPECT_EQ(locks_taken(), before);
}

TEST(QuietGet, OfAPinnedValueAllocatesOnceAndTakesNoLock) {
  CountedStore store(quiet_options());
  std::string value;
  warm(store, value);
  const Keys keys;
  std::uint64_t wrong = 0;
  const auto get_present = [&] {
    for (const std::string& key : keys.present) wrong += store.db->get_pinned(key)->has_value() ? 0 : 1;
  };
  const auto get_absent = [&] {
    for (const std::string& key : keys.absent) wrong += store.db->get_pinned(key)->has_value() ? 1 : 0;
  };
  EXPECT_EQ(allocations_when_repeated(get_present), keys.present.size());
  EXPECT_EQ(allocations_when_repeated(get_absent), 0U);
  const std::uint64_t before = locks_taken();
  get_present();
  get_absent();
  EXPECT_EQ(locks_taken(), before);
  EXPECT_EQ(wrong, 0U);
}

/// From now on the kernel kills this process at any system call but exit. The strict mode would also forbid to read the
/// processor's clock, which is no call.
bool forbid_system_calls() {
  sock_filter rules[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                         BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                         BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)};
  const sock_fprog program = {.len = std::size(rules), .filter = rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// A child asks the kernel to kill it at any system call but exit, and then gets.
TEST(QuietGet, MakesNoSystemCall) {
  const ScratchFolder folder;
  constexpr int kNotAllowed = 77;
  std::fflush(nullptr);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Result<DB> db = DB::open(folder.path(), quiet_options(), {.runs_in_background = false});
    bool is_ready = db.ok();
    const Keys keys;
    std::string value;
    value.reserve(1000);
    for (std::size_t i = 0; is_ready && i < keys.present.size(); ++i) {
      is_ready = db->put(keys.present[i], "value").ok() && (i + 10 != keys.present.size() || db->flush().ok());
    }
    is_ready = is_ready && wrong_answers(*db, keys.present, keys.absent, value) == 0;
    if (!is_ready) _exit(1);
    if (!forbid_system_calls()) _exit(kNotAllowed);
    const std::uint64_t wrong = wrong_answers(*db, keys.present, keys.absent, value);
    syscall(SYS_exit, wrong == 0 ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotAllowed) GTEST_SKIP() << "seccomp is not available";
  EXPECT_FALSE(WIFSIGNALED(status)) << "a system call was made";
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

/// Reads `entries` entries, from a key too long for a std::string's inline buffer. Returns how many there were.
std::uint64_t scan(const DB& db, std::uint64_t entries) {
  static const std::string from = CountedStore::absent_key(100) + std::string(30, 'x');
  std::uint64_t seen = 0;
  for (Iterator it = db.scan({.from = from}); seen < entries && it.valid(); it.next()) {
    seen += it.value().empty() ? 0 : 1;
  }
  return seen;
}

std::uint64_t allocations_of_scan(const DB& db, std::uint64_t entries) {
  std::uint64_t seen = 0;
  const std::uint64_t allocated = allocations_when_repeated([&] { seen = scan(db, entries); });
  EXPECT_EQ(seen, entries);
  return allocated;
}

/// The iterator, its list of runs, the table iterator, and the bound.
TEST(QuietScan, OfOneRunAllocatesFourTimesHoweverFarItGoes) {
  CountedStore store(quiet_options());
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->flush().ok());
  ASSERT_EQ(store.runs(), 1U);
  for (const std::uint64_t entries : {1, 2, 100, 4000}) EXPECT_EQ(allocations_of_scan(*store.db, entries), 4U);
}

/// Plus an iterator for each further table, the merge and its tree.
TEST(QuietScan, OfSeveralRunsAllocatesOncePerRunMore) {
  CountedStore store(quiet_options());
  for (std::uint64_t run = 0; run < 4; ++run) {
    store.put_numbers(run, kKeys, 4);
    ASSERT_TRUE(store.db->flush().ok());
  }
  ASSERT_EQ(store.runs(), 4U);
  for (const std::uint64_t entries : {1, 2, 100, 4000}) EXPECT_EQ(allocations_of_scan(*store.db, entries), 9U);
}

TEST(QuietScan, ARangeForAllocatesNothing) {
  CountedStore store(quiet_options());
  for (std::uint64_t run = 0; run < 3; ++run) {
    store.put_numbers(run, kKeys, 3);
    ASSERT_TRUE(store.db->flush().ok());
  }
  for (const bool reverse : {false, true}) {
    Iterator it = store.db->scan({.reverse = reverse});
    std::uint64_t seen = 0;
    const std::uint64_t allocated = allocations_when_repeated([&] {
      reverse ? it.seek_to_last() : it.seek_to_first();
      for (const auto& [key, value] : it) seen += key.empty() || value.empty() ? 0 : 1;
    });
    EXPECT_EQ(allocated, 0U);
    EXPECT_EQ(seen, 2 * kKeys);
  }
}

TEST(QuietScan, MovesBothWaysWithoutAllocating) {
  CountedStore store(quiet_options());
  for (std::uint64_t run = 0; run < 3; ++run) {
    store.put_numbers(run, kKeys, 3);
    ASSERT_TRUE(store.db->flush().ok());
  }
  Iterator it = store.db->scan({});
  const std::uint64_t allocated = allocations_when_repeated([&] {
    for (it.seek_to_first(); it.valid(); it.next()) continue;
    for (it.seek_to_last(); it.valid(); it.previous()) continue;
    it.seek_to_first();
    for (int i = 0; i < 500; ++i) {
      for (int steps = 0; steps < 7; ++steps) it.next();
      for (int steps = 0; steps < 6; ++steps) it.previous();
    }
    EXPECT_EQ(it.key(), CountedStore::present_key(500));
  });
  EXPECT_EQ(allocated, 0U);
}

}  // namespace
}  // namespace tamis::test
