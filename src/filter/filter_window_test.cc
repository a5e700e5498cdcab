#include "tamis/filter_window.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace tamis {
namespace {

using std::chrono::milliseconds;

/// Keys at random moments, over a hundred spans, from a clock that begins before its zero: found for the span, and
/// forgotten a generation later.
TEST(FilterWindow, FindsKeysForTheSpanAndForgetsThemAGenerationLater) {
  for (const std::uint32_t generations : {2U, 5U, 64U}) {
    for (const char* kind : {"bloom", "growing"}) {
      FilterWindow window =
          FilterWindow::create({.kind = kind, .target_rate = 1e-6, .capacity = 1000}, milliseconds(1000), generations)
              .value();
      const milliseconds longer((1000 + generations - 2) / (generations - 1) * generations);
      SplitMix64 random(generations);
      std::vector<milliseconds> added;
      milliseconds now(-20'000);
      for (int i = 0; i < 2'000; ++i) {
        now += milliseconds(static_cast<std::int64_t>(random.below(100)));
        ASSERT_TRUE(window.add(std::to_string(i), now).ok());
        added.push_back(now);
        const std::size_t first = added.size() < 120 ? 0 : added.size() - 120;
        for (std::size_t j = first; j < added.size(); ++j) {
          const bool found = window.may_contain(std::to_string(j), now);
          if (now - added[j] <= milliseconds(1000)) {
            ASSERT_TRUE(found) << i << " " << j;
          }
          if (now - added[j] >= longer) {
            ASSERT_FALSE(found) << i << " " << j;
          }
        }
      }
      EXPECT_FALSE(window.may_contain("1999", now + longer)) << "nothing was added since";
    }
  }
}

TEST(FilterWindow, ForgetsNothingEarlyIfTheClockGoesBack) {
  FilterWindow window =
      FilterWindow::create({.kind = "bloom", .target_rate = 1e-6, .capacity = 100}, milliseconds(1000)).value();
  ASSERT_TRUE(window.add("before", milliseconds(10'000)).ok());
  ASSERT_TRUE(window.add("after", milliseconds(2'000)).ok());
  for (const int now : {2'000, 3'000, 10'000, 10'999}) {
    EXPECT_TRUE(window.may_contain("before", milliseconds(now))) << now;
    EXPECT_TRUE(window.may_contain("after", milliseconds(now))) << now;
  }
  EXPECT_FALSE(window.may_contain("after", milliseconds(12'000)));
}

/// All generations together have the rate, however the window is sized.
TEST(FilterWindow, KeepsItsRateWhenItIsFull) {
  for (const char* kind : {"line", "bloom", "growing"}) {
    FilterWindow window =
        FilterWindow::create({.kind = kind, .target_rate = 0.02, .capacity = 10'000}, milliseconds(1000)).value();
    for (int i = 0; i < 12'500; ++i) ASSERT_TRUE(window.add("in" + std::to_string(i), milliseconds(i / 10)).ok());
    int wrong = 0;
    for (int i = 0; i < 50'000; ++i) wrong += window.may_contain("out" + std::to_string(i), milliseconds(1249)) ? 1 : 0;
    EXPECT_LE(wrong, 1'130) << kind;
    EXPECT_TRUE(window.may_contain("in2500", milliseconds(1249)));
  }
  const FilterOptions of_memory = {.kind = "bloom", .memory_bytes = 20'000, .capacity = 10'000};
  const FilterWindow window = FilterWindow::create(of_memory, milliseconds(1000)).value();
  EXPECT_LE(window.bytes(), 20'000U);
  EXPECT_GE(window.bytes(), 19'000U);
}

TEST(FilterWindow, RefusesWhatIsNoWindow) {
  const FilterOptions options = {.kind = "bloom", .capacity = 100};
  for (const std::uint32_t generations : {0U, 1U, 65U}) {
    EXPECT_EQ(FilterWindow::create(options, milliseconds(1000), generations).status().code(),
              StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(FilterWindow::create(options, milliseconds(3)).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(FilterWindow::create({.kind = "ribbon", .capacity = 100}, milliseconds(1000)).status().code(),
            StatusCode::kNotSupported);
  FilterWindow none;
  EXPECT_TRUE(none.may_contain("key", milliseconds(0)));
  EXPECT_EQ(none.add("key", milliseconds(0)).code(), StatusCode::kClosed);
}

}  // namespace
}  // namespace tamis
