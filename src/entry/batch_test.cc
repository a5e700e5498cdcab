#include "tamis/batch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <ranges>
#include <string>
#include <vector>

#include "entry/batch_inside.h"
#include "entry/changes.h"

namespace tamis {
namespace {

using Kind = Batch::Operation::Kind;

static_assert(std::forward_iterator<Batch::Iterator>);
static_assert(std::ranges::forward_range<const Batch>);

std::vector<Batch::Operation> operations(const Batch& batch) { return {batch.begin(), batch.end()}; }

TEST(Batch, ShowsItsChangesInTheOrderTheyWereMade) {
  Batch batch;
  EXPECT_TRUE(batch.empty());
  EXPECT_EQ(batch.begin(), batch.end());
  batch.put("lyon", "522969");
  batch.remove("paris");
  batch.put("lyon", "");
  batch.put("", "nowhere");
  EXPECT_TRUE(batch.status().ok());
  EXPECT_EQ(batch.size(), 4U);
  const std::vector<Batch::Operation> expected = {{Kind::kPut, "lyon", "522969"},
                                                  {Kind::kRemove, "paris", ""},
                                                  {Kind::kPut, "lyon", ""},
                                                  {Kind::kPut, "", "nowhere"}};
  EXPECT_EQ(operations(batch), expected);
  std::vector<Batch::Operation> walked;
  for (auto operation : batch) walked.push_back(operation);
  EXPECT_EQ(walked, expected);
}

TEST(Batch, KeepsEveryByteOfKeysAndValues) {
  std::string every_byte;
  for (int i = 0; i < 256; ++i) every_byte.push_back(static_cast<char>(i));
  Batch batch;
  batch.put(every_byte, std::string(300'000, '\0'));
  batch.remove(every_byte);
  const std::vector<Batch::Operation> all = operations(batch);
  EXPECT_EQ(all[0].key, every_byte);
  EXPECT_EQ(all[0].value, std::string(300'000, '\0'));
  EXPECT_EQ(all[1].key, every_byte);
}

TEST(Batch, TakesTheLongestKeyAndRefusesOneByteMore) {
  Batch batch;
  batch.put(std::string(Batch::kMaxKeyBytes, 'k'), "v");
  batch.remove(std::string(Batch::kMaxKeyBytes, 'k'));
  EXPECT_TRUE(batch.status().ok());
  batch.put(std::string(Batch::kMaxKeyBytes + 1, 'k'), "v");
  EXPECT_EQ(batch.status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(batch.status().message(), "the key has 16777217 bytes; the max is 16777216 (change 3 of the batch)");
  EXPECT_EQ(batch.size(), 2U);
}

TEST(Batch, RefusesAValueOfFourGibibytesWithoutLookingAtIt) {
  Batch batch;
  const char one_byte = 'v';  // Only the length matters; the bytes do not exist.
  batch.put("k", std::string_view(&one_byte, std::size_t{1} << 32));
  EXPECT_EQ(batch.status().message(), "the value has 4294967296 bytes; the max is 1073741824");
}

TEST(Batch, AfterARefusalTakesNothingUntilItIsCleared) {
  Batch batch;
  batch.put("a", "1");
  batch.remove(std::string(Batch::kMaxKeyBytes + 1, 'k'));
  const std::string first_refusal(batch.status().message());
  batch.put("b", "2");
  batch.put(std::string(Batch::kMaxKeyBytes + 2, 'k'), "");
  batch.append(batch);
  EXPECT_EQ(batch.size(), 1U);
  EXPECT_EQ(batch.status().message(), first_refusal);
  batch.clear();
  EXPECT_TRUE(batch.status().ok());
  EXPECT_TRUE(batch.empty());
  batch.put("b", "2");
  EXPECT_EQ(operations(batch), (std::vector<Batch::Operation>{{Kind::kPut, "b", "2"}}));
}

TEST(Batch, AppendsAnotherBatchOrItsRefusal) {
  Batch first;
  first.put("a", "1");
  Batch second;
  second.remove("b");
  first.append(second);
  first.append(Batch());
  EXPECT_EQ(operations(first), (std::vector<Batch::Operation>{{Kind::kPut, "a", "1"}, {Kind::kRemove, "b", ""}}));

  second.put(std::string(Batch::kMaxKeyBytes + 1, 'k'), "");
  first.append(second);
  EXPECT_EQ(first.status().message(), second.status().message());
  EXPECT_EQ(first.size(), 2U);
}

TEST(Batch, MayBeAppendedToItself) {
  Batch batch;
  for (int i = 0; i < 50; ++i) batch.put(std::to_string(i), "a value too long to be kept inside a string object");
  batch.append(batch);
  const std::vector<Batch::Operation> all = operations(batch);
  ASSERT_EQ(all.size(), 100U);
  EXPECT_TRUE(std::equal(all.begin(), all.begin() + 50, all.begin() + 50));
}

Batch two_keyspaces() {
  Batch batch;
  BatchInside::add(batch, KeyspaceId{3}, EntryKind::kPut, "a", "1");
  batch.remove("a");
  BatchInside::add(batch, KeyspaceId{3}, EntryKind::kDelete, "b", {});
  return batch;
}

TEST(Batch, ShowsTheKeyspaceOfEveryChange) {
  const std::vector<Batch::Operation> expected = {
      {Kind::kPut, "a", "1", 3}, {Kind::kRemove, "a", "", 0}, {Kind::kRemove, "b", "", 3}};
  Batch batch = two_keyspaces();
  EXPECT_EQ(operations(batch), expected);
  EXPECT_EQ(batch.size(), 3U);
  EXPECT_EQ(std::next(batch.begin(), 3), batch.end());

  batch.append(batch);
  std::vector<Batch::Operation> twice = expected;
  twice.insert(twice.end(), expected.begin(), expected.end());
  EXPECT_EQ(operations(batch), twice);

  Batch other;
  other.swap(batch);
  EXPECT_EQ(operations(other), twice);
  batch.put("c", "2");
  EXPECT_EQ(operations(batch), (std::vector<Batch::Operation>{{Kind::kPut, "c", "2", 0}}));
  other.clear();
  other.put("c", "2");
  EXPECT_EQ(operations(other), operations(batch));
  EXPECT_EQ(other.byte_size(), batch.byte_size());
}

TEST(Batch, Rule38_KnowsWhetherItHasLongKeys) {
  const std::string narrow(kMaxNarrowKeyBytes, 'k');
  Batch batch;
  batch.put(narrow, "v");
  EXPECT_FALSE(Changes(batch).has_long_keys());
  EXPECT_FALSE(Changes(kDefaultKeyspace, EntryKind::kPut, narrow, "v").has_long_keys());
  EXPECT_TRUE(Changes(kDefaultKeyspace, EntryKind::kDelete, narrow + "k", {}).has_long_keys());
  Batch other;
  other.remove(narrow + "k");
  EXPECT_TRUE(Changes(other).has_long_keys());
  batch.append(other);
  EXPECT_TRUE(Changes(batch).has_long_keys());
  Batch moved = std::move(batch);
  EXPECT_TRUE(Changes(moved).has_long_keys());
  moved.clear();
  EXPECT_FALSE(Changes(moved).has_long_keys());
}

TEST(Batch, KeepsTheKeyspaceOfWhatIsAppendedToAnEmptyOne) {
  Batch batch;
  batch.append(two_keyspaces());
  batch.append(Batch());
  EXPECT_EQ(BatchInside::entries(batch), BatchInside::entries(two_keyspaces()));
  EXPECT_EQ(BatchInside::keyspaces(batch), (EntryKeyspaces{KeyspaceId{3}, KeyspaceId{3}, true}));
}

TEST(Batch, IsEmptyAfterItWasMovedFromAndEqualAfterItWasCopied) {
  Batch batch;
  batch.put("a", "1");
  const Batch copy = batch;
  const Batch moved = std::move(batch);
  EXPECT_EQ(operations(copy), operations(moved));
  EXPECT_TRUE(batch.empty());  // NOLINT(bugprone-use-after-move): guaranteed.
  EXPECT_EQ(batch.begin(), batch.end());
  batch.remove("b");
  EXPECT_EQ(batch.size(), 1U);
  batch = Batch();
  EXPECT_TRUE(batch.empty());
}

}  // namespace
}  // namespace tamis
