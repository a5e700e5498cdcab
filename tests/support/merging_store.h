// A store with a merge operator, for tests.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/memory_file_system.h"
#include "support/store_contents.h"
#include "tamis/db.h"

namespace tamis::test {

inline constexpr std::uint64_t kMergesBegin = 1'700'000'000'000;

/// Appends, but cannot append to or after a value with an 'x'.
inline MergeOperator picky() {
  const auto fold = [](std::string_view older, std::string_view newer, std::string& result) {
    if (older.find('x') != older.npos || newer.find('x') != newer.npos) return false;
    result.append(older).append(newer);
    return true;
  };
  return {"picky", fold};
}

inline Options with_operator(std::string_view name) { return {.merge_operator = std::string(name)}; }

/// A store whose clock the test moves, with an operator that shows the order in which it folds.
class MergingStore {
 public:
  explicit MergingStore(Options given = with_operator("append")) : options(std::move(given)) { open(); }

  void open() {
    const Status opened = try_open();
    ASSERT_TRUE(opened.ok()) << opened.to_text();
  }
  Status try_open() {
    db.reset();
    const Environment environment{.files = &files,
                                  .random_seed = 1,
                                  .runs_in_background = false,
                                  .unix_milliseconds = [this] { return clock.load(); },
                                  .uptime_milliseconds = [this] { return clock.load() - kMergesBegin; }};
    Result<DB> opened = DB::open("/store", options, environment);
    if (!opened.ok()) return opened.status();
    db.emplace(*std::move(opened));
    return {};
  }
  void put(std::string_view key, std::string_view value, std::chrono::milliseconds expires_in = {}) {
    ASSERT_TRUE(db->put(key, value, {.expires_in = expires_in}).ok());
  }
  void merge(std::string_view key, std::string_view operand) {
    const Status merged = db->merge(key, operand);
    ASSERT_TRUE(merged.ok()) << merged.to_text();
  }
  /// By all reads of a key, which must agree.
  std::string get(std::string_view key, const Snapshot* snapshot = nullptr) {
    const ReadOptions read{.snapshot = snapshot};
    const Result<std::optional<std::string>> value = db->get(key, read);
    const std::string answer = !value.ok() ? value.status().to_text() : value->value_or("-");
    const Result<bool> exists = db->exists(key, read);
    EXPECT_EQ(exists.ok() ? "" : exists.status().to_text(), value.ok() ? "" : answer);
    if (exists.ok()) {
      EXPECT_EQ(*exists, answer != "-");
    }
    const Result<std::optional<PinnedValue>> pinned = db->get_pinned(key, read);
    EXPECT_EQ(!pinned.ok() ? pinned.status().to_text() : *pinned ? std::string((*pinned)->view()) : "-", answer);
    const std::vector<std::string_view> keys = {"nothing", key};
    const Result<std::optional<std::string>> together = db->multi_get(keys, read)[1];
    EXPECT_EQ(!together.ok() ? together.status().to_text() : together->value_or("-"), answer);
    const Result<Explanation> explained = db->explain(key, read);
    EXPECT_TRUE(explained.ok());
    if (explained.ok() && value.ok()) {
      EXPECT_EQ(explained->value.value_or("-"), answer);
    }
    return answer;
  }
  std::string all(const Snapshot* snapshot = nullptr) { return contents_of(*db, snapshot); }
  void settle(int depth) { test::settle(*db, depth); }
  [[nodiscard]] std::uint64_t entries() const {
    std::uint64_t all = 0;
    for (const Stats::Level& level : db->stats().levels) all += level.entries;
    return all;
  }

  MemoryFileSystem files;
  std::atomic<std::uint64_t> clock = kMergesBegin;
  Options options;
  std::optional<DB> db;
};

}  // namespace tamis::test
