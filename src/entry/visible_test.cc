#include "entry/visible.h"

#include <gtest/gtest.h>

#include <string>

namespace tamis {
namespace {

constexpr std::uint64_t kDue = 1'700'000'000'123;

std::string expiring(std::string_view value) {
  std::string stored;
  append_expiring(stored, {kDue, value});
  return stored;
}

template <typename AnyEntry>
Visible at(EntryKind kind, std::uint64_t sequence, std::uint64_t moment) {
  AnyEntry entry;
  entry.kind = kind;
  entry.sequence = Sequence{sequence};
  std::string_view value;
  return visible(entry, Moment{Sequence{moment}}, value);
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

/// What an entry shows at a time.
template <typename AnyEntry>
std::string seen(const AnyEntry& entry, std::uint64_t time) {
  std::string_view value;
  switch (visible(entry, Moment{Sequence{9}, time}, value)) {
    case Visible::kNewer: return "newer";
    case Visible::kApart: return "apart";
    case Visible::kDeleted: return "deleted";
    case Visible::kOperand: return "operand";
    case Visible::kValue: break;
  }
  return std::string(value);
}

TEST(Visible, Rule28AValueIsADeleteFromTheMillisecondOnInWhichItIsDue) {
  const std::string stored = expiring("value");
  const Entry entry{"key", stored, Sequence{9}, EntryKind::kExpiringPut};
  EXPECT_EQ(seen(entry, kDue - 1), "value");
  EXPECT_EQ(seen(entry, kDue), "deleted");
  EXPECT_EQ(seen(entry, kDue + 1), "deleted");
  const FoundEntry found{EntryKind::kExpiringPut, Sequence{9}, stored};
  EXPECT_EQ(seen(found, kDue - 1), "value");
  EXPECT_EQ(seen(found, kDue), "deleted");
  const Entry later{"key", stored, Sequence{10}, EntryKind::kExpiringPut};
  EXPECT_EQ(seen(later, kDue), "newer");
  const Entry in_block{"key", "", Sequence{9}, EntryKind::kInValue};
  const std::string with_kind = "\x09" + stored;
  Entry shown = in_block;
  shown.value = with_kind;
  EXPECT_EQ(shown.plain(), entry);
  EXPECT_EQ(seen(shown, kDue - 1), "value");
  EXPECT_EQ(seen(shown, kDue), "deleted");
}

TEST(Visible, AValueApartIsAPointerAndExpiresAsOthersDo) {
  EXPECT_EQ(seen(Entry{"key", "pointer", Sequence{9}, EntryKind::kPutApart}, kDue), "apart");
  const std::string stored = expiring("pointer");
  const Entry entry{"key", stored, Sequence{9}, EntryKind::kExpiringPutApart};
  EXPECT_EQ(seen(entry, kDue - 1), "apart");
  EXPECT_EQ(seen(entry, kDue), "deleted");
  std::string_view value;
  (void)visible(entry, Moment{Sequence{9}, kDue - 1}, value);
  EXPECT_EQ(value, "pointer");
}

TEST(Visible, TheTimeIsReadOnlyForAnEntryThatExpires) {
  int calls = 0;
  const auto load_time = [&] {
    ++calls;
    return kDue;
  };
  std::string_view value;
  for (const EntryKind kind : {EntryKind::kPut, EntryKind::kDelete}) {
    (void)visible(Entry{"key", "", Sequence{9}, kind}, Sequence{9}, load_time, value);
  }
  const std::string stored = expiring("value");
  (void)visible(Entry{"key", stored, Sequence{9}, EntryKind::kExpiringPut}, Sequence{8}, load_time, value);
  EXPECT_EQ(calls, 0);
  (void)visible(Entry{"key", stored, Sequence{9}, EntryKind::kExpiringPut}, Sequence{9}, load_time, value);
  EXPECT_EQ(calls, 1);
}

/// Every number of a kind that a block or a batch could hold: bytes of the others never get as far as this.
TEST(VisibleDeathTest, AKindThatIsNotKnownIsNeitherAValueNorADelete) {
  for (const int number : {0, 4, 5, 6}) {  // Dying takes time.
    ASSERT_FALSE(is_entry_kind(static_cast<std::uint8_t>(number)));
    EXPECT_DEATH((void)at<Entry>(static_cast<EntryKind>(number), 1, 1), "broken promise");
  }
}

}  // namespace
}  // namespace tamis
