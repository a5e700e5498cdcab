// How many pages of a file a block lies on.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <random>

#include "support/table_world.h"
#include "table/data_block_layout_format.h"
#include "table/table.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

using data_block::kPageBytes;
using test::TableEntries;
using test::TableWorld;

/// Of a table's blocks, except the last, which is not padded.
struct Pages {
  std::uint64_t blocks = 0;
  std::uint64_t pages = 0;  ///< Summed over the blocks: what reads of each of them touch.
};

Pages pages_of(TableWorld& world, const TableFacts& facts) {
  const Result<std::unique_ptr<ReadableFile>> file = world.files.open_readable(TableWorld::path_of(facts.number));
  const Result<TableProperties> properties = read_properties(**file, "t");
  const Result<std::unique_ptr<const Index>> index = read_index(**file, *properties, "t");
  Pages sum;
  for (std::uint32_t i = 0; i + 1 < facts.blocks; ++i) {
    const BlockPosition block = (*index)->position(i);
    ++sum.blocks;
    sum.pages += (block.offset + block.bytes - 1) / kPageBytes - block.offset / kPageBytes + 1;
  }
  return sum;
}

TableEntries entries_of(std::size_t count, std::size_t least_bytes, std::size_t most_bytes) {
  std::mt19937_64 random(1);
  TableEntries entries;
  for (std::size_t i = 0; i < count; ++i) {
    entries.add(fmt::format("{:016}", i), 9, std::string(least_bytes + random() % (most_bytes - least_bytes + 1), 'v'));
  }
  return entries;
}

TEST(TablePages, ABlockOfSmallEntriesLiesOnOnePage) {
  for (const std::size_t value_bytes : {1U, 20U, 100U, 200U}) {
    SCOPED_TRACE(value_bytes);
    const TableEntries entries = entries_of(5000, value_bytes, value_bytes);
    TableWorld world;
    const TableFacts facts = world.build(entries, {}, {.block_bytes = 4096});
    const Pages padded = pages_of(world, facts);
    EXPECT_GT(padded.blocks, 10U);
    EXPECT_EQ(padded.pages, padded.blocks);
    const TableFacts packed = world.build(entries, {}, {.number = 14, .block_bytes = 4095});
    EXPECT_GT(pages_of(world, packed).pages, padded.blocks * 3 / 2);
    EXPECT_LE(facts.file_bytes, packed.file_bytes + packed.file_bytes / 16);
  }
}

TEST(TablePages, LargerBlocksEndWherePagesDo) {
  const TableEntries entries = entries_of(5000, 50, 200);
  TableWorld world;
  const Pages pages = pages_of(world, world.build(entries, {}, {.block_bytes = 16'384}));
  EXPECT_GT(pages.blocks, 10U);
  EXPECT_EQ(pages.pages, pages.blocks * 4);
}

TEST(TablePages, PaddingIsASixteenthAtMostWhateverTheEntries) {
  for (const std::size_t most_bytes : {300U, 700U, 1500U, 3000U, 5000U, 20'000U}) {
    SCOPED_TRACE(most_bytes);
    const TableEntries entries = entries_of(3000, 0, most_bytes);
    TableWorld world;
    const TableFacts facts = world.build(entries, {}, {.block_bytes = 4096});
    const TableFacts packed = world.build(entries, {}, {.number = 14, .block_bytes = 4095});
    EXPECT_LE(facts.file_bytes, packed.file_bytes + packed.file_bytes / 16);
    EXPECT_LE(pages_of(world, facts).pages, pages_of(world, packed).pages);
    std::vector<TableProblem> problems;
    ASSERT_TRUE(world.open(facts)->verify(problems, {}).ok());
    EXPECT_TRUE(problems.empty());
  }
}

TEST(TablePages, OnlyTablesThatMayHavePaddingNeedTheFeature) {
  const TableEntries entries = entries_of(10, 10, 10);
  const Features padded = Features::of(Feature::kPaddedBlocks);
  TableWorld world;
  EXPECT_TRUE(world.build(entries, {}, {.block_bytes = 8192}).features.includes(padded));
  EXPECT_FALSE(world.build(entries, {}, {.number = 14, .block_bytes = 5000}).features.includes(padded));
  for (const Codec& codec : codecs()) {
    const TableFacts facts = world.build(entries, {}, {.number = 20U + codec.id, .codec = &codec});
    EXPECT_EQ(facts.features.includes(padded), codec.id == 0) << codec.name;
  }
}

}  // namespace
}  // namespace tamis
