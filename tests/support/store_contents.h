// What a store holds, and where.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <string>

#include "tamis/db.h"

namespace tamis::test {

/// All keys and values, which must be the same backwards.
inline std::string contents_of(const DB& db, const Snapshot* snapshot = nullptr) {
  std::string forwards;
  std::string backwards;
  for (Iterator at = db.scan({.snapshot = snapshot}); at.valid(); at.next()) {
    forwards += fmt::format("{}={} ", at.key(), at.value());
  }
  for (Iterator at = db.scan({.reverse = true, .snapshot = snapshot}); at.valid(); at.advance()) {
    backwards.insert(0, fmt::format("{}={} ", at.key(), at.value()));
  }
  EXPECT_EQ(forwards, backwards);
  return forwards;
}

/// Leaves everything where it is (0), or moves it to tables (1), or to the last level (2).
inline void settle(DB& db, int depth) {
  const Status done = depth == 0 ? Status() : depth == 1 ? db.flush() : db.compact();
  ASSERT_TRUE(done.ok()) << done.to_text();
}

}  // namespace tamis::test
