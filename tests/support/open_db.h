// Stores of tests, opened with one call.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "support/files.h"
#include "tamis/db.h"

namespace tamis::test {

inline DB open_db(const Environment& environment, const Options& options = {}) {
  Result<DB> db = DB::open("/store", options, environment);
  EXPECT_TRUE(db.ok()) << db.status().to_text();
  return *std::move(db);
}
/// Without threads: flushes and compactions run in the calls that make them due.
inline DB open_db(FileSystem& files, const Options& options = {}) {
  return open_db({.files = &files, .random_seed = 1, .runs_in_background = false}, options);
}

inline std::uint64_t live_tables(const DB& db) {
  std::uint64_t live = 0;
  for (const Stats::Level& level : db.stats().levels) live += level.tables;
  return live;
}
inline std::uint64_t tables_on_disk(FileSystem& files) {
  const std::vector<std::string> names = names_in(files, "/store");
  return static_cast<std::uint64_t>(
      std::ranges::count_if(names, [](const std::string& name) { return name.ends_with(".tms"); }));
}

}  // namespace tamis::test
