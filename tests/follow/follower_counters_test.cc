// What a follower tells of its writer: the counters that it publishes.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>

#include "engine/counters_format.h"
#include "follow/followed_store.h"
#include "io/file_names.h"
#include "io/memory_file_system.h"
#include "io/process_id.h"
#include "support/files.h"

namespace tamis {
namespace {

const std::string kPath = counters_path("/store");

/// A writer and a follower on one machine, whose clock the test moves.
struct Pair {
  MemoryFileSystem disk;
  std::uint64_t passed = 0;
  std::optional<DB> writer;
  std::optional<DB> follower;

  Pair() {
    Environment environment = test::without_threads(disk);
    environment.unix_milliseconds = [this] { return 1'700'000'000'000 + passed; };
    environment.uptime_milliseconds = [this] { return passed; };
    writer.emplace(*DB::open("/store", test::kFollowed, environment));
    follower.emplace(*DB::open("/store", test::follower_options(), environment));
  }
  void put_after(std::uint64_t milliseconds, const std::string& key = "key") {
    passed += milliseconds;
    ASSERT_TRUE(writer->put(key, std::string(100, 'v')).ok());
  }
};

/// A put publishes counters before it is over, and so before it is timed.
Stats without_latencies(Stats stats) {
  stats.latencies = {};
  return stats;
}

TEST(FollowerCounters, AreTheWritersWithTheirAge) {
  Pair pair;
  EXPECT_FALSE(pair.follower->writer_stats()) << "none yet";
  for (int i = 0; i < 2000; ++i) pair.put_after(0, std::to_string(i));
  ASSERT_TRUE(pair.writer->flush().ok());
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(pair.writer->get(std::to_string(3 * i))->has_value());
  for (int i = 0; i < 100; ++i) ASSERT_FALSE(pair.writer->get(std::to_string(3 * i) + "absent")->has_value());
  pair.put_after(1000);
  const Stats counted = pair.writer->stats();
  pair.passed += 2500;
  ASSERT_TRUE(pair.follower->catch_up().ok());
  const std::optional<WriterStats> writer = pair.follower->writer_stats();
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->age, std::chrono::milliseconds(2500));
  EXPECT_EQ(writer->process_id, own_process_id());
  EXPECT_EQ(without_latencies(writer->stats).to_text(), without_latencies(counted).to_text())
      << "the files are the same, too";
  EXPECT_EQ(writer->stats.latencies.flush.count, counted.latencies.flush.count);
  EXPECT_EQ(writer->stats.gets, 200U);
  EXPECT_GT(writer->stats.flushes, 1U);
  std::uint64_t negatives = 0;
  for (const Stats::Level& level : writer->stats.levels) negatives += level.negatives;
  EXPECT_GT(negatives, 10U) << "some of them are sampled";
  EXPECT_EQ(pair.follower->stats().writes, 0U) << "its own";
  EXPECT_FALSE(pair.writer->writer_stats()) << "stats() has them";
}

TEST(FollowerCounters, AreAbsentWhenTheFileIsMissingDamagedOrOfAnotherStore) {
  Pair pair;
  pair.put_after(1000);
  ASSERT_TRUE(pair.follower->writer_stats());
  const std::string bytes = *read_whole_file(pair.disk, kPath);
  const auto is_shown = [&](const std::string& instead) {
    test::put_file(pair.disk, kPath, instead);
    EXPECT_TRUE(pair.follower->catch_up().ok());
    return pair.follower->writer_stats().has_value();
  };
  std::string damaged = bytes;
  damaged[100] ^= 1;
  EXPECT_FALSE(is_shown(damaged));
  EXPECT_FALSE(is_shown(bytes.substr(0, 4095)));
  EXPECT_FALSE(is_shown(""));
  EXPECT_FALSE(is_shown(std::string(4096, '\0')));
  PublishedCounters counters = *decode_counters(as_bytes(bytes), kPath);
  counters.store_id.fill(std::byte{7});
  EXPECT_FALSE(is_shown(std::string(as_text(encode_counters(counters)))));
  EXPECT_TRUE(is_shown(bytes));
  ASSERT_TRUE(pair.disk.remove(kPath).ok());
  EXPECT_FALSE(pair.follower->writer_stats());
  ASSERT_TRUE(pair.follower->catch_up().ok());
  EXPECT_TRUE((*pair.follower->get("key")).has_value());
}

TEST(FollowerCounters, EndWithTheWriter) {
  Pair pair;
  pair.put_after(1000);
  ASSERT_TRUE(pair.follower->writer_stats());
  ASSERT_TRUE(pair.writer->close().ok());
  EXPECT_FALSE(pair.follower->writer_stats());
}

/// A clock that was set back must not make an age negative.
TEST(FollowerCounters, AreNeverFromTheFuture) {
  Pair pair;
  pair.put_after(5000);
  pair.passed = 1000;
  EXPECT_EQ(pair.follower->writer_stats()->age, std::chrono::milliseconds(0));
}

}  // namespace
}  // namespace tamis
