// P6: a disk that is full during a flush costs nothing, whatever the memtable holds. Values apart:
// values_apart_mixed_test.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <string>

#include "support/repair_world.h"

namespace tamis {
namespace {

using namespace std::chrono_literals;
using test::Contents;
using test::RepairWorld;

std::string key_of(int i) { return fmt::format("key{:03}", i); }

/// Content that a memtable holds in a way of its own.
struct Filling {
  std::string_view name;
  std::function<Status(DB& db, int i)> write;  ///< The i-th of a hundred.
};

const Filling kFillings[] = {
    {"range_deletes",
     [](DB& db, int i) {
       return i % 3 == 2 ? db.remove_range(key_of(i - 2), key_of(i)) : db.put(key_of(i), std::string(300, 'v'));
     }},
    {"range_deletes_alone",
     [](DB& db, int i) { return db.remove_range(key_of(1000 + i), key_of(1000 + i) + std::string(300, 'z')); }},
    {"expiry", [](DB& db, int i) { return db.put(key_of(i), std::string(300, 'v'), {.expires_in = 1h}); }},
    {"merges", [](DB& db, int i) { return db.merge(key_of(i % 40), std::string(300, 'm')); }},
    {"transactions",
     [](DB& db, int i) {
       return db.transact([&](Transaction& tx) -> Status {
         Status written = tx.remove_range(key_of(0), key_of(i));
         return written.ok() ? tx.put(key_of(100 - i), std::string(300, 'v')) : written;
       });
     }},
    {"conditional_puts",
     [](DB& db, int i) {
       const Result<bool> written = db.put_if(key_of(i), "beneath", std::string(300, 'v'));
       return written.status();
     }},
    {"keyspaces",
     [](DB& db, int i) {
       Batch batch;
       batch.put(*db.keyspace("other"), key_of(i), std::string(300, 'o'));
       batch.put(key_of(i), std::string(300, 'v'));
       return db.write(batch);
     }},
};

Contents contents_of_all(DB& db) {
  Contents all;
  for (const KeyspaceInfo& info : db.keyspaces()) {
    Iterator at = db.keyspace(info.name)->scan();
    for (; at.valid(); at.next()) all.emplace(fmt::format("{}/{}", info.id, at.key()), at.value());
    EXPECT_TRUE(at.status().ok()) << at.status().to_text();
  }
  return all;
}

class FullDiskFlush : public ::testing::TestWithParam<Filling> {};

TEST_P(FullDiskFlush, P6_CostsNothingAndIsDoneWhenThereIsSpace) {
  Options options = test::small_options();
  options.merge_operator = "append";
  std::uint64_t failed = 0;
  for (std::uint64_t spare = 0; spare < 40'000; spare += 3'000) {
    RepairWorld world;
    DB db = world.open(options);
    for (int i = 0; i < 120; ++i) ASSERT_TRUE(db.put(key_of(i), "beneath").ok());
    ASSERT_TRUE(db.flush().ok());
    for (int i = 0; i < 100; ++i) {
      const Status written = GetParam().write(db, i);
      ASSERT_TRUE(written.ok() || written.code() == StatusCode::kConflict) << written.to_text();
    }
    const Contents before = contents_of_all(db);
    ASSERT_TRUE(db.sync().ok());
    std::uint64_t used = 0;
    for (const std::string& name : world.names()) used += world.files.file_size(world.path(name))->value_or(0);
    world.files.set_capacity(used + spare);
    const Status flushed = db.flush();
    failed += flushed.ok() ? 0 : 1;
    EXPECT_TRUE(flushed.ok() || flushed.code() == StatusCode::kOutOfSpace) << flushed.to_text();
    EXPECT_TRUE(contents_of_all(db) == before) << spare;
    world.files.set_capacity(~std::uint64_t{0});
    const Status again = db.flush();
    ASSERT_TRUE(again.ok()) << again.to_text();
    EXPECT_TRUE(contents_of_all(db) == before) << spare;
    ASSERT_TRUE(db.close().ok());
    DB opened = world.open(options);
    EXPECT_TRUE(contents_of_all(opened) == before) << spare;
    EXPECT_TRUE(opened.verify()->ok());
  }
  EXPECT_GT(failed, 0U);
}

INSTANTIATE_TEST_SUITE_P(Of, FullDiskFlush, ::testing::ValuesIn(kFillings),
                         [](const auto& filling) { return std::string(filling.param.name); });

}  // namespace
}  // namespace tamis
