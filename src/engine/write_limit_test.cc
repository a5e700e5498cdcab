#include "engine/write_limit.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

using std::chrono::milliseconds;

TEST(WriteLimit, BytesFollowEachOtherAtTheRate) {
  WriteLimit limit(1'000'000);
  const WriteLimit::Clock::time_point begin{std::chrono::hours(1)};
  EXPECT_EQ(limit.take(500'000, begin) - begin, milliseconds(500));
  EXPECT_EQ(limit.take(500'000, begin) - begin, milliseconds(1000));
  EXPECT_EQ(limit.take(100'000, begin + milliseconds(400)) - begin, milliseconds(1100));
}

TEST(WriteLimit, TimeThatWasNotUsedIsLost) {
  WriteLimit limit(1'000'000);
  const WriteLimit::Clock::time_point begin{std::chrono::hours(1)};
  limit.take(1000, begin);
  const auto later = begin + milliseconds(5000);
  EXPECT_EQ(limit.take(1'000'000, later) - later, milliseconds(1000)) << "no burst after a pause";
}

}  // namespace
}  // namespace tamis
