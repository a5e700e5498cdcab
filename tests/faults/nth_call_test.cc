// P5 and P6: whichever call fails, the store keeps reading, reports it to writers, and reopens with what it promised.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <functional>

#include "crash/store_ledger.h"
#include "faults/store_faults.h"
#include "support/crash_file_system.h"
#include "support/figures.h"
#include "support/seed.h"

namespace tamis::test {
namespace {

TEST(NthCall, P5_P6_AnyFailedCallLeavesTheStoreReadableAndWhatItPromised) {
  StoreFaultCounts counts;
  std::uint64_t seed = base_seed(1);
  for (const StoreScript& script : store_scripts()) {
    ++seed;
    for (const FaultKind kind : honest_faults()) {
      for (const bool sticky : {false, true}) {
        // Coprime strides, so that the kinds hit different calls.
        std::uint64_t call = 1 + seed % 7;
        while (fail_store_call({kind, call, sticky}, script, seed, {}, counts)) call += sticky ? 67 : 41;
      }
    }
  }
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  fmt::print("{} runs, {} with a failed call; writes stopped in {}, resumed by themselves in {}, were resumed in {}\n",
             counts.runs, counts.fired, counts.stopped, counts.went_on, counts.resumed);
  record_figure("crash_images", counts.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(counts.fired));
  EXPECT_GT(counts.fired, 300);
  EXPECT_GT(counts.went_on, 3);
  EXPECT_GT(counts.resumed, 3);
}

/// Rule 6: a file system may report an error after doing all the work (NFS, FUSE). Here every call does so in turn, and
/// the process ends at any of the next calls. A memtable takes a few commits, so the next one may begin a journal.
TEST(NthCall, Rule6_P1_ACallThatFailedThoughItWasDoneIsNoObstacleToTheNextOpening) {
  constexpr StoreScript kScript{"a few commits a memtable", "wwwwwwwP", 64 << 10};
  StoreFaultCounts counts;
  for (std::uint64_t call = 1;; ++call) {
    const FaultKind kind = call % 2 == 0 ? FaultKind::kNoSpaceAfterwards : FaultKind::kIoErrorAfterwards;
    if (!fail_store_call({kind, call, false}, kScript, base_seed(3), {9}, counts)) break;
  }
  EXPECT_EQ(counts.violations.size(), 0U) << first_few(counts.violations);
  record_figure("crash_images", counts.images.size());
  record_figure("call_failures", static_cast<std::uint64_t>(counts.fired));
  EXPECT_GT(counts.fired, 50);
}

/// Fails the calls of one action, in turn, on a store that was closed and reopened, and lets it continue.
void fail_after_reopening(const std::function<Status(DB& db)>& action) {
  for (std::uint64_t failing = 1, calls = 1; failing <= calls; ++failing) {
    CrashFileSystem memory;
    {
      Result<DB> db = DB::open("/store", {}, environment_on(memory, 1));
      ASSERT_TRUE(db.ok() && db->put("a", "1").ok() && db->close().ok());
    }
    std::uint64_t opening = 0;
    {
      CrashFileSystem copy(memory.disk());
      FaultyFileSystem dry(copy);
      Result<DB> db = DB::open("/store", {}, environment_on(dry, 2));
      opening = dry.calls();
      ASSERT_TRUE(action(*db).ok());
      calls = dry.calls() - opening;
    }
    FaultyFileSystem faulty(memory, {FaultKind::kIoError, opening + failing, false});
    Result<DB> db = DB::open("/store", {}, environment_on(faulty, 2));
    ASSERT_TRUE(db.ok());
    const Status failed = action(*db);
    SCOPED_TRACE(fmt::format("call {}: {}", failing, failed.to_text()));
    // Whatever failed, the store can continue, after resume() at the latest.
    if (!db->put("b", "2", {.sync = true}).ok()) {
      EXPECT_TRUE(db->resume().ok());
      EXPECT_TRUE(db->put("b", "2", {.sync = true}).ok());
    }
    EXPECT_TRUE(db->resume().ok());
    EXPECT_TRUE(action(*db).ok());
    EXPECT_TRUE(db->flush().ok());
    EXPECT_EQ(**db->get("a"), "1");
    EXPECT_EQ(synced_again(memory.call_log()), "");
  }
}

TEST(NthCall, P5_AJournalThatCouldNotBeContinuedIsLeftBehind) {
  fail_after_reopening([](DB& db) { return db.put("c", "3"); });
}

TEST(NthCall, P5_ASealThatFailedIsNotTheEndOfWrites) {
  fail_after_reopening([](DB& db) { return db.put("c", "3").ok() ? db.flush() : Status::io_error("put"); });
}

/// The second seal takes the first one's journal, which the current one still followed.
TEST(NthCall, P5_AFileThatCouldNotBecomeAJournalIsNotSyncedForTheOneItWas) {
  fail_after_reopening([](DB& db) {
    for (int i = 0; i < 2; ++i) {
      if (!db.put("c", "3").ok()) return Status::io_error("put");
      if (Status flushed = db.flush(); !flushed.ok()) return flushed;
    }
    return Status();
  });
}

TEST(NthCall, ASecondSyncOfAFileIsSeen) {
  EXPECT_EQ(synced_again({"create /a", "failed sync /a", "sync directory /", "sync /b"}), "");
  EXPECT_EQ(synced_again({"create /a", "failed sync /a", "sync /a"}), "/a");
  EXPECT_EQ(synced_again({"failed sync /a", "failed sync /a"}), "/a");
  EXPECT_EQ(synced_again({"failed sync /a", "remove /a", "create /a", "sync /a"}), "");
  EXPECT_EQ(synced_again({"create /a.tmp", "rename /a.tmp /a", "failed sync /a.tmp", "sync /a"}), "/a");
  EXPECT_EQ(synced_again({"create /a.tmp", "failed sync /a.tmp", "rename /a.tmp /a", "sync /a"}), "/a");
  EXPECT_EQ(synced_again({"create /a.tmp", "rename /a.tmp /a", "failed sync /a.tmp", "create /a.tmp", "sync /a.tmp"}),
            "");
  EXPECT_EQ(synced_again({"failed sync /a", "sync /b.tmp", "rename /b.tmp /a", "sync /a"}), "");
}

}  // namespace
}  // namespace tamis::test
