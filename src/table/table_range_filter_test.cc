// The range filter of a table.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "support/table_world.h"
#include "table/table.h"

namespace tamis {
namespace {

using test::TableEntries;
using test::TableWorld;

TEST(TableRangeFilter, SaysNoOnlyWithProofWhateverTheEntriesAre) {
  TableEntries entries;
  for (int i = 0; i < 3000; ++i)
    entries.add(fmt::format("{:06}", i * 10), 9, i % 5 == 0 ? std::nullopt : std::optional<std::string>("v"));
  entries.sort();
  TableWorld world;
  const auto table = world.open(world.build(entries, {"ribbon", 8}, {.range_filter_bits = 16}));
  EXPECT_GT(table->facts().range_filter_bytes, 3000U);
  EXPECT_LE(table->facts().range_filter_bytes, 2U * 3000U);
  int wrong = 0;
  for (int i = 0; i < 3000; ++i) {
    ASSERT_TRUE(table->may_contain_range(fmt::format("{:06}", i * 10), fmt::format("{:06}", i * 10 + 1)));
    wrong += table->may_contain_range(fmt::format("{:06}", i * 10 + 1), fmt::format("{:06}", i * 10 + 10)) ? 1 : 0;
  }
  EXPECT_LT(wrong, 30);
  EXPECT_GE(table->filter_memory_bytes(), table->facts().range_filter_bytes);
  EXPECT_TRUE(table->unload_filter().range_filter != nullptr);
}

TEST(TableRangeFilter, ADamagedOneIsNotAskedAndVerifyNamesIt) {
  TableEntries entries;
  for (int i = 0; i < 300; ++i) entries.add(fmt::format("{:06}", i * 10), 9, "v");
  TableWorld world;
  const TableFacts facts = world.build(entries, {"ribbon", 8}, {.range_filter_bits = 16});
  const Section section = world.properties().range_filter;
  EXPECT_EQ(section.bytes, facts.range_filter_bytes);
  world.overwrite(section.offset + 50, "x");
  const auto table = world.open(facts);
  EXPECT_TRUE(table->may_contain_range("000011", "000019"));
  ASSERT_TRUE(table->filter_problem().has_value());
  EXPECT_EQ(table->filter_problem()->code(), StatusCode::kCorruption);
  std::vector<TableProblem> problems;
  ASSERT_TRUE(table->verify(problems, {}).ok());
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].offset, section.offset);
}

}  // namespace
}  // namespace tamis
