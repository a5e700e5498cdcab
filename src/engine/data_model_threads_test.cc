// Range deletes and expiry with readers and writers of many threads, beside flushes and compactions.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <charconv>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "base/random.h"
#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

constexpr int kKeys = 50;

std::string key_of(int i) { return fmt::format("key{:03}", i); }

std::uint64_t number_in(std::string_view value) {
  std::uint64_t number = 0;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

Options small_options() {
  Options options{.memory_bytes = 4 << 20, .memtable_bytes = 64 << 10, .table_bytes = 64 << 10};
  options.fanout = 2;
  return options;
}

/// Runs readers until the writer has ended.
template <typename Write, typename... Read>
void run_beside(Write write, Read... read) {
  std::atomic<bool> ends = false;
  std::vector<std::jthread> readers;
  (readers.emplace_back([&ends, read] {
    while (!ends) read();
  }),
   ...);
  write();
  ends = true;
}

/// Each round removes all keys and puts the i-th one unless i + 1 divides its number: every look finds the keys of one
/// round, and none that was removed.
TEST(RangeDeleteThreads, Rule26_EveryReadIsOfOneRound) {
  constexpr std::uint64_t kRounds = 300;
  MemoryFileSystem files;
  DB db = *DB::open("/store", small_options(), {.files = &files, .random_seed = 1});
  const auto has = [](std::uint64_t round, int i) { return round % static_cast<std::uint64_t>(i + 1) != 0; };
  const auto write = [&](std::uint64_t round) {
    Batch batch;
    batch.remove_range("key", round % 3 == 0 ? std::optional<std::string_view>() : "kez");
    batch.put("key", fmt::format("{}", round));
    for (int i = 0; i < kKeys; ++i) {
      if (has(round, i)) batch.put(key_of(i), fmt::format("{} {}", round, std::string(100, 'v')));
    }
    ASSERT_TRUE(db.write(batch).ok());
  };
  write(1);
  const auto scan = [&](bool is_reverse) {
    std::vector<std::uint64_t> seen;
    Iterator at = db.scan({.reverse = is_reverse});
    for (; at.valid(); at.advance()) seen.push_back(number_in(at.value()));
    ASSERT_TRUE(at.status().ok()) << at.status().to_text();
    std::size_t wanted = 1;
    for (int i = 0; i < kKeys; ++i) wanted += has(seen.front(), i) ? 1U : 0U;
    EXPECT_EQ(seen, std::vector<std::uint64_t>(wanted, seen.front()));
  };
  const auto look = [&] {
    const Snapshot snapshot = db.snapshot();
    const std::uint64_t round = number_in(**db.get("key", {.snapshot = &snapshot}));
    const std::vector<std::string> names = {key_of(1), key_of(2), key_of(7), key_of(30)};
    const std::vector<std::string_view> keys(names.begin(), names.end());
    const auto values = db.multi_get(keys, {.snapshot = &snapshot});
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const bool is_there = has(round, std::stoi(names[k].substr(3)));
      EXPECT_EQ((*values[k]).has_value(), is_there) << names[k] << " in round " << round;
      EXPECT_EQ(*db.exists(keys[k], {.snapshot = &snapshot}), is_there) << names[k] << " in round " << round;
    }
  };
  run_beside(
      [&] {
        for (std::uint64_t round = 2; round <= kRounds; ++round) {
          write(round);
          if (round % 20 == 0) {
            ASSERT_TRUE(db.flush().ok());
          }
          if (round % 70 == 0) {
            ASSERT_TRUE(db.compact().ok());
          }
        }
      },
      [&] { scan(false); }, [&] { scan(true); }, look);
  ASSERT_TRUE(db.compact().ok());
  scan(false);
  EXPECT_TRUE(db.verify()->ok());
}

/// The value is the time when it is due. A reader that asks after that does not see it, and a snapshot sees the same
/// when it is asked again.
TEST(ExpiryThreads, Rule28_Rule30_NobodySeesWhatWasDueWhenTheReadBegan) {
  constexpr std::uint64_t kBegin = 1'700'000'000'000;
  MemoryFileSystem files;
  std::atomic<std::uint64_t> clock = kBegin;
  DB db = *DB::open("/store", small_options(),
                    {.files = &files,
                     .random_seed = 1,
                     .unix_milliseconds = [&] { return clock.load(); },
                     .uptime_milliseconds = [&] { return clock.load() - kBegin; }});
  const auto put = [&](int i, std::uint64_t lifetime) {
    Batch batch;
    const std::uint64_t due = clock + lifetime;
    batch.put(key_of(i), fmt::format("{} {}", due, std::string(200, 'v')),
              std::chrono::system_clock::time_point(std::chrono::milliseconds(due)));
    ASSERT_TRUE(db.write(batch).ok());
  };
  put(0, 1);
  const auto expect_alive = [](std::uint64_t began, std::string_view value) { EXPECT_GT(number_in(value), began); };
  run_beside(
      [&] {
        SplitMix64 random(1);
        for (int round = 0; round < 6000; ++round) {
          put(static_cast<int>(random.below(kKeys)), 1 + random.below(60));
          if (round % 3 == 0) ++clock;
          if (round % 500 == 0) {
            ASSERT_TRUE(db.flush().ok());
          }
          if (round % 1500 == 0) {
            ASSERT_TRUE(db.compact().ok());
          }
        }
      },
      [&] {
        const std::uint64_t began = clock;
        Iterator at = db.scan();
        for (; at.valid(); at.next()) expect_alive(began, at.value());
        ASSERT_TRUE(at.status().ok()) << at.status().to_text();
      },
      [&] {
        for (int i = 0; i < kKeys; ++i) {
          const std::uint64_t began = clock;
          const auto value = db.get(key_of(i));
          ASSERT_TRUE(value.ok()) << value.status().to_text();
          if (*value) expect_alive(began, **value);
        }
      },
      [&] {
        const Snapshot snapshot = db.snapshot();
        for (int i = 0; i < kKeys; ++i) {
          const auto first = *db.get(key_of(i), {.snapshot = &snapshot});
          EXPECT_EQ(*db.get(key_of(i), {.snapshot = &snapshot}), first) << i;
        }
      });
  clock += 1000;
  ASSERT_TRUE(db.compact().ok());
  EXPECT_FALSE(db.scan().valid());
  EXPECT_EQ(db.stats().expiry.entries, 0U);
}

}  // namespace
}  // namespace tamis
