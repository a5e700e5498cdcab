// Rules 10, 20 and 23: two processes, a forked child, few descriptors.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/sanitizer.h"
#include "process/child_process.h"
#include "process/held_allocation.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

Options small_options() {
  Options options;
  options.memory_bytes = 4 << 20;
  options.memtable_bytes = 64 << 10;
  return options;
}

Options reading() {
  Options options = small_options();
  options.read_only = true;
  return options;
}

/// Opens the store, reports it, and stays until it is killed.
int open_and_stay(const std::string& path, const Options& options, const ChildProcess::Teller& teller) {
  const Result<DB> db = DB::open(path, options);
  teller.tell(db.ok() ? 1 : 0);
  while (db.ok()) ::pause();
  return 1;
}

TEST(TwoProcesses, Rule20_TheSecondWriterIsToldWhoTheFirstIs) {
  const ScratchFolder scratch;
  ChildProcess first([&](const auto& teller) { return open_and_stay(scratch.path(), small_options(), teller); });
  ASSERT_EQ(first.next(), 1U);
  for (const Options& options : {small_options(), reading()}) {
    const Result<DB> second = DB::open(scratch.path(), options);
    ASSERT_EQ(second.status().code(), StatusCode::kBusy) << second.status().to_text();
    EXPECT_NE(second.status().message().find(fmt::format("pid {}", first.pid())), std::string_view::npos)
        << second.status().to_text();
  }
  // A killed writer leaves its LOCK file, which does no harm.
  first.kill();
  EXPECT_EQ(first.wait(), -SIGKILL);
  EXPECT_EQ(::access(scratch.path("store/LOCK").c_str(), F_OK), 0);
  Result<DB> third = DB::open(scratch.path(), small_options());
  ASSERT_TRUE(third.ok()) << third.status().to_text();
  EXPECT_TRUE(third->put("a", "b").ok());
  EXPECT_EQ(DB::open(scratch.path(), small_options()).status().code(), StatusCode::kBusy);
}

TEST(TwoProcesses, Rule20_RemovingTheLockFileLetsNobodyIn) {
  const ScratchFolder scratch;
  for (const Options& first : {small_options(), reading()}) {
    ASSERT_TRUE(DB::open(scratch.path(), small_options()).ok());
    ChildProcess holder([&](const auto& teller) { return open_and_stay(scratch.path(), first, teller); });
    ASSERT_EQ(holder.next(), 1U);
    ASSERT_EQ(::unlink(scratch.path("store/LOCK").c_str()), 0);
    const Result<DB> second = DB::open(scratch.path(), small_options());
    EXPECT_EQ(second.status().code(), StatusCode::kBusy) << second.status().to_text();
    // A new LOCK file exists: a reader can lock it, but not the folder beside a writer.
    const Result<DB> reader = DB::open(scratch.path(), reading());
    EXPECT_EQ(reader.status().code(), first.read_only ? StatusCode::kOk : StatusCode::kBusy)
        << reader.status().to_text();
  }
}

TEST(TwoProcesses, Rule20_ReadersShareAndKeepWritersOut) {
  const ScratchFolder scratch;
  {
    Result<DB> db = DB::open(scratch.path(), small_options());
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    ASSERT_TRUE(db->put("a", "b").ok());
  }
  ChildProcess first([&](const auto& teller) { return open_and_stay(scratch.path(), reading(), teller); });
  ASSERT_EQ(first.next(), 1U);
  const Result<DB> second = DB::open(scratch.path(), reading());
  ASSERT_TRUE(second.ok()) << second.status().to_text();
  EXPECT_EQ(**second->get("a"), "b");
  EXPECT_EQ(DB::open(scratch.path(), small_options()).status().code(), StatusCode::kBusy);
}

/// Makes every call that can be refused in a forked child; returns how many were not.
int calls_not_refused(DB& db, const Snapshot& snapshot, Iterator& walk) {
  Batch batch;
  batch.put("child", "1");
  int others = 0;
  const auto expect_closed = [&](const Status& status) { others += status.code() == StatusCode::kClosed ? 0 : 1; };
  expect_closed(db.put("child", "1"));
  expect_closed(db.remove("child"));
  expect_closed(db.write(batch, {.sync = true}));
  expect_closed(db.try_write(batch));
  expect_closed(db.sync());
  expect_closed(db.get("a").status());
  expect_closed(db.get("a", {.snapshot = &snapshot}).status());
  std::string value;
  expect_closed(db.get("a", &value).status());
  expect_closed(db.get_pinned("a").status());
  const std::string_view key = "a";
  expect_closed(db.multi_get({&key, 1})[0].status());
  expect_closed(db.scan().status());
  walk.next();
  expect_closed(walk.status());
  expect_closed(db.begin().commit());
  expect_closed(db.transact([](Transaction&) { return Status(); }));
  expect_closed(db.put_if("child", std::nullopt, "1").status());
  expect_closed(db.remove_if("a", "b").status());
  expect_closed(db.flush());
  expect_closed(db.compact());
  expect_closed(db.wait_idle());
  expect_closed(db.resume());
  expect_closed(db.checkpoint("nowhere"));
  expect_closed(db.verify().status());
  expect_closed(db.approximate_size({}).status());
  expect_closed(db.explain("a").status());
  expect_closed(db.close());
  return others;
}

/// The destructors run in the child too, as in a program that returns from main.
TEST(ForkedChild, Rule10_EveryCallIsRefusedAndNothingHangs) {
  const ScratchFolder scratch;
  std::optional<DB> db;
  {
    Result<DB> opened = DB::open(scratch.path(), small_options());
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db.emplace(*std::move(opened));
  }
  ASSERT_TRUE(db->put("a", "b").ok());
  ASSERT_TRUE(db->put("c", "d").ok());
  {
    auto snapshot = std::make_unique<Snapshot>(db->snapshot());
    auto walk = std::make_unique<Iterator>(db->scan());
    auto transaction = std::make_unique<Transaction>(db->begin());
    ASSERT_TRUE(transaction->put("child", "1").ok());
    ChildProcess child([&](const auto&) {
      int others = calls_not_refused(*db, *snapshot, *walk);
      others += transaction->get("a").status().code() == StatusCode::kClosed ? 0 : 1;
      others += transaction->commit().code() == StatusCode::kClosed ? 0 : 1;
      transaction.reset();
      snapshot.reset();
      walk.reset();
      db.reset();
      return others;
    });
    EXPECT_EQ(child.wait(), 0);
  }
  // The parent continues as if there had been no child.
  ASSERT_TRUE(db->put("e", "f", {.sync = true}).ok());
  ASSERT_TRUE(db->flush().ok());
  ASSERT_TRUE(db->close().ok());
  const Result<DB> again = DB::open(scratch.path(), small_options());
  ASSERT_TRUE(again.ok()) << again.status().to_text();
  EXPECT_EQ(**again->get("e"), "f");
  EXPECT_FALSE(again->get("child")->has_value());
}

/// The second allocation of a snapshot happens under the mutexes of the state and of the live handles.
TEST(ForkedChild, Rule10_AMutexThatIsHeldAtTheForkIsNotWaitedFor) {
  if (kWatchesMemory) GTEST_SKIP() << "the sanitizer's own allocator may be locked in the child";
  const ScratchFolder scratch;
  std::optional<DB> db;
  {
    Result<DB> opened = DB::open(scratch.path(), small_options());
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db.emplace(*std::move(opened));
  }
  ASSERT_TRUE(db->put("a", "b").ok());
  for (int allocation = 1; allocation <= 2; ++allocation) {
    auto snapshot = std::make_unique<Snapshot>(db->snapshot());
    auto walk = std::make_unique<Iterator>(db->scan());
    auto never_moved = std::make_unique<Iterator>(db->scan());
    HeldAllocation::stands = HeldAllocation::may_go_on = false;
    std::thread holder([&] {
      HeldAllocation::countdown = allocation;
      (void)db->snapshot();
      HeldAllocation::countdown = 0;
    });
    while (!HeldAllocation::stands) std::this_thread::yield();
    ChildProcess child([&](const auto&) {
      ::alarm(10);
      const int others = calls_not_refused(*db, *snapshot, *walk);
      (void)db->stats();
      (void)db->snapshot();
      snapshot.reset();
      walk.reset();
      never_moved.reset();
      db.reset();
      return others;
    });
    EXPECT_EQ(child.wait(), 0) << "held in allocation " << allocation;
    HeldAllocation::may_go_on = true;
    holder.join();
  }
}

/// Other threads meanwhile take and release what the child has too: a mutex that one of them holds at the fork is never
/// unlocked in the child.
TEST(ForkedChild, Rule10_ForkedUnderLoadItLetsGoOfEverythingAndHangsNowhere) {
  if (kWatchesMemory) GTEST_SKIP() << "the sanitizer's own allocator may be locked in the child";
  const ScratchFolder scratch;
  std::optional<DB> db;
  {
    Result<DB> opened = DB::open(scratch.path(), small_options());
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db.emplace(*std::move(opened));
  }
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(db->put(fmt::format("key{:03}", i), std::string(100, 'v')).ok());
  ASSERT_TRUE(db->flush().ok());
  std::atomic<bool> stop = false;
  std::vector<std::thread> crowd;
  crowd.emplace_back([&] {
    while (!stop) (void)db->snapshot();
  });
  crowd.emplace_back([&] {
    for (int i = 0; !stop; ++i) {
      const Iterator walk = db->scan({.prefix = "key0"});
      const auto pinned = db->get_pinned(fmt::format("key{:03}", i % 200));
      (void)db->stats();
    }
  });
  for (int forks = 0; forks < 20; ++forks) {
    auto snapshot = std::make_unique<Snapshot>(db->snapshot());
    auto walk = std::make_unique<Iterator>(db->scan());
    auto moved = std::make_unique<Iterator>(db->scan());
    auto pinned = std::make_unique<Result<std::optional<PinnedValue>>>(db->get_pinned("key100"));
    ChildProcess child([&](const auto&) {
      ::alarm(5);
      int others = calls_not_refused(*db, *snapshot, *walk);
      others += db->scan({.prefix = "key0"}).status().code() == StatusCode::kClosed ? 0 : 1;
      *moved = db->scan();
      (void)db->stats();
      (void)db->plan();
      (void)db->snapshot();
      pinned.reset();
      snapshot.reset();
      walk.reset();
      moved.reset();
      db.reset();
      return others;
    });
    EXPECT_EQ(child.wait(), 0) << "fork " << forks;
    if (HasFailure()) break;
  }
  stop = true;
  for (std::thread& thread : crowd) thread.join();
  EXPECT_TRUE(db->close().ok());
}

/// A hundred and twenty tables, sixty-four descriptors.
int read_and_write_with_few_descriptors(const std::string& path, int tables) {
  rlimit limit{.rlim_cur = 64, .rlim_max = 64};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  Options options = small_options();
  options.compaction = "manual";
  Result<DB> db = DB::open(path, options);
  if (!db.ok()) return 3;
  for (int round = 0; round < 2; ++round) {
    for (int table = 0; table < tables; ++table) {
      const Result<std::optional<std::string>> value = db->get(fmt::format("key{:03}", table));
      if (!value.ok() || *value != fmt::format("value {}", table)) return 4;
      // At some of these moments tables hold every descriptor.
      if (round == 0 && table > 40 && table < 70 && table % 3 == 0) {
        if (!db->put("new", "0", {.sync = true}).ok()) return 6;
        if (!db->flush().ok()) return 7;
      }
    }
    int found = 0;
    Iterator walk = db->scan();
    for (; walk.valid(); walk.next()) ++found;
    if (!walk.status().ok() || found != tables + 1) return 5;
    if (!db->put("new", "1", {.sync = true}).ok()) return 6;
    if (!db->flush().ok()) return 7;
  }
  const Result<VerifyReport> verified = db->verify();
  if (!verified.ok() || !verified->ok()) return 8;
  if (!db->checkpoint(path + "-copy").ok()) return 10;
  // Every table is an input of this, all at once.
  if (const Status done = db->compact(); !done.ok()) {
    std::cerr << done.to_text() << std::endl;
    return 11;
  }
  return db->close().ok() ? 0 : 9;
}

TEST(Descriptors, Rule23_MoreTablesThanDescriptorsAreReadAndWritten) {
  const ScratchFolder scratch;
  constexpr int kTables = 120;
  {
    Options options = small_options();
    options.compaction = "manual";
    Result<DB> db = DB::open(scratch.path(), options);
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    for (int table = 0; table < kTables; ++table) {
      ASSERT_TRUE(db->put(fmt::format("key{:03}", table), fmt::format("value {}", table)).ok());
      ASSERT_TRUE(db->flush().ok());
    }
    ASSERT_TRUE(db->close().ok());
  }
  ChildProcess child([&](const auto&) { return read_and_write_with_few_descriptors(scratch.path(), kTables); });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace tamis::test
