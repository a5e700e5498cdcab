#include "entry/visible.h"

#include <gtest/gtest.h>

namespace tamis {
namespace {

template <typename AnyEntry>
Visible at(EntryKind kind, std::uint64_t sequence, std::uint64_t moment) {
  AnyEntry entry;
  entry.kind = kind;
  entry.sequence = Sequence{sequence};
  return visible(entry, Sequence{moment});
}

template <typename AnyEntry>
void expect_meaning() {
  for (const std::uint64_t moment : {9U, 10U}) {
    EXPECT_EQ(at<AnyEntry>(EntryKind::kPut, 9, moment), Visible::kValue);
    EXPECT_EQ(at<AnyEntry>(EntryKind::kDelete, 9, moment), Visible::kDeleted);
  }
  EXPECT_EQ(at<AnyEntry>(EntryKind::kPut, 9, 8), Visible::kNewer);
  EXPECT_EQ(at<AnyEntry>(EntryKind::kDelete, 9, 8), Visible::kNewer);
  EXPECT_EQ(at<AnyEntry>(EntryKind::kPut, 0, 0), Visible::kValue) << "0 is before every snapshot";
}

TEST(Visible, APutIsAValueAndADeleteIsNoneFromItsSequenceOn) {
  expect_meaning<Entry>();
  expect_meaning<FoundEntry>();
}

/// Every number of a kind that a block or a batch could hold: bytes of the others never get as far as this.
TEST(VisibleDeathTest, AKindThatIsNotKnownIsNeitherAValueNorADelete) {
  for (int number = 0; number < 256; ++number) {
    const auto kind = static_cast<EntryKind>(number);
    if (is_entry_kind(static_cast<std::uint8_t>(number))) {
      EXPECT_NE(at<Entry>(kind, 1, 1), Visible::kNewer);
    } else if (number < 8) {  // Dying takes time.
      EXPECT_DEATH((void)at<Entry>(kind, 1, 1), "broken promise");
    }
  }
}

}  // namespace
}  // namespace tamis
