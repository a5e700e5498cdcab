// A writer, a follower that catches up, and readers of both, on threads of one process.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "io/memory_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

const Options kSmall{.memory_bytes = 4 << 20, .memtable_bytes = 64 << 10, .table_bytes = 64 << 10, .fanout = 2};

/// Every commit puts its number under the same keys of two keyspaces.
Status commit(DB& db, const Keyspace& other, std::uint64_t number) {
  Batch batch;
  const std::string value = fmt::format("{:010}{}", number, std::string(200, 'v'));
  for (const std::string& key : {std::string("a"), fmt::format("k{}", number % 50)}) {
    batch.put(key, value);
    batch.put(other, key, value);
  }
  return db.write(batch);
}

/// The number of the commit that a value is from; 0 if there is none.
std::uint64_t number_in(const Result<std::optional<std::string>>& value) {
  EXPECT_TRUE(value.ok()) << value.status().to_text();
  return value.ok() && *value ? std::stoull((*value)->substr(0, 10)) : 0;
}

TEST(FollowerThreads, Rule42_EveryReadIsOfOnePrefixAndNoneGoesBackwards) {
  MemoryFileSystem files;
  Result<DB> writer = DB::open("/store", kSmall, {.files = &files});
  ASSERT_TRUE(writer.ok());
  const Result<Keyspace> other = writer->keyspace("other");
  ASSERT_TRUE(other.ok() && commit(*writer, *other, 1).ok());
  Options following = kSmall;
  following.read_only = following.follows = true;
  Result<DB> follower = DB::open("/store", following, {.files = &files});
  ASSERT_TRUE(follower.ok());
  std::atomic<bool> is_over = false;
  std::atomic<std::uint64_t> reads = 0;
  std::vector<std::thread> threads;
  threads.emplace_back([&] {
    for (std::uint64_t number = 2; !is_over; ++number) ASSERT_TRUE(commit(*writer, *other, number).ok());
  });
  threads.emplace_back([&] {
    std::uint64_t shown = 0;
    while (!is_over) {
      const Result<std::uint64_t> sequence = follower->catch_up();
      if (sequence.status().code() == StatusCode::kStale) continue;
      ASSERT_TRUE(sequence.ok()) << sequence.status().to_text();
      ASSERT_GE(*sequence, shown);
      shown = *sequence;
    }
  });
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      const Result<Keyspace> there = follower->keyspace("other");
      ASSERT_TRUE(there.ok());
      std::uint64_t shown = 0;
      while (!is_over) {
        const Snapshot snapshot = follower->snapshot();
        const std::uint64_t number = number_in(follower->get("a", {.snapshot = &snapshot}));
        EXPECT_EQ(number * 4, snapshot.sequence());
        EXPECT_EQ(number_in(there->get("a", {.snapshot = &snapshot})), number) << "one prefix for all keyspaces";
        EXPECT_EQ(number_in(there->get(fmt::format("k{}", number % 50), {.snapshot = &snapshot})), number);
        EXPECT_GE(number, shown);
        // Without a snapshot, what is read later is not older.
        const std::uint64_t first = number_in(follower->get("a"));
        const std::uint64_t second = number_in(there->get("a"));
        EXPECT_GE(second, first);
        shown = second;
        Iterator entries = there->scan();
        std::uint64_t keys = 0;
        for (; entries.valid(); entries.next()) ++keys;
        EXPECT_TRUE(entries.status().ok()) << entries.status().to_text();
        EXPECT_LE(keys, 51U);
        ++reads;
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(reads, 100U);
  EXPECT_EQ(*follower->catch_up(), writer->stats().sequence);
}

}  // namespace
}  // namespace tamis
