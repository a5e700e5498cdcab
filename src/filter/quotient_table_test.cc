#include "filter/quotient_table.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "base/random.h"

namespace tamis {
namespace {

using Model = std::multimap<std::uint64_t, std::uint64_t>;  // Entries by quotient, in the order of their run.

/// What the table holds, run by run.
Model entries_of(const QuotientTable& table) {
  Model entries;
  table.each_run([&](std::uint64_t quotient, QuotientTable::Run run) {
    for (std::uint64_t slot = run.begin; slot < run.end; ++slot) entries.emplace(quotient, table.entry(slot));
    return true;
  });
  return entries;
}

class QuotientTables : public testing::TestWithParam<std::uint32_t> {
 protected:
  QuotientShape shape_ = {.quotient_bits = GetParam(), .entry_bits = 13};
  std::vector<std::byte> bytes_ = std::vector<std::byte>(shape_.bytes());
};

/// Inserts and erases at random, at every load up to the most, and crowded at both ends.
TEST_P(QuotientTables, HoldWhatAMultimapHolds) {
  QuotientTableWriter table(shape_, bytes_.data());
  SplitMix64 random(GetParam());
  Model model;
  for (int step = 0; step < 20'000; ++step) {
    const bool grows = step / 2'500 % 2 == 0;
    if (model.size() < shape_.most_entries() && random.below(10) < (grows ? 8U : 3U)) {
      std::uint64_t quotient = random.below(shape_.quotients());
      if (random.below(8) == 0) quotient = shape_.quotients() - 1 - random.below(4);
      const std::uint64_t entry = 1 + random.below(8191);
      const auto copies = model.count(quotient);
      if (!table.insert(quotient, entry)) {
        EXPECT_GT(model.size(), shape_.quotients() / 8);
        continue;
      }
      model.emplace(quotient, entry);
      ASSERT_EQ(table.run_of(quotient).end - table.run_of(quotient).begin, copies + 1);
    } else if (!model.empty()) {
      const auto found = model.lower_bound(random.below(shape_.quotients()));
      if (found == model.end()) continue;
      const auto place = static_cast<std::uint64_t>(std::distance(model.lower_bound(found->first), found));
      table.erase(found->first, table.run_of(found->first).begin + place);
      model.erase(found);
    }
    if (step % 16 == 0) {
      ASSERT_TRUE(table.is_whole(model.size())) << step;
      ASSERT_EQ(entries_of(table), model) << step;
    }
  }
}

TEST_P(QuotientTables, AreTheSameWhenAppendedInOrder) {
  QuotientTableWriter inserted(shape_, bytes_.data());
  SplitMix64 random(GetParam() + 100);
  for (std::uint64_t i = 0; i < shape_.most_entries(); ++i) {
    ASSERT_TRUE(inserted.insert(random.below(shape_.quotients()), 1 + random.below(8191)));
  }
  std::vector<std::byte> bytes(shape_.bytes());
  QuotientTableWriter appended(shape_, bytes.data());
  for (const auto& [quotient, entry] : entries_of(inserted)) ASSERT_TRUE(appended.append(quotient, entry));
  ASSERT_TRUE(appended.finish_appending());
  EXPECT_TRUE(bytes == bytes_);
}

INSTANTIATE_TEST_SUITE_P(QuotientBits, QuotientTables, testing::Values(6U, 7U, 9U, 10U));

TEST(QuotientTable, RefusesAnEntryWithoutASlotAndIsUnchanged) {
  const QuotientShape shape = {.quotient_bits = 6, .entry_bits = 5};
  std::vector<std::byte> bytes(shape.bytes());
  QuotientTableWriter table(shape, bytes.data());
  const std::uint64_t last = shape.quotients() - 1;
  for (std::uint64_t slot = last; slot < shape.slots(); ++slot) ASSERT_TRUE(table.insert(last, 7));
  const std::vector<std::byte> before = bytes;
  EXPECT_FALSE(table.insert(last, 7));
  EXPECT_TRUE(table.is_whole(shape.slots() - last));
  EXPECT_TRUE(bytes == before);
  EXPECT_TRUE(table.insert(0, 9));
}

}  // namespace
}  // namespace tamis
