// A store for tests of transactions.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "io/memory_file_system.h"

namespace tamis::test {

inline constexpr StatusCode kConflict = StatusCode::kConflict;
inline constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;

class TransactionStore : public ::testing::Test {
 protected:
  TransactionStore() { open(); }

  void open(const Options& options = {}) {
    db_ = DB();
    Result<DB> opened = DB::open("/store", options, {.files = &files_, .runs_in_background = false});
    ASSERT_TRUE(opened.ok()) << opened.status().to_text();
    db_ = *std::move(opened);
  }
  void put(std::string_view key, std::string_view value) { ASSERT_TRUE(db_.put(key, value).ok()); }
  std::string value_of(std::string_view key) { return text(db_.get(key)); }
  static std::string text(const Result<std::optional<std::string>>& value) {
    return value.ok() ? value->value_or("absent") : value.status().to_text();
  }

  MemoryFileSystem files_;
  DB db_;
};

/// "a=1 b=2", or the error.
inline std::string all_of(Iterator it) {
  std::string all;
  for (const auto& [key, value] : it) all += fmt::format("{}{}={}", all.empty() ? "" : " ", key, value);
  return it.status().ok() ? all : it.status().to_text();
}

}  // namespace tamis::test
