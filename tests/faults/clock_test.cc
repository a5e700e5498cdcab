// Clocks that jump: ten years ahead, ten years back, to 1970. Answers do not change, no tombstone is dropped while it
// covers anything, and work ends.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>

#include "crash/store_workload.h"
#include "support/crash_file_system.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kNow = 1'700'000'000;
constexpr std::uint64_t kTenYears = 10ULL * 365 * 24 * 3600;
constexpr std::array<std::uint64_t, 7> kTimes = {kNow, kNow + kTenYears,     kNow - kTenYears, kNow + 60,
                                                 0,    kNow + 2 * kTenYears, kNow - 60};

struct ClockWorld {
  CrashFileSystem files;
  EventCounts events;
  std::atomic<std::uint64_t> time = kNow;

  DB open(std::string_view compaction, bool in_background) {
    Environment environment = environment_on(files, 1);
    environment.listener = &events;
    environment.runs_in_background = in_background;
    environment.unix_milliseconds = [this] { return time.load() * 1000; };
    Options options = options_of({.name = "clock", .steps = "", .compaction = compaction});
    Result<DB> db = DB::open("/store", options, environment);
    EXPECT_TRUE(db.ok()) << db.status().to_text();
    return *std::move(db);
  }
};

/// A key under a tombstone, as deep as possible; a snapshot still sees it.
TEST(ClockJumps, ADeleteStaysWhileItCoversSomething) {
  for (const char* policy : {"leveled", "tiered", "lazy"}) {
    for (const std::uint64_t time : kTimes) {
      SCOPED_TRACE(fmt::format("{}, at {}", policy, time));
      ClockWorld world;
      DB db = world.open(policy, false);
      ASSERT_TRUE(db.put("covered", "old").ok());
      ASSERT_TRUE(db.put("other", "1").ok());
      ASSERT_TRUE(db.compact().ok());
      auto snapshot = std::make_unique<Snapshot>(db.snapshot());
      ASSERT_TRUE(db.remove("covered").ok());
      ASSERT_TRUE(db.flush().ok());
      world.time = time;
      for (int i = 0; i < 4; ++i) {
        ASSERT_TRUE(db.put(fmt::format("more{}", i), "2").ok());
        ASSERT_TRUE(db.flush().ok());
        EXPECT_FALSE(db.get("covered")->has_value());
        EXPECT_EQ(db.get("covered", {.snapshot = &*snapshot})->value_or("lost"), "old");
      }
      snapshot.reset();
      ASSERT_TRUE(db.compact().ok());
      EXPECT_FALSE(db.get("covered")->has_value());
      EXPECT_LT(world.events.compactions, 40);
    }
  }
}

/// A table written under a clock that was ahead moves down once the clock is right again.
TEST(ClockJumps, DeletesDoNotWaitForAClockThatWasSetBack) {
  ClockWorld world;
  DB db = world.open("leveled", false);
  ASSERT_TRUE(db.put("covered", "old").ok());
  ASSERT_TRUE(db.compact().ok());
  world.time = kNow + kTenYears;
  ASSERT_TRUE(db.remove("covered").ok());
  ASSERT_TRUE(db.flush().ok());
  const auto deletes = [&] {
    std::uint64_t sum = 0;
    for (const Stats::Level& level : db.stats().levels) sum += level.tombstones;
    return sum;
  };
  ASSERT_EQ(deletes(), 1U);
  world.time = kNow;
  ASSERT_TRUE(db.put("more", "1").ok());
  ASSERT_TRUE(db.flush().ok());
  EXPECT_EQ(deletes(), 0U);
  EXPECT_FALSE(db.get("covered")->has_value());
}

/// Batches, deletes, flushes and jumps at random, with and without threads.
TEST(ClockJumps, ChangeNoAnswer) {
  for (const bool in_background : {false, true}) {
    for (const char* policy : {"leveled", "tiered", "lazy"}) {
      SCOPED_TRACE(fmt::format("{}, background {}", policy, in_background));
      ClockWorld world;
      std::optional<DB> db = world.open(policy, in_background);
      SplitMix64 random(5);
      Content content;
      for (int i = 0; i < 600; ++i) {
        const std::string key = fmt::format("key{:02}", random.below(60));
        if (random.below(3) == 0) {
          ASSERT_TRUE(db->remove(key).ok());
          content.erase(key);
        } else {
          ASSERT_TRUE(db->put(key, content[key] = fmt::format("{}", i)).ok());
        }
        if (random.below(8) == 0) world.time = kTimes[random.below(kTimes.size())];
        if (random.below(12) == 0) {
          ASSERT_TRUE(db->flush().ok());
        }
        if (i % 100 == 99) {
          db.reset();
          db = world.open(policy, in_background);
        }
        if (i % 20 != 0) continue;
        Content found;
        ASSERT_EQ(read_all(*db, {key}, found), "");
        ASSERT_EQ(found, content) << i;
      }
      ASSERT_TRUE(db->wait_idle().ok());
      EXPECT_TRUE(db->verify()->ok());
      EXPECT_LT(world.events.compactions, 600);
    }
  }
}

}  // namespace
}  // namespace tamis::test
