#include "table/table_verify.h"

#include <gtest/gtest.h>

#include "support/table_world.h"
#include "table/block_trailer_format.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

using test::TableEntries;
using test::TableWorld;

TableEntries hundred_entries() {
  TableEntries entries;
  for (int i = 0; i < 100; ++i) {
    entries.add("key " + std::to_string(1000 + i), 20, i % 9 == 0 ? std::nullopt : std::optional(std::string(9, 'v')));
  }
  return entries;
}

/// The problems of table 13 if its properties are these.
std::vector<std::string> problems_with(TableWorld& world, const TableProperties& properties) {
  std::unique_ptr<ReadableFile> file = *world.files.open_readable(TableWorld::path_of(13));
  std::vector<TableProblem> problems;
  EXPECT_TRUE(verify_table(*file, properties, "t", problems, {}).ok());
  std::vector<std::string> texts;
  for (const TableProblem& problem : problems) texts.push_back(problem.what);
  return texts;
}

bool is_among(const std::vector<std::string>& problems, std::string_view text) {
  return std::ranges::any_of(problems, [&](const std::string& p) { return p.find(text) != std::string::npos; });
}

TEST(TableVerify, WrongFactsAreNamed) {
  TableWorld world;
  world.build(hundred_entries());
  const TableProperties right = world.properties();
  EXPECT_TRUE(problems_with(world, right).empty());
  const auto wrong = [&](auto change) {
    TableProperties properties = right;
    change(properties.facts);
    return problems_with(world, properties);
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(wrong([](TableFacts& f) { f.entries = 99; }), Texts{"the properties say 99 entries, there are 100"});
  EXPECT_EQ(wrong([](TableFacts& f) { f.deletes = 0; }), Texts{"the properties say 0 deletes, there are 12"});
  EXPECT_EQ(wrong([](TableFacts& f) { f.keys = 9; }), Texts{"the properties say 9 keys, there are 100"});
  EXPECT_EQ(wrong([](TableFacts& f) { f.key_bytes = 9; }).size(), 1U);
  EXPECT_EQ(wrong([](TableFacts& f) { f.value_bytes = 9; }).size(), 1U);
  EXPECT_EQ(wrong([](TableFacts& f) { f.smallest_sequence = Sequence{1}; }).size(), 1U);
  EXPECT_EQ(wrong([](TableFacts& f) { f.largest_sequence = Sequence{21}; }).size(), 1U);
  EXPECT_EQ(wrong([](TableFacts& f) { f.smallest_key = "a"; }).size(), 1U);
  EXPECT_EQ(wrong([](TableFacts& f) { f.largest_key = "z"; }).size(), 1U);
}

TEST(TableVerify, AFilterOrTagThatHidesAKeyIsNamed) {
  const TableEntries entries = hundred_entries();
  TableWorld world;
  TableSpec spec{.path = TableWorld::path_of(13), .number = 13, .identity = test::example_identity()};
  auto builder = *TableBuilder::create(world.files, spec);
  for (std::size_t i = 0; i < entries.entries.size(); ++i) {
    const std::uint64_t hash = test::example_hasher()(entries.entries[i].key);
    ASSERT_TRUE(builder->add(entries.entries[i], i == 50 ? ~hash : hash).ok());
  }
  const Result<TableFacts> facts = builder->finish({"ribbon", 20});
  ASSERT_TRUE(facts.ok());
  const std::vector<std::string> problems = problems_with(world, world.properties());
  EXPECT_TRUE(is_among(problems, "a tag hides an entry"));
  EXPECT_TRUE(is_among(problems, "the filter denies a key of the block at offset"));
  EXPECT_EQ(problems.size(), 2U);
}

/// The same blocks with other separators in the index: prefix, then one z per preceding block.
std::vector<std::string> problems_with_index(const std::string& prefix) {
  TableWorld world;
  world.build(hundred_entries(), {}, {.block_bytes = 300});
  TableProperties properties = world.properties();
  std::unique_ptr<ReadableFile> file = *world.files.open_readable(TableWorld::path_of(13));
  const auto index = *read_index(*file, properties, "t");
  IndexBuilder builder;
  std::string last;
  for (std::uint32_t i = 0; i < index->blocks(); ++i) {
    std::string key = prefix + std::string(i, 'z');
    builder.add(last, key, "", index->position(i));
    last = std::move(key);
  }
  const std::string section = builder.finish(block_checksum_seed(13, properties.index.offset)).bytes;
  world.overwrite(properties.index.offset, section);
  properties.index.bytes = section.size();
  return problems_with(world, properties);
}

TEST(TableVerify, AnIndexThatMisleadsIsNamed) {
  EXPECT_TRUE(is_among(problems_with_index("a"), "the index's separator is not above the last key"));
  EXPECT_TRUE(is_among(problems_with_index("key 1"), "the index's separator is above the block's first key"));
}

TEST(TableVerify, StopsWhenToldToAndTellsHowFarItIs) {
  TableWorld world;
  const auto table = world.open(world.build(hundred_entries(), {"line", 10}, {.block_bytes = 300}));
  std::vector<TableProblem> problems;
  std::uint64_t told = 0;
  const Result<std::uint64_t> all = table->verify(problems, [&](std::uint64_t bytes) { return told += bytes, true; });
  ASSERT_TRUE(all.ok());
  EXPECT_EQ(*all, told);
  int steps = 0;
  EXPECT_EQ(table->verify(problems, [&](std::uint64_t) { return ++steps < 3; }).status().code(), StatusCode::kClosed);
  EXPECT_EQ(steps, 3);
}

}  // namespace
}  // namespace tamis
