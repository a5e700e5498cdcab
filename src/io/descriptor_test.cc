#include "io/descriptor.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

/// A call that signals interrupt this many times, and that then succeeds or fails.
struct Call {
  int interruptions;
  int result;
  int error = 0;
  int made = 0;

  int operator()() {
    ++made;
    errno = made <= interruptions ? EINTR : error;
    return made <= interruptions ? -1 : result;
  }
};

TEST(RetryInterrupted, P6_MakesACallAgainUntilNoSignalGetsInTheWay) {
  for (const int interruptions : {0, 1, 5}) {
    Call call{.interruptions = interruptions, .result = 7};
    EXPECT_EQ(retry_interrupted([&] { return call(); }), 7);
    EXPECT_EQ(call.made, interruptions + 1);
  }
}

TEST(RetryInterrupted, P6_TellsAnyOtherErrorAtOnce) {
  Call call{.interruptions = 2, .result = -1, .error = ENOSPC};
  EXPECT_EQ(retry_interrupted([&] { return call(); }), -1);
  EXPECT_EQ(errno, ENOSPC);
  EXPECT_EQ(call.made, 3);
}

}  // namespace
}  // namespace tamis
