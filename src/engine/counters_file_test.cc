#include "engine/counters_file.h"

#include <gtest/gtest.h>

#include <fmt/core.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>

#include "io/file_names.h"
#include "io/memory_file_system.h"
#include "io/process_id.h"
#include "support/files.h"
#include "support/open_db.h"
#include "support/passing_file_system.h"
#include "tamis/db.h"

namespace tamis {
namespace {

const std::string kPath = counters_path("/store");
constexpr std::uint64_t kBegin = 1'700'000'000'000;

/// A machine whose clocks the test moves.
struct Machine {
  MemoryFileSystem files;
  std::uint64_t passed = 0;

  [[nodiscard]] Environment environment(FileSystem* other = nullptr) {
    return {.files = other != nullptr ? other : &files,
            .random_seed = 1,
            .runs_in_background = false,
            .unix_milliseconds = [this] { return kBegin + passed; },
            .uptime_milliseconds = [this] { return passed; }};
  }
  [[nodiscard]] bool has_file() { return files.file_size(kPath)->has_value(); }
  /// Nullopt if there is no sound file.
  [[nodiscard]] std::optional<PublishedCounters> published() {
    const Result<std::string> bytes = read_whole_file(files, kPath);
    if (!bytes.ok()) return std::nullopt;
    Result<PublishedCounters> counters = decode_counters(as_bytes(*bytes), kPath);
    return counters.ok() ? std::optional(*std::move(counters)) : std::nullopt;
  }
  void put_after(DB& db, std::uint64_t milliseconds, const std::string& key = "key") {
    passed += milliseconds;
    const Status put = db.put(key, "value");
    ASSERT_TRUE(put.ok()) << put.to_text();
  }
};

TEST(CountersFile, HasTheCountersOfTheWriterAndWhenTheyWere) {
  Machine machine;
  DB db = test::open_db(machine.environment());
  machine.put_after(db, 0);
  EXPECT_FALSE(machine.has_file()) << "not in the first second";
  ASSERT_TRUE(db.get("key")->has_value());
  machine.put_after(db, 1000);
  const std::optional<PublishedCounters> counters = machine.published();
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->unix_milliseconds, kBegin + 1000);
  EXPECT_EQ(counters->process_id, own_process_id());
  EXPECT_EQ(counters->stats.writes, 2U);
  EXPECT_EQ(counters->stats.gets, 1U);
  EXPECT_EQ(counters->stats.sequence, 2U);
  EXPECT_EQ(counters->stats.memory.budget, Options().memory_bytes);
  EXPECT_EQ(counters->stats.bytes_written_by_users, db.stats().bytes_written_by_users);
}

TEST(CountersFile, IsWrittenAtMostOnceASecond) {
  Machine machine;
  DB db = test::open_db(machine.environment());
  std::set<std::uint64_t> times;
  for (int i = 0; i < 100; ++i) {
    machine.put_after(db, 100);
    if (const auto counters = machine.published()) times.insert(counters->unix_milliseconds - kBegin);
  }
  EXPECT_EQ(times, (std::set<std::uint64_t>{1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000, 10'000}));
}

TEST(CountersFile, IsNotWrittenWhileNothingChanges) {
  Machine machine;
  ASSERT_TRUE(machine.files.make_directory("/store").ok());
  const StoreContext context("/store", {}, machine.environment());
  CountersFile file(context);
  Stats stats{.writes = 1};
  const auto publish = [&] {
    machine.passed += 1000;
    file.publish_if_due([&] { return stats; });
    const auto counters = machine.published();
    return counters ? counters->unix_milliseconds - kBegin : 0;
  };
  EXPECT_EQ(publish(), 1000U);
  EXPECT_EQ(publish(), 1000U);
  stats.memory.blocks = 5;  // Others may have caused it.
  EXPECT_EQ(publish(), 1000U);
  stats.gets = 1;
  EXPECT_EQ(publish(), 4000U);
  EXPECT_EQ(machine.published()->stats.memory.blocks, 5U);
  EXPECT_EQ(publish(), 4000U);
}

/// The calls of a test must not depend on how fast it runs.
TEST(CountersFile, IsNotWrittenByTheClockOfTheMachineWithoutThreads) {
  Machine machine;
  Environment environment = machine.environment();
  environment.uptime_milliseconds = {};
  environment.random_seed = {};
  ASSERT_TRUE(machine.files.make_directory("/store").ok());
  const StoreContext context("/store", {}, environment);
  CountersFile file(context);
  bool is_asked = false;
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  file.publish_if_due([&] { return is_asked = true, Stats(); });
  EXPECT_FALSE(is_asked || machine.has_file());
}

TEST(CountersFile, IsThereWhileTheStoreIsOpen) {
  Machine machine;
  std::string killed;
  {
    DB db = test::open_db(machine.environment());
    machine.put_after(db, 1000);
    ASSERT_TRUE(machine.has_file());
    killed = *read_whole_file(machine.files, kPath);
    ASSERT_TRUE(db.close().ok());
    EXPECT_FALSE(machine.has_file());
  }
  // As if that writer had been killed.
  test::put_file(machine.files, kPath, killed);
  {
    const DB reader = test::open_db(machine.environment(), {.read_only = true});
    EXPECT_FALSE(reader.writer_stats()) << "there is no writer";
    EXPECT_TRUE(machine.has_file());
  }
  DB db = test::open_db(machine.environment(), {.memory_bytes = 8 << 20, .compaction = "tiered"});
  EXPECT_FALSE(machine.has_file()) << "its figures are not of this writer";
  machine.put_after(db, 999);
  EXPECT_FALSE(machine.has_file());
  machine.put_after(db, 1);
  EXPECT_EQ(machine.published()->stats.memory.budget, 8U << 20);
}

/// Tells when a table is begun.
class WatchedTables final : public test::PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;
  bool has_begun = false;

  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    has_begun |= path.ends_with(".tms");
    return PassingFileSystem::open_writable(path, mode);
  }
};

/// A compaction may take minutes: here, those after it has begun its table.
TEST(CountersFile, IsWrittenDuringACompaction) {
  Machine machine;
  WatchedTables files(machine.files);
  Environment environment = machine.environment(&files);
  bool is_slow = false;
  environment.uptime_milliseconds = [&] { return machine.passed += is_slow && files.has_begun ? 1000 : 0; };
  DB db = test::open_db(environment, {.compaction = "manual"});
  for (int i = 0; i < 5000; ++i) ASSERT_TRUE(db.put(fmt::format("{:05}", i), "value").ok());
  ASSERT_TRUE(db.flush().ok());
  ASSERT_TRUE(db.put("again", "value").ok());
  ASSERT_TRUE(db.flush().ok());
  EXPECT_FALSE(machine.has_file());
  files.has_begun = false;
  is_slow = true;
  ASSERT_TRUE(db.compact().ok());
  const std::optional<PublishedCounters> counters = machine.published();
  ASSERT_TRUE(counters);
  EXPECT_EQ(counters->stats.compactions, 0U) << "before its end";
}

/// Fails calls on COUNTERS, and no others.
class WithoutCounters final : public test::PassingFileSystem {
 public:
  using PassingFileSystem::PassingFileSystem;
  bool can_open = false;

  Result<std::unique_ptr<WritableFile>> open_writable(const std::string& path, OpenMode mode) override {
    Result<std::unique_ptr<WritableFile>> file = PassingFileSystem::open_writable(path, mode);
    if (path != kPath || !file.ok()) return file;
    ++failures;
    if (!can_open) return Status::out_of_space("full");
    return std::unique_ptr<WritableFile>(std::make_unique<Full>(*this));
  }
  Status remove(const std::string& path) override {
    if (path != kPath) return PassingFileSystem::remove(path);
    ++failures;
    return Status::io_error("read-only");
  }
  int failures = 0;

 private:
  class Full final : public WritableFile {
   public:
    explicit Full(WithoutCounters& files) : files_(files) {}
    Status write_at(std::uint64_t /*offset*/, std::span<const Bytes> /*pieces*/) override { return fail(); }
    Status sync() override { return fail(); }
    Status truncate(std::uint64_t /*size*/) override { return fail(); }
    Status preallocate(std::uint64_t /*size*/) override { return fail(); }
    [[nodiscard]] Result<std::uint64_t> size() const override { return 0; }
    Status close() override { return fail(); }

   private:
    Status fail() { return ++files_.failures, Status::out_of_space("full"); }
    WithoutCounters& files_;
  };
};

TEST(CountersFile, CannotBeWrittenAndTheStoreGoesOn) {
  for (const bool can_open : {false, true}) {
    Machine machine;
    WithoutCounters files(machine.files);
    files.can_open = can_open;
    for (int round = 0; round < 2; ++round) {
      DB db = test::open_db(machine.environment(&files));
      for (int i = 0; i < 5; ++i) machine.put_after(db, 1000);
      EXPECT_TRUE(db.stats().background_error.empty());
      EXPECT_EQ(db.stats().writes, 5U);
      EXPECT_TRUE(db.close().ok());
    }
    EXPECT_GE(files.failures, 10);
  }
}

TEST(CountersFile, GoesWithTheStoreAndNotIntoItsCopies) {
  Machine machine;
  std::string bytes;
  {
    DB db = test::open_db(machine.environment());
    machine.put_after(db, 1000);
    bytes = *read_whole_file(machine.files, kPath);
    ASSERT_TRUE(db.checkpoint("/copy").ok());
    EXPECT_FALSE(machine.files.file_size(counters_path("/copy"))->has_value());
  }
  for (const std::string& left : {bytes, std::string(), std::string(4096, '\0')}) {
    { const DB db = test::open_db(machine.environment()); }
    test::put_file(machine.files, kPath, left);
    const Status destroyed = DB::destroy("/store", machine.environment());
    EXPECT_TRUE(destroyed.ok()) << destroyed.to_text();
    EXPECT_FALSE(machine.has_file());
  }
  test::put_file(machine.files, kPath, "12 items in the kitchen");
  EXPECT_EQ(DB::open("/store", {}, machine.environment()).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tamis
