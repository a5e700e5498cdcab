#include "table/block_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "base/bytes.h"
#include "base/instruction_set.h"

namespace tamis {
namespace {

TEST(BlockScan, AnswersTheSameOnEveryInstructionSet) {
  const BlockScan plain = plain_block_scan();
  for (const InstructionSet set : supported_instruction_sets()) {
    const PretendedInstructionSet pretended(set);
    const BlockScan scan = best_block_scan();
    std::mt19937_64 random(1);
    for (std::size_t count = 0; count < 300; ++count) {
      // Exactly as many bytes as may be read, so that the sanitizer sees any more.
      std::vector<char> tags(64);
      for (char& tag : tags) tag = static_cast<char>(random() % 8 + 0x7c);
      const auto tag = static_cast<std::uint8_t>(random() % 8 + 0x7c);
      ASSERT_EQ(scan.match_tags(tags.data(), tag), plain.match_tags(tags.data(), tag)) << name_of(set);
      std::vector<std::uint16_t> numbers(count);
      for (std::uint16_t& number : numbers) number = static_cast<std::uint16_t>(random() % 12 * 0x1745 + random() % 2);
      std::ranges::sort(numbers);
      std::vector<char> heads(2 * count + 64, '\0');
      for (std::size_t i = 0; i < count; ++i) store_le(heads.data() + 2 * i, numbers[i]);
      for (const std::uint16_t extreme : {0, 1, 0x7fff, 0x8000, 0xffff}) {
        const std::uint16_t wanted = count % 2 == 0 || count == 0 ? extreme : numbers[random() % count];
        const auto below = static_cast<std::size_t>(std::ranges::lower_bound(numbers, wanted) - numbers.begin());
        const auto equal = static_cast<std::size_t>(std::ranges::count(numbers, wanted));
        ASSERT_EQ(scan.count_heads(heads.data(), count, wanted), (ScanCounts{below, equal})) << name_of(set);
        ASSERT_EQ(plain.count_heads(heads.data(), count, wanted), (ScanCounts{below, equal}));
      }
    }
  }
}

TEST(BlockScan, OfThisProgramIsTheBest) {
  EXPECT_EQ(block_scan.match_tags, best_block_scan().match_tags);
  EXPECT_EQ(block_scan.count_heads, best_block_scan().count_heads);
}

}  // namespace
}  // namespace tamis
