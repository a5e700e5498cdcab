// What must not allocate. The one file of this program that counts.
#include <gtest/gtest.h>

#include <string>

#include "base/aligned_bytes.h"
#include "base/hash.h"
#include "support/allocation_count.h"
#include "table/data_block_format.h"

namespace tamis {
namespace {

TEST(DataBlock, AllocatesNothingWhenAsked) {
  const KeyHasher hasher;
  DataBlockBuilder builder(4096);
  const auto key_of = [](int i) { return "a key of some length " + std::to_string(10 + i); };
  for (int i = 0; i < 20; ++i) {
    const std::string key = key_of(i);
    builder.add({key, "value", Sequence{9}, EntryKind::kPut}, hasher(key));
  }
  std::string bytes(builder.finish());
  const std::size_t block_bytes = bytes.size();
  bytes.append(kBlockSlackBytes, '\0');
  const AlignedBytes frame = AlignedBytes::copy_of(as_bytes(bytes));
  const std::string wanted = key_of(7);
  std::string key_buffer;
  Entry entry;
  EXPECT_EQ(test::allocations_when_repeated([&] {
              ASSERT_TRUE(DataBlock::check(frame.span().first(block_bytes), "t", 0).ok());
              const DataBlock block(frame.span().first(block_bytes));
              ASSERT_TRUE(block.find({wanted, hasher(wanted), kMaxSequence}, true).has_value());
              ASSERT_TRUE(block.find({wanted, 0, kMaxSequence}, false).has_value());
              ASSERT_EQ(block.lower_bound(EntryPosition{wanted}), 7U);
              block.load(7, key_buffer, entry);
            }),
            0U);
  EXPECT_EQ(entry.key, wanted);
}

}  // namespace
}  // namespace tamis
