#include "show/progress.h"

#include <gtest/gtest.h>

namespace tamis::show {
namespace {

ProgressState half_way() {
  return {.label = "loading", .done = 50, .total = 100, .items = 1'234'000, .item_name = "entries", .seconds = 10};
}

TEST(ProgressLine, HasABarARateAndTheTimeThatIsLeft) {
  EXPECT_EQ(progress_line(half_way(), 79),
            "loading [###########...........]  50 %  1,234,000 entries, 123,400/s, 0:10 left");
}

TEST(ProgressLine, FitsTheTerminalWhateverItsWidth) {
  ProgressState state = half_way();
  state.seconds = 12'345;
  for (std::size_t columns = 0; columns < 200; ++columns) EXPECT_LE(progress_line(state, columns).size(), columns);
  EXPECT_EQ(progress_line(half_way(), 60), "loading  50 %  1,234,000 entries, 123,400/s, 0:10 left");
}

TEST(ProgressLine, LeavesRoomForTheInterruptThatSomebodyTypes) {
  const std::string typed = "^C";
  for (const std::size_t columns : {20U, 40U, 80U, 81U, 132U}) {
    const std::string line = progress_line(half_way(), columns_beside_typing(columns));
    EXPECT_LT(line.size() + typed.size(), columns) << line;
  }
  EXPECT_EQ(columns_beside_typing(0), columns_beside_typing(80));
  EXPECT_EQ(columns_beside_typing(1), 0U);
}

TEST(ProgressLine, ShowsBytesAsSizesAndBytesASecond) {
  const ProgressState state = {
      .label = "verifying", .done = 300 << 20, .total = 400 << 20, .counts_bytes = true, .seconds = 3};
  EXPECT_EQ(progress_line(state, 79),
            "verifying [#######################.......]  75 %  300 MiB, 100 MiB/s, 0:01 left");
}

TEST(ProgressLine, CallsAGuessAGuess) {
  const ProgressState state = {.label = "compacting", .done = 1, .total = 3601, .total_is_a_guess = true, .seconds = 1};
  EXPECT_EQ(progress_line(state, 79), "compacting [..............................]   0 %  about 1:00:00 left");
}

TEST(ProgressLine, HasNoBarWhereTheTotalIsUnknownOrWasGuessedTooSmall) {
  EXPECT_EQ(progress_line({.label = "loading", .done = 7, .items = 12, .item_name = "entries", .seconds = 2}, 79),
            "loading 12 entries, 6/s");
  EXPECT_EQ(
      progress_line({.label = "compacting", .done = 5 << 20, .total = 4 << 20, .counts_bytes = true, .seconds = 5}, 79),
      "compacting 5.00 MiB, 1.00 MiB/s");
  EXPECT_EQ(progress_line({.label = "measuring", .done = 1234}, 79), "measuring 1,234");
}

TEST(ProgressLine, SaysNothingOfTheTimeBeforeAnythingWasDone) {
  EXPECT_EQ(progress_line({.label = "measuring", .done = 0, .total = 8, .seconds = 2}, 79),
            "measuring [..............................]   0 %");
}

}  // namespace
}  // namespace tamis::show
