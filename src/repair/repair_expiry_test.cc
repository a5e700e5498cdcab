// Rules 28 and 29 in a repair: due times survive, and an expired value still hides what is beneath it.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "support/repair_world.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBegin = 1'700'000'000'000;
constexpr std::uint64_t kMinute = 60'000;

/// A store that is damaged and repaired on a machine whose clock the test moves.
class ExpiringWorld {
 public:
  [[nodiscard]] Environment environment() {
    Environment environment = world.environment();
    environment.unix_milliseconds = [this] { return kBegin + passed + ahead; };
    environment.uptime_milliseconds = [this] { return passed; };
    return environment;
  }
  DB open(std::string_view compaction = "manual") {
    Result<DB> db = DB::open(test::RepairWorld::kStore, test::small_options(compaction), environment());
    EXPECT_TRUE(db.ok()) << db.status().to_text();
    return *std::move(db);
  }
  RepairReport repair() {
    Result<RepairReport> report = DB::repair(test::RepairWorld::kStore, false, environment());
    EXPECT_TRUE(report.ok()) << report.status().to_text();
    return report.ok() ? *std::move(report) : RepairReport();
  }
  /// "key=value@minutes" of all entries: when they expire, in minutes since the beginning.
  std::string contents() {
    DB db = open();
    EXPECT_TRUE(db.verify()->ok());
    std::string text;
    Iterator at = db.scan();
    for (; at.valid(); at.next()) {
      text += fmt::format("{}={}", at.key(), at.value());
      const auto due = at.expires_at();
      if (due) text += fmt::format("@{}", (due->time_since_epoch() - std::chrono::milliseconds(kBegin)) / 1min);
      text += ' ';
    }
    EXPECT_TRUE(at.status().ok()) << at.status().to_text();
    return text;
  }

  test::RepairWorld world;
  std::uint64_t passed = 0;  // Milliseconds.
  std::uint64_t ahead = 0;   // By how many milliseconds the clock is wrong.
};

/// "a" and "b" lie beneath values that expire, one of which is in a table and one in the journal.
void fill(ExpiringWorld& world) {
  DB db = world.open();
  for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(db.put(key, "beneath").ok());
  ASSERT_TRUE(db.flush().ok());
  ASSERT_TRUE(db.put("a", "table", {.expires_in = 1min}).ok());
  ASSERT_TRUE(db.put("d", "table", {.expires_in = 60min}).ok());
  ASSERT_TRUE(db.flush().ok());
  ASSERT_TRUE(db.put("b", "journal", {.expires_in = 2min}).ok());
  ASSERT_TRUE(db.put("e", "journal", {.expires_in = 90min}).ok());
  ASSERT_TRUE(db.close().ok());
}

TEST(RepairOfExpiry, Rule28_DueTimesSurviveAndWhatIsBeneathStaysHidden) {
  for (const bool has_manifest : {true, false}) {
    for (const std::uint64_t minutes : {0, 1, 5, 60, 90}) {
      SCOPED_TRACE(fmt::format("{} after {} minutes", has_manifest ? "with a manifest" : "without one", minutes));
      ExpiringWorld world;
      fill(world);
      world.passed = minutes * kMinute;
      const std::string before = world.contents();
      EXPECT_EQ(before.find("d=table@60 e=journal@90 ") != std::string::npos, minutes < 60);
      if (!has_manifest) world.world.remove_manifest();
      EXPECT_TRUE(world.repair().lost.empty());
      EXPECT_EQ(world.contents(), before);
      world.passed = 30 * kMinute + minutes * kMinute;
      for (const bool compacts : {false, true}) {
        if (compacts) {
          DB db = world.open();
          ASSERT_TRUE(db.compact().ok());
        }
        EXPECT_EQ(world.contents(), minutes < 30 ? "c=beneath d=table@60 e=journal@90 " : "c=beneath ");
      }
    }
  }
}

TEST(RepairOfExpiry, Rule29_ExpiredValuesAreDroppedAlsoIfTheHorizonWasLost) {
  for (const bool has_manifest : {true, false}) {
    SCOPED_TRACE(has_manifest);
    ExpiringWorld world;
    fill(world);
    if (!has_manifest) world.world.remove_manifest();
    EXPECT_TRUE(world.repair().lost.empty());
    (void)world.contents();
    world.passed = 100 * kMinute;
    DB db = world.open();
    ASSERT_TRUE(db.compact().ok());
    EXPECT_EQ(db.keyspaces()[0].entries, 1U);
    EXPECT_EQ(db.stats().expiry.entries, 0U);
  }
}

/// The times of tables and records are all that is left to tell. The repair's own tables keep them for the next one.
TEST(RepairOfExpiry, Rule29_WithoutAManifestAClockThatIsAheadDestroysNothing) {
  ExpiringWorld world;
  fill(world);
  const std::string before = world.contents();
  EXPECT_EQ(before, "a=table@1 b=journal@2 c=beneath d=table@60 e=journal@90 ");
  world.ahead = 10 * 365 * 24 * 60 * kMinute;
  for (int repairs = 0; repairs < 2; ++repairs) {
    world.world.remove_manifest();
    EXPECT_TRUE(world.repair().lost.empty());
    EXPECT_EQ(world.contents(), "c=beneath ") << "hidden by the clock";
  }
  {
    DB db = world.open();
    ASSERT_TRUE(db.compact().ok());
  }
  world.ahead = 0;
  EXPECT_EQ(world.contents(), before);
  world.passed = 61 * kMinute;
  DB db = world.open();
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(db.stats().expiry.entries, 1U) << "time has passed since";
}

TEST(RepairOfExpiry, Rule29_WithoutAManifestTheHorizonIsNotAheadOfTheClock) {
  ExpiringWorld world;
  world.ahead = 10 * 365 * 24 * 60 * kMinute;
  fill(world);
  world.ahead = 0;
  world.world.remove_manifest();
  EXPECT_TRUE(world.repair().lost.empty());
  DB db = world.open();
  Batch batch;
  batch.put("new", "value", std::chrono::system_clock::time_point(std::chrono::milliseconds(kBegin) + 1min));
  ASSERT_TRUE(db.write(batch).ok());
  ASSERT_TRUE(db.compact().ok());
  EXPECT_EQ(db.get("new")->value_or("absent"), "value") << "files of a time to come hide nothing";
}

}  // namespace
}  // namespace tamis
