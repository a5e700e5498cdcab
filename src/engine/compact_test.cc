// What compact() guarantees when it returns, even with concurrent writers, and what it costs.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "io/memory_file_system.h"
#include "support/open_db.h"

namespace tamis {
namespace {

/// Counts the steps of compact() and automatic compactions.
class CompactionListener final : public EventListener {
 public:
  void on_event(const StoreEvent& event) override {
    if (event.kind != StoreEvent::Kind::kCompacted) return;
    const bool is_called_for = event.what == "compact was called";
    ++(is_called_for ? steps : automatic);
    bytes += is_called_for ? event.bytes : 0;
  }
  int steps = 0;
  int automatic = 0;
  std::uint64_t bytes = 0;  // Of the steps' tables.
};

/// A store of several levels, without threads. A fifth of its keys is deleted, a fifth overwritten.
class Compact : public ::testing::TestWithParam<const char*> {
 protected:
  static constexpr int kKeys = 4000;

  Compact() {
    for (int i = 0; i < kKeys; ++i) put(key(i), "old");
    for (int i = 0; i < kKeys; i += 5) EXPECT_TRUE(db_.remove(key(i)).ok());
    for (int i = 1; i < kKeys; i += 5) put(key(i), "new");
    EXPECT_TRUE(db_.flush().ok());
  }

  /// In a scattered order.
  static std::string key(int i) { return fmt::format("{:05}", i * 1237 % kKeys); }
  void put(const std::string& key, std::string_view version) {
    EXPECT_TRUE(db_.put(key, fmt::format("{} {:100}", version, key)).ok());
  }
  /// A count, summed over all levels.
  [[nodiscard]] std::uint64_t sum(std::uint64_t Stats::Level::*count) const {
    std::uint64_t total = 0;
    for (const Stats::Level& level : db_.stats().levels) total += level.*count;
    return total;
  }
  void expect_all_there() const {
    for (int i = 0; i < kKeys; ++i) {
      const std::string wanted = fmt::format("{} {:100}", i % 5 == 1 ? "new" : "old", key(i));
      const Result<std::optional<std::string>> found = db_.get(key(i));
      ASSERT_EQ(*found, i % 5 == 0 ? std::nullopt : std::optional(wanted)) << i;
    }
  }

  MemoryFileSystem files_;
  CompactionListener listener_;
  DB db_ = test::open_db({.files = &files_, .listener = &listener_, .runs_in_background = false},
                         {.memory_bytes = 1 << 20,
                          .memtable_bytes = 64 << 10,
                          .table_bytes = 16 << 10,
                          .compaction = GetParam(),
                          .fanout = 3});
};

TEST_P(Compact, LeavesNothingDeadBesideAWriterAndEnds) {
  const std::uint64_t bytes = sum(&Stats::Level::bytes);
  listener_ = {};
  int later = 0;
  int calls = 0;
  const Status done = db_.compact({}, [&](std::uint64_t gone, std::uint64_t total) {
    EXPECT_LE(gone, total);
    for (int i = 0; i < 200; ++i) put(fmt::format("{:05} later {}", i * 20, later++), "later");
    return ++calls < 100;
  });
  ASSERT_TRUE(done.ok()) << done.to_text() << " after " << calls << " steps";
  EXPECT_EQ(sum(&Stats::Level::tombstones), 0U);
  EXPECT_LE(sum(&Stats::Level::entries), static_cast<std::uint64_t>(kKeys * 4 / 5 + later));
  // Each level is written once, with the data from above. Step boundaries and the writer's own data are the rest.
  EXPECT_LT(listener_.bytes, 3 * bytes);
  if (std::string_view(GetParam()) == "leveled") {
    EXPECT_GT(listener_.automatic, 0) << "compactions that are due go on";
  }
  expect_all_there();
}

TEST_P(Compact, DropsInTheLastLevelWhatASnapshotHeldThere) {
  {
    const Snapshot snapshot = db_.snapshot();
    for (int i = 0; i < kKeys; i += 2) put(key(i), "held");
    for (int i = 0; i < kKeys; i += 2) EXPECT_TRUE(db_.remove(key(i)).ok());
    ASSERT_TRUE(db_.compact().ok());
    EXPECT_GT(sum(&Stats::Level::tombstones), 0U);
  }
  ASSERT_TRUE(db_.compact().ok());
  EXPECT_EQ(sum(&Stats::Level::tombstones), 0U);
  EXPECT_EQ(sum(&Stats::Level::entries), static_cast<std::uint64_t>(kKeys / 2 - kKeys / 10));
  listener_ = {};
  ASSERT_TRUE(db_.compact().ok());
  EXPECT_EQ(listener_.steps, 0) << "there is nothing left to do";
}

TEST_P(Compact, StopsWhenItsProgressSaysSo) {
  EXPECT_EQ(db_.compact({}, [](std::uint64_t, std::uint64_t) { return false; }).code(), StatusCode::kClosed);
  expect_all_there();
}

INSTANTIATE_TEST_SUITE_P(Policies, Compact, testing::Values("leveled", "tiered", "lazy", "manual"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace
}  // namespace tamis
