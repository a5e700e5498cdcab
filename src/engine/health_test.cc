#include "engine/health.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "io/memory_file_system.h"

namespace tamis {
namespace {

class EventList final : public EventListener {
 public:
  void on_event(const StoreEvent& event) override { kinds.push_back(event.kind); }
  std::vector<StoreEvent::Kind> kinds;
};

struct World {
  MemoryFileSystem files;
  EventList events;
  StoreContext context{"/store", {}, {.files = &files, .listener = &events}};
  ChangeSignal changes;
  Health health{context, changes};
};

TEST(Health, KeepsTheFirstFailureUntilWritesResume) {
  World world;
  EXPECT_FALSE(world.health.has_stopped());
  world.health.stop_writes(Status::io_error("first"));
  world.health.stop_writes(Status::out_of_space("second"));
  EXPECT_TRUE(world.health.has_stopped());
  EXPECT_EQ(world.health.check_working().message(), "first");
  EXPECT_FALSE(world.health.stop()->resumes_by_itself);
  world.health.resume_writes();
  EXPECT_FALSE(world.health.has_stopped());
  EXPECT_TRUE(world.health.check_working().ok());
  EXPECT_EQ(world.events.kinds, (std::vector{StoreEvent::Kind::kBackgroundError, StoreEvent::Kind::kResumed}));
}

TEST(Health, Rule5_OnlyAFullDiskResumesByItself) {
  World world;
  world.health.stop_writes(Status::out_of_space("full"));
  EXPECT_TRUE(world.health.stop()->resumes_by_itself);
}

TEST(Health, ThreeFailedRewritesInARowStopWrites) {
  World world;
  world.health.rewrite_failed("flush", Status::io_error("disk"));
  world.health.rewrite_failed("flush", Status::io_error("disk"));
  world.health.rewrite_succeeded();
  EXPECT_FALSE(world.health.is_retrying());
  world.health.rewrite_failed("flush", Status::io_error("disk"));
  world.health.rewrite_failed("flush", Status::io_error("disk"));
  EXPECT_FALSE(world.health.has_stopped());
  EXPECT_TRUE(world.health.is_retrying());
  world.health.rewrite_failed("flush", Status::io_error("disk"));
  EXPECT_EQ(world.health.check_working().message(), "flush: disk");
}

TEST(Health, AFullDiskOrADamagedTableStopsWritesAtOnce) {
  for (const Status& why : {Status::out_of_space("full"), Status::corruption("damaged")}) {
    World world;
    world.health.rewrite_failed("compaction", why);
    EXPECT_TRUE(world.health.has_stopped()) << why.to_text();
  }
}

TEST(Health, AnnouncesWhatWaitersWaitFor) {
  World world;
  ChangeSignal::Ticket ticket = world.changes.ticket();
  const auto has_announced = [&] {
    const ChangeSignal::Ticket before = std::exchange(ticket, world.changes.ticket());
    return ticket != before;
  };
  world.health.stop_writes(Status::io_error("disk"));
  EXPECT_TRUE(has_announced());
  world.health.resume_writes();
  EXPECT_TRUE(has_announced());
  world.health.begin_closing();
  EXPECT_TRUE(has_announced());
  EXPECT_EQ(world.health.check_working().code(), StatusCode::kClosed);
}

}  // namespace
}  // namespace tamis
