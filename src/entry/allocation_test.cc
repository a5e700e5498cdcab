// Iterating allocates nothing.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "entry/batch_format.h"
#include "entry/changes.h"
#include "entry/merging_iterator.h"
#include "entry/visible_iterator.h"
#include "support/allocation_count.h"
#include "support/entry_sets.h"

namespace tamis {
namespace {

using test::allocations_when_repeated;

TEST(Allocations, NoneWhileIteratorsWalkAndTurn) {
  const test::EntrySets sets(1, {.runs = 9, .entries = 200, .keys = 60, .sequences = 90});
  VisibleIterator iterator(make_merging_iterator(sets.iterators()), Moment{Sequence{70}}, {});
  const auto walk = [&] {
    for (iterator.seek_to_first(); iterator.valid(); iterator.next()) continue;
    for (iterator.seek_to_last(); iterator.valid(); iterator.previous()) continue;
    iterator.seek_to_first();
    for (int i = 0; i < 10; ++i) {
      iterator.next();
      iterator.previous();
    }
  };
  EXPECT_EQ(allocations_when_repeated(walk), 0U);
}

TEST(Allocations, NoneWhileABatchIsFilledAgainEncodedAndRead) {
  Batch batch;
  std::string bytes;
  const auto fill_encode_and_read = [&] {
    batch.clear();
    for (int i = 0; i < 100; ++i) batch.put("key", "value");
    bytes.clear();
    const Changes group[] = {batch};
    EntryKeyspaces keyspaces;
    append_encoded(bytes, group, keyspaces);
    const Result<BatchView> view = BatchView::decode(as_bytes(bytes), Sequence{1}, "t");
    std::uint64_t key_bytes = 0;
    for (const Entry& entry : *view) key_bytes += entry.key.size();
    ASSERT_EQ(key_bytes, 300U);
  };
  EXPECT_EQ(allocations_when_repeated(fill_encode_and_read), 0U);
}

TEST(Allocations, AreCounted) {
  std::unique_ptr<int> kept;
  EXPECT_EQ(allocations_when_repeated([&] { kept = std::make_unique<int>(1); }), 1U);
}

}  // namespace
}  // namespace tamis
