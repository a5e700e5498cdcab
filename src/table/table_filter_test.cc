#include "table/table_filter.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/table_world.h"
#include "table/table.h"

namespace tamis {
namespace {

using test::TableEntries;
using test::TableWorld;

constexpr std::uint64_t kColumns = 14;
const FilterChoice kSliced = {.kind = "sliced", .rate = 0x1p-14};

TableEntries some_entries(int keys) {
  TableEntries entries;
  for (int i = 0; i < keys; ++i) entries.add("key " + std::to_string(100'000 + i), 1, "value");
  return entries;
}

/// What its filter says about keys that are not in the table.
double rate_of(Table& table, std::uint64_t keys) {
  const KeyHasher hasher(test::example_identity().hash_key);
  const TableCounts before = table.counts();
  for (std::uint64_t i = 0; i < keys; ++i) {
    const std::string key = "key 1" + std::to_string(i) + "?";
    TableSearch search;
    PinnedBlock pin;
    EXPECT_FALSE(test::find_in(table, {key, hasher(key), kMaxSequence}, true, pin, search)->has_value());
  }
  const TableCounts after = table.counts();
  return static_cast<double>(after.positives - before.positives) / static_cast<double>(keys);
}

void expect_all_found(Table& table, const TableEntries& entries) {
  for (const Entry& entry : entries.entries) {
    const auto found = test::find_in(table, entry.key, entry.sequence);
    ASSERT_TRUE(found.ok() && found->has_value()) << entry.key;
  }
}

TEST(TableFilter, Rule46_HasTheColumnsThatArePlanned) {
  const TableEntries entries = some_entries(3000);
  TableWorld world;
  const TableFacts facts = world.build(entries, kSliced);
  ASSERT_EQ(facts.filter_columns(), kColumns);
  const auto table = world.open(facts);
  std::mt19937_64 random(1);
  for (int change = 0; change < 40; ++change) {
    const std::uint64_t columns = random() % (kColumns + 1);
    (void)table->plan_filter(columns, true);
    EXPECT_EQ(table->filter_columns(), columns);
    EXPECT_EQ(world.filter_budget.used_bytes(), facts.filter_bytes_with(columns));
    EXPECT_EQ(table->filter_memory_bytes(), facts.filter_bytes_with(columns));
    expect_all_found(*table, entries);
    const double expected = 2000 * facts.filter_rate_with(columns);
    EXPECT_NEAR(2000 * rate_of(*table, 2000), expected, 4 * std::sqrt(expected) + 2) << columns << " columns";
    EXPECT_EQ(table->filter_columns(), columns) << "lookups load nothing more";
  }
  EXPECT_EQ(table->filter_problem(), std::nullopt);
}

TEST(TableFilter, Rule46_ReadsOnlySlicesThatItLacks) {
  TableWorld world;
  const TableFacts facts = world.build(some_entries(3000), kSliced);
  const auto table = world.open(facts);
  const auto bytes_read_for = [&](std::uint64_t columns) {
    const std::uint64_t before = table->counts().filter_bytes_read;
    (void)table->plan_filter(columns, true);
    EXPECT_EQ(table->filter_columns(), columns);
    return table->counts().filter_bytes_read - before;
  };
  const std::uint64_t slice = 4 * facts.filter_slices->column_bytes + 8;
  EXPECT_EQ(bytes_read_for(4), facts.filter_slices->first_bytes);
  EXPECT_EQ(bytes_read_for(8), slice);
  EXPECT_EQ(bytes_read_for(5), 0U);
  EXPECT_EQ(bytes_read_for(4), 0U);
  EXPECT_EQ(bytes_read_for(11), 2 * slice);
  EXPECT_EQ(bytes_read_for(1), 0U);
  EXPECT_EQ(bytes_read_for(0), 0U);
  EXPECT_EQ(bytes_read_for(1), facts.filter_slices->first_bytes);
  EXPECT_EQ(bytes_read_for(2), facts.filter_slices->first_bytes) << "a part of a slice is read again";
}

TEST(TableFilter, P8_StaysAsItIsWithoutRoomForMore) {
  const TableEntries entries = some_entries(3000);
  TableWorld world;
  const TableFacts facts = world.build(entries, kSliced);
  const auto table = world.open(facts);
  world.filter_budget.set_limit(facts.filter_bytes_with(9));
  (void)table->plan_filter(4, true);
  (void)table->plan_filter(10, true);
  EXPECT_EQ(table->filter_columns(), 4U);
  EXPECT_EQ(world.filter_budget.used_bytes(), facts.filter_bytes_with(4));
  expect_all_found(*table, entries);
  world.filter_budget.set_limit(facts.filter_bytes_with(4));
  (void)table->plan_filter(3, true);
  EXPECT_EQ(table->filter_columns(), 3U) << "fewer need no room";
  EXPECT_EQ(world.filter_budget.used_bytes(), facts.filter_bytes_with(3));
}

TEST(TableFilter, WithoutAPlanItTakesItsShareOfTheMemory) {
  TableWorld world;
  const TableFacts facts = world.build(some_entries(3000), kSliced);
  world.filter_budget.set_limit(facts.filter_bytes * 6 / 10, facts.filter_bytes);
  const auto part = world.open(facts);
  ASSERT_TRUE(part->load().ok());
  EXPECT_EQ(part->filter_columns(), kColumns * 6 / 10);
  world.filter_budget.set_limit(2 * facts.filter_bytes, 2 * facts.filter_bytes);
  const auto all = world.open(facts);
  ASSERT_TRUE(all->load().ok());
  EXPECT_EQ(all->filter_columns(), kColumns);
}

TEST(TableFilter, WithoutPlannedColumnsLookupsLoadNothing) {
  const TableEntries entries = some_entries(500);
  for (const FilterChoice& choice : {kSliced, FilterChoice{"line", 10}}) {
    TableWorld world;
    const auto table = world.open(world.build(entries, choice));
    (void)table->plan_filter(0, true);
    expect_all_found(*table, entries);
    EXPECT_FALSE(table->has_filter_in_memory());
    (void)table->plan_filter(1, false);
    EXPECT_FALSE(table->has_filter_in_memory()) << "the next lookup does";
    expect_all_found(*table, entries);
    EXPECT_EQ(table->filter_columns(), 1U);
  }
}

TEST(TableFilter, Rule13_Rule46_ADamagedSliceLeavesThoseBeforeIt) {
  const TableEntries entries = some_entries(2000);
  TableWorld world;
  const TableFacts facts = world.build(entries, kSliced);
  const std::uint64_t filter = world.properties().filter.offset;
  const std::uint64_t slice = 4 * facts.filter_slices->column_bytes + 8;
  const std::string bytes = world.bytes_of();
  for (const std::uint64_t damaged : {0U, 1U, 2U}) {
    const std::uint64_t begin =
        damaged == 0 ? filter : filter + facts.filter_slices->first_bytes + (damaged - 1) * slice;
    const std::uint64_t at = begin + 77;
    world.overwrite(at, std::string(1, static_cast<char>(bytes[at] ^ 1)));
    const auto table = world.open(facts);
    ASSERT_TRUE(table->load().ok());
    EXPECT_EQ(table->filter_columns(), 4 * damaged);
    EXPECT_EQ(table->usable_filter_columns(), 4 * damaged);
    EXPECT_EQ(world.filter_budget.used_bytes(), facts.filter_bytes_with(4 * damaged));
    ASSERT_TRUE(table->filter_problem().has_value());
    EXPECT_TRUE(test::names_file_and_offset(*table->filter_problem())) << table->filter_problem()->to_text();
    expect_all_found(*table, entries);
    const std::uint64_t loads = table->counts().metadata_loads;
    (void)table->plan_filter(kColumns, true);
    EXPECT_EQ(table->filter_columns(), 4 * damaged);
    EXPECT_EQ(table->counts().metadata_loads, loads) << "it is not tried again";
    std::vector<TableProblem> problems;
    ASSERT_TRUE(table->verify(problems, {}).ok());
    EXPECT_EQ(problems.size(), 1U) << "verify reads all slices";
    world.overwrite(at, std::string(1, bytes[at]));
  }
}

}  // namespace
}  // namespace tamis
