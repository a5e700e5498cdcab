#include "engine/expiry_clock.h"

#include <gtest/gtest.h>

#include <array>

#include "engine/live_handles.h"
#include "engine/store_context.h"

namespace tamis {
namespace {

constexpr std::uint64_t kBegin = 1'700'000'000'000;
constexpr std::uint64_t kHour = 3'600'000;
constexpr std::uint64_t kTenYears = 10 * 365 * 24 * kHour;

/// A machine: the true time passes; its clock may be wrong, its uptime is not.
struct Machine {
  explicit Machine(std::uint64_t up = 5000) : uptime(up) {}

  void pass(std::uint64_t milliseconds) {
    clock += milliseconds;
    uptime += milliseconds;
    true_time += milliseconds;
  }

  std::uint64_t clock = kBegin;
  std::uint64_t uptime;
  std::uint64_t true_time = kBegin;
  StoreContext context{
      "/store", {}, {.unix_milliseconds = [this] { return clock; }, .uptime_milliseconds = [this] { return uptime; }}};
};

TEST(ExpiryClock, ReadsNoClockBeforeTheFirstUse) {
  int calls = 0;
  const auto count = [&] {
    ++calls;
    return kBegin;
  };
  StoreContext context("/store", {}, {.unix_milliseconds = count, .uptime_milliseconds = count});
  EXPECT_FALSE(context.expiry.is_used());
  EXPECT_EQ(context.expiry.time_of_read(), 0U);
  EXPECT_EQ(context.expiry.advance(), 0U);
  EXPECT_EQ(calls, 0);
}

TEST(ExpiryClock, Rule29_TheHorizonFollowsAClockThatIsRight) {
  Machine machine;
  ExpiryClock& expiry = machine.context.expiry;
  expiry.begin();
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(expiry.advance(), machine.true_time);
    EXPECT_EQ(expiry.now(), machine.true_time);
    machine.pass(kHour);
  }
}

TEST(ExpiryClock, Rule29_AClockThatJumpsAheadMovesItNoFasterThanTime) {
  Machine machine;
  ExpiryClock& expiry = machine.context.expiry;
  expiry.begin();
  machine.clock += kTenYears;
  EXPECT_EQ(expiry.advance(), kBegin);
  EXPECT_EQ(expiry.now(), kBegin + kTenYears) << "readers follow the clock";
  for (int i = 0; i < 10; ++i) {
    machine.pass(kHour);
    EXPECT_EQ(expiry.advance(), machine.true_time);
  }
  machine.clock -= kTenYears;
  EXPECT_EQ(expiry.now(), machine.true_time) << "nothing is left of the jump";
}

TEST(ExpiryClock, Rule29_AClockThatJumpsBackDoesNotLowerIt) {
  Machine machine;
  ExpiryClock& expiry = machine.context.expiry;
  expiry.begin();
  machine.pass(kHour);
  EXPECT_EQ(expiry.advance(), kBegin + kHour);
  machine.clock -= kTenYears;
  machine.pass(kHour);
  EXPECT_EQ(expiry.advance(), kBegin + kHour);
  EXPECT_EQ(expiry.now(), kBegin + kHour) << "readers do not see again what the horizon has passed";
  EXPECT_EQ(expiry.horizon().time, kBegin + kHour);
  machine.clock = machine.true_time;
  EXPECT_EQ(expiry.advance(), machine.true_time) << "no time was lost";
}

/// Another process of the same machine knows how much time has passed; another machine, or this one started anew, does
/// not, whatever its clock says.
TEST(ExpiryClock, Rule29_ItGoesOnInTheNextProcessButNotBeyondWhatIsKnownToHavePassed) {
  for (const std::uint64_t ahead : std::array<std::uint64_t, 2>{0, kTenYears}) {
    Machine machine;
    machine.context.expiry.begin();
    machine.pass(kHour);
    machine.context.expiry.advance();
    ExpiryHorizon recorded = machine.context.expiry.horizon();
    machine.pass(kHour);
    machine.clock += ahead;
    ExpiryClock next(machine.context);
    next.open(recorded);
    EXPECT_EQ(next.now(), machine.clock);
    EXPECT_EQ(next.horizon().time, kBegin + kHour);
    EXPECT_EQ(next.advance(), machine.true_time);

    recorded.at.boot = 77;
    ExpiryClock elsewhere(machine.context);
    elsewhere.open(recorded);
    EXPECT_EQ(elsewhere.advance(), kBegin + kHour);
    machine.pass(kHour);
    EXPECT_EQ(elsewhere.advance(), kBegin + 2 * kHour);

    recorded.at = {.boot = machine.context.uptime().boot, .milliseconds = machine.uptime + 1};
    ExpiryClock earlier(machine.context);
    earlier.open(recorded);
    EXPECT_EQ(earlier.advance(), kBegin + kHour);
  }
}

TEST(ExpiryClock, Rule29_AMachineWhoseStartIsUnknownCountsFromTheOpening) {
  Machine machine;
  ExpiryClock unknown(machine.context);
  unknown.open({.time = kBegin - kHour, .at = {.boot = 0, .milliseconds = 0}});
  EXPECT_EQ(unknown.advance(), kBegin - kHour);
}

/// As a repair that found no manifest leaves it. Otherwise nothing would be dropped for as long as time has passed
/// since 1970.
TEST(ExpiryClock, Rule29_AHorizonThatWasLostBeginsAtTheClock) {
  Machine machine;
  ExpiryClock& expiry = machine.context.expiry;
  expiry.open({});
  EXPECT_EQ(expiry.horizon(), (ExpiryHorizon{.time = kBegin, .at = machine.context.uptime()}));
  machine.pass(kHour);
  EXPECT_EQ(expiry.advance(), kBegin + kHour);
}

TEST(LiveSnapshots, Rule30_HaveTheTimeOfTheirRegistration) {
  Machine machine;
  LiveHandles handles;
  PublishedSequence published;
  LiveHandle before;
  handles.add_snapshot(before, published, machine.context.expiry);
  EXPECT_EQ(before.time, 0U) << "nothing could expire";
  machine.context.expiry.begin();
  LiveHandle first;
  handles.add_snapshot(first, published, machine.context.expiry);
  machine.pass(1);
  LiveHandle second;
  handles.add_snapshot(second, published, machine.context.expiry);
  EXPECT_EQ(first.time, kBegin);
  EXPECT_EQ(second.time, kBegin + 1);
  for (LiveHandle* handle : {&before, &first, &second}) handles.remove(*handle);
}

TEST(LiveSnapshots, Rule30_AnEntryHasExpiredWhenItIsDueForAllThatSeeIt) {
  Machine machine;
  LiveHandles handles;
  PublishedSequence published;
  machine.context.expiry.begin();
  std::array<LiveHandle, 3> snapshots;
  const auto take = [&](LiveHandle& handle, std::uint64_t sequence, std::uint64_t time) {
    published.publish(Sequence{sequence});
    machine.clock = time;
    handles.add_snapshot(handle, published, machine.context.expiry);
  };
  take(snapshots[0], 5, kBegin + 300);
  take(snapshots[1], 8, kBegin + 100);  // The clock was set back.
  take(snapshots[2], 8, kBegin + 200);
  published.publish(Sequence{9});
  const LiveHandles::Readable readable = handles.readable(published, kBegin + 250);
  EXPECT_EQ(readable.sequences, (std::vector{Sequence{5}, Sequence{8}, Sequence{9}}));
  EXPECT_EQ(readable.expired_by, (std::vector{kBegin + 100, kBegin + 100, kBegin + 250}));
  for (LiveHandle& handle : snapshots) handles.remove(handle);
}

}  // namespace
}  // namespace tamis
