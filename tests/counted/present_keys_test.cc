// What a present key costs: one block when it is cold, nothing when it is hot.
#include <gtest/gtest.h>

#include "counted/counted_store.h"

namespace tamis::test {
namespace {

constexpr std::uint64_t kKeys = 20'000;
constexpr std::uint64_t kStride = 400;  // Keys this far apart never share a block of 4 KiB.

void expect_value(const CountedStore& store, std::uint64_t i) {
  std::string value;
  const Result<bool> found = store.db->get(CountedStore::present_key(i), &value);
  ASSERT_TRUE(found.ok() && *found) << i;
  ASSERT_EQ(value, CountedStore::value_of_number(i));
}

TEST(PresentKeys, AColdOneCostsOneBlockAndAHotOneNothing) {
  Options options;
  options.compaction = "manual";
  CountedStore store(options);
  store.put_numbers(0, kKeys, 1);
  ASSERT_TRUE(store.db->compact().ok());
  store.reopen();
  expect_value(store, 0);  // Loads index and filter.
  for (std::uint64_t i = kStride; i < kKeys; i += kStride) {
    for (const std::uint64_t expected : {1U, 0U, 0U}) {
      const std::uint64_t calls = store.counting.calls();
      const std::uint64_t counted = store.counts().blocks_read;
      expect_value(store, i);
      EXPECT_EQ(store.counting.calls() - calls, expected) << i;
      EXPECT_EQ(store.counts().blocks_read - counted, expected) << i;
    }
  }
}

TEST(PresentKeys, ExplainTellsOfTheReadsThereWere) {
  Options options;
  options.compaction = "manual";
  CountedStore store(options);
  for (std::uint64_t run = 0; run < 10; ++run) {
    store.put_numbers(run, kKeys, 10);
    ASSERT_TRUE(store.db->flush().ok());
  }
  store.reopen();
  for (std::uint64_t i = 0; i < 10; ++i) expect_value(store, i);  // One key of each run.
  std::uint64_t cold = 0;
  for (std::uint64_t i = 1; i < kKeys; i += 37) {
    const std::uint64_t reads = store.counting.reads();
    const std::uint64_t counted = store.counts().blocks_read;
    const Result<Explanation> explanation = store.db->explain(CountedStore::present_key(i));
    ASSERT_TRUE(explanation.ok() && explanation->found) << i;
    EXPECT_EQ(*explanation->value, CountedStore::value_of_number(i));
    EXPECT_EQ(explanation->metadata_reads, 0U) << i;
    EXPECT_EQ(explanation->reads, store.counting.reads() - reads) << explanation->to_text();
    EXPECT_EQ(explanation->reads, store.counts().blocks_read - counted) << explanation->to_text();
    cold += explanation->reads > 0 ? 1 : 0;
    const std::uint64_t again = store.counting.calls();
    expect_value(store, i);
    EXPECT_EQ(store.counting.calls(), again) << i;
  }
  EXPECT_GT(cold, 100U);
}

}  // namespace
}  // namespace tamis::test
