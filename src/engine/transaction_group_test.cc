// Transactions in one commit group, and commits that fail.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/commit_queue.h"
#include "engine/commit_window.h"
#include "engine/store.h"
#include "engine/transaction_state.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"

namespace tamis {
namespace {

std::shared_ptr<Store> open_on(FileSystem& files) {
  Result<std::shared_ptr<Store>> store =
      Store::open("/store", {}, {.files = &files, .random_seed = 1, .runs_in_background = false});
  return store.ok() ? *store : nullptr;
}

std::string value_of(Store& store, std::string_view key) {
  std::string value;
  const Result<bool> found = store.get(store.default_keyspace(), key, &value, {});
  return !found.ok() ? found.status().to_text() : *found ? value : "absent";
}

/// A member of a group: reads one key, writes another. Without a key to read it is a plain write.
struct Member {
  Member(Store& store, std::optional<std::string> read, std::string write, bool at_snapshot = false)
      : window(store.window()), reads(1 << 20) {
    batch.put(write, "by " + read.value_or("a plain write"));
    if (read) reads.add_key(kDefaultKeyspace, *read);
    check = {.snapshot = store.published().newest(), .reads = at_snapshot ? nullptr : &reads};
    request.changes = batch;
    request.check = read ? &check : nullptr;
    if (read) window.begin();
  }
  ~Member() {
    if (request.check != nullptr) window.end();
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  CommitWindow& window;
  Batch batch;
  ReadSet reads;
  CommitCheck check;
  CommitRequest request;
};

void commit(Store& store, const std::vector<Member*>& members) {
  std::vector<CommitRequest*> group;
  for (Member* member : members) group.push_back(&member->request);
  store.leader().lead(group);
}

TEST(TransactionGroup, Rule39_AMemberSeesTheAcceptedOnesBeforeIt) {
  CrashFileSystem files;
  const std::shared_ptr<Store> store = open_on(files);
  Member first(*store, "x", "y");
  Member second(*store, "y", "x");  // Write skew with the first.
  Member third(*store, "z", "w");
  commit(*store, {&first, &second, &third});
  EXPECT_TRUE(first.request.status.ok());
  EXPECT_EQ(second.request.status.code(), StatusCode::kConflict);
  EXPECT_TRUE(third.request.status.ok()) << "one member's conflict is not the group's";
  EXPECT_EQ(value_of(*store, "y"), "by x");
  EXPECT_EQ(value_of(*store, "x"), "absent");
  EXPECT_EQ(value_of(*store, "w"), "by z");
}

TEST(TransactionGroup, Rule39_AMemberThatWasRefusedIsNotInTheWay) {
  CrashFileSystem files;
  const std::shared_ptr<Store> store = open_on(files);
  Member first(*store, "x", "y");
  Member refused(*store, "y", "z");
  Member third(*store, "z", "w");
  commit(*store, {&first, &refused, &third});
  EXPECT_EQ(refused.request.status.code(), StatusCode::kConflict);
  EXPECT_TRUE(third.request.status.ok()) << "what was refused was not written";
}

TEST(TransactionGroup, Rule39_PlainWritesOfTheGroupCount) {
  CrashFileSystem files;
  const std::shared_ptr<Store> store = open_on(files);
  Member plain(*store, {}, "x");
  Member reader(*store, "x", "y");
  Member writer(*store, "q", "x", true);
  Member later(*store, {}, "y");
  commit(*store, {&plain, &reader, &writer, &later});
  EXPECT_TRUE(plain.request.status.ok() && later.request.status.ok());
  EXPECT_EQ(reader.request.status.code(), StatusCode::kConflict);
  EXPECT_EQ(writer.request.status.code(), StatusCode::kConflict) << "snapshot isolation: it writes the same key";
  EXPECT_EQ(value_of(*store, "x"), "by a plain write");
}

TEST(TransactionGroup, Rule39_TheNextGroupSeesTheWholeGroup) {
  CrashFileSystem files;
  const std::shared_ptr<Store> store = open_on(files);
  Member reader(*store, "b", "c");
  Member first(*store, {}, "a");
  Member second(*store, {}, "b");
  commit(*store, {&first, &second});
  commit(*store, {&reader});
  EXPECT_EQ(reader.request.status.code(), StatusCode::kConflict);
  EXPECT_EQ(store->stats().transactions.conflicts, 1U);
}

/// Whichever call fails: the group's members all fail, none of them is in the window, and `transact` does not run its
/// work again.
TEST(TransactionGroup, Rule39_AFailedAppendLeavesNothingInTheWindow) {
  int failures = 0;
  for (std::uint64_t call = 1; call < 100; ++call) {
    CrashFileSystem memory;
    FaultyFileSystem files(memory, {.kind = FaultKind::kIoError, .at_call = call, .sticky = false});
    const std::shared_ptr<Store> store = open_on(files);
    if (store == nullptr) continue;
    Member watcher(*store, "y", "q");
    Member first(*store, "x", "y");
    Member second(*store, "z", "w");
    first.request.sync = true;
    const std::uint64_t fired_before = files.fired();
    commit(*store, {&first, &second});
    EXPECT_EQ(first.request.status.to_text(), second.request.status.to_text()) << "call " << call;
    if (files.fired() == fired_before || first.request.status.ok()) continue;
    ++failures;
    EXPECT_EQ(store->stats().transactions.window_bytes, 0U) << "call " << call;
    EXPECT_EQ(value_of(*store, "y"), "absent");
    EXPECT_TRUE(store->resume().ok());
    commit(*store, {&watcher});
    EXPECT_TRUE(watcher.request.status.ok()) << watcher.request.status.to_text();
  }
  EXPECT_GT(failures, 0);
}

TEST(TransactionGroup, Rule39_TransactDoesNotRunAgainAfterAnUnknownOutcome) {
  int failures = 0;
  for (std::uint64_t call = 1; call < 100; ++call) {
    CrashFileSystem memory;
    FaultyFileSystem files(memory, {.kind = FaultKind::kIoError, .at_call = call, .sticky = false});
    Result<DB> db = DB::open("/store", {}, {.files = &files, .random_seed = 1, .runs_in_background = false});
    if (!db.ok()) continue;
    const std::uint64_t fired_before = files.fired();
    int runs = 0;
    const Status done = db->transact(
        [&](Transaction& tx) {
          ++runs;
          return tx.put("a", "1");
        },
        {.commit = {.sync = true}});
    EXPECT_EQ(runs, 1) << "call " << call;
    if (files.fired() == fired_before) continue;
    failures += done.ok() ? 0 : 1;
    EXPECT_NE(done.code(), StatusCode::kConflict);
  }
  EXPECT_GT(failures, 0);
}

/// A disk that is full refuses the commit and nothing of it is seen; the same transaction succeeds later.
TEST(TransactionGroup, AFullDiskLeavesNothingOfATransaction) {
  CrashFileSystem healthy;
  FaultyFileSystem counted(healthy);
  ASSERT_NE(open_on(counted), nullptr);
  CrashFileSystem memory;
  FaultyFileSystem files(memory, {.kind = FaultKind::kNoSpace, .at_call = counted.calls() + 1, .sticky = true});
  const std::shared_ptr<Store> store = open_on(files);
  ASSERT_NE(store, nullptr);
  const std::string large(100'000, 'v');
  int failed = 0;
  for (int i = 0; i < 20 && failed == 0; ++i) {
    TransactionState tx(store, {}, Caller::here());
    ASSERT_TRUE(tx.write([&](Batch& batch) { batch.put("a" + std::to_string(i), large); }).ok());
    ASSERT_TRUE(tx.write([&](Batch& batch) { batch.put("b" + std::to_string(i), large); }).ok());
    const Status committed = tx.commit({.sync = true});
    const std::string found = value_of(*store, "a" + std::to_string(i));
    EXPECT_EQ(found == "absent", !committed.ok());
    EXPECT_EQ(found, value_of(*store, "b" + std::to_string(i)));
    failed += committed.ok() ? 0 : 1;
  }
  EXPECT_GT(failed, 0);
}

}  // namespace
}  // namespace tamis
