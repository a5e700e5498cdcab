// Reads of damaged tables give the right answer, or kCorruption with its position; never a wrong answer.
#include <gtest/gtest.h>

#include "support/table_world.h"
#include "table/table_sections.h"

namespace tamis {
namespace {

using test::find_in;
using test::owned;
using test::TableEntries;
using test::TableWorld;

TableEntries few_entries() {
  TableEntries entries;
  for (int i = 0; i < 40; ++i) {
    entries.add("key " + std::to_string(1000 + i), 20, i % 5 == 0 ? std::nullopt : std::optional(std::string(9, 'v')));
    if (i % 7 == 0) entries.add("key " + std::to_string(1000 + i), 10, "older");
  }
  return entries;
}

TableSpec small_blocks() { return {.block_bytes = 200, .prefix_rule = {PrefixRule::Kind::kFirst, 6}}; }

/// All lookups and both directions of iteration; returns how many ended in corruption.
int expect_right_or_corruption(Table& table, const TableEntries& entries) {
  int corruptions = 0;
  for (const Entry& entry : entries.entries) {
    const auto found = find_in(table, entry.key, entry.sequence);
    if (found.ok()) {
      EXPECT_EQ(*found, owned(entries.find(entry.key, entry.sequence)));
    } else {
      EXPECT_TRUE(test::names_file_and_offset(found.status())) << found.status().to_text();
      ++corruptions;
    }
    EXPECT_TRUE(table.may_contain_prefix(entry.key));
  }
  for (const bool fills_cache : {false, true}) {
    const auto it = table.iterate(fills_cache);
    std::size_t at = 0;
    for (it->seek_to_first(); it->valid() && at < entries.entries.size(); it->next()) {
      EXPECT_EQ(it->entry(), entries.entries[at++]);
    }
    if (it->status().ok()) {
      EXPECT_EQ(at, entries.entries.size());
    } else {
      EXPECT_TRUE(test::names_file_and_offset(it->status())) << it->status().to_text();
      ++corruptions;
    }
  }
  return corruptions;
}

TEST(TableDamage, EveryChangedByteGivesTheRightAnswerOrCorruptionWithItsPlace) {
  const TableEntries entries = few_entries();
  for (const char* codec : {"none", "lz4", "zstd"}) {
    TableWorld world(std::size_t{1} << 20);
    TableSpec spec = small_blocks();
    spec.codec = find_codec(codec);
    const TableFacts facts = world.build(entries, {"line", 10}, spec);
    const std::string bytes = world.bytes_of();
    const TableProperties properties = world.properties();
    for (std::size_t at = 0; at < bytes.size(); ++at) {
      SCOPED_TRACE(std::string(codec) + ", byte " + std::to_string(at));
      world.overwrite(at, std::string(1, static_cast<char>(bytes[at] ^ (1 << at % 8))));
      world.cache->erase_table(13, facts.blocks);
      const auto table = world.open(facts);
      const int corruptions = expect_right_or_corruption(*table, entries);
      const bool in_filters = at >= properties.filter.offset && at < properties.index.offset;
      EXPECT_EQ(corruptions == 0, in_filters) << "nothing else can be changed unnoticed";
      std::vector<TableProblem> problems;
      ASSERT_TRUE(table->verify(problems, {}).ok());
      EXPECT_FALSE(problems.empty());
      world.overwrite(at, std::string(1, bytes[at]));
      if (HasFailure()) return;
    }
  }
}

TEST(TableDamage, Rule13_ADamagedFilterIsRememberedAndAnswersMaybe) {
  const TableEntries entries = test::random_entries(21, 100);
  for (const std::string_view kind : {"line", "ribbon", "fuse", "split"}) {
    TableWorld world;
    const TableFacts facts = world.build(entries, {std::string(kind), 10});
    const std::string bytes = world.bytes_of();
    const Section filter = world.properties().filter;
    for (std::uint64_t at = filter.offset; at < filter.end(); ++at) {
      world.overwrite(at, std::string(1, static_cast<char>(bytes[at] ^ 0x10)));
      const auto table = world.open(facts);
      for (std::size_t i = 0; i < entries.entries.size(); i += 7) {
        const Entry& entry = entries.entries[i];
        const auto found = find_in(*table, entry.key, entry.sequence);
        ASSERT_TRUE(found.ok()) << found.status().to_text();
        ASSERT_EQ(*found, owned(entries.find(entry.key, entry.sequence)));
      }
      ASSERT_TRUE(table->filter_problem().has_value());
      ASSERT_TRUE(test::names_file_and_offset(*table->filter_problem())) << table->filter_problem()->to_text();
      ASSERT_FALSE(table->has_filter_in_memory());
      ASSERT_EQ(table->counts().metadata_loads, 2U) << "tried once";
      ASSERT_EQ(world.filter_budget.used_bytes(), 0U);
      world.overwrite(at, std::string(1, bytes[at]));
    }
  }
}

TEST(TableDamage, AnotherTablesFilterIsNotBelieved) {
  TableEntries ours;
  TableEntries others;
  for (int i = 0; i < 200; ++i) {
    ours.add("ours " + std::to_string(1000 + i), 1, "v");
    others.add("them " + std::to_string(1000 + i), 1, "v");
  }
  TableWorld world;
  const TableFacts facts = world.build(ours);
  const TableFacts other = world.build(others, {"line", 10}, {.number = 14});
  ASSERT_EQ(facts.filter_bytes, other.filter_bytes);
  const Section theirs = world.properties(14).filter;
  world.overwrite(world.properties().filter.offset, world.bytes_of(14).substr(theirs.offset, theirs.bytes));
  const auto table = world.open(facts);
  expect_right_or_corruption(*table, ours);
  EXPECT_TRUE(table->filter_problem().has_value());
}

TEST(TableDamage, ATableInAnotherOnesPlaceIsRefused) {
  const TableEntries entries = few_entries();
  TableWorld world;
  const TableFacts facts = world.build(entries);
  TableFacts wrong_number = facts;
  wrong_number.number = 14;
  ASSERT_TRUE(world.files.link("/000013.tms", "/000014.tms").ok());
  EXPECT_EQ(world.open(wrong_number)->load().to_text(),
            "corruption: /000014.tms: at offset 0: this is table 13, not 14");
  EXPECT_EQ(find_in(*world.open(wrong_number), "key 1001", kMaxSequence).status().code(), StatusCode::kCorruption);
  TableFacts other_facts = facts;
  ++other_facts.entries;
  EXPECT_EQ(world.open(other_facts)->load().code(), StatusCode::kCorruption);
  world.context.identity.store_id[0] = std::byte{1};
  EXPECT_EQ(world.open(facts)->load().to_text(), "corruption: /000013.tms: at offset 0: a table of another store");
}

TEST(TableDamage, ACutFileIsCorruption) {
  const TableEntries entries = few_entries();
  TableWorld world;
  const TableFacts facts = world.build(entries, {"line", 10}, small_blocks());
  auto file = *world.files.open_writable("/000013.tms", OpenMode::kExisting);
  for (std::uint64_t size = facts.file_bytes; size-- > 0;) {
    ASSERT_TRUE(file->truncate(size).ok());
    world.cache->erase_table(13, facts.blocks);
    const auto table = world.open(facts);
    ASSERT_TRUE(test::names_file_and_offset(table->load())) << size << ": " << table->load().to_text();
  }
  EXPECT_EQ(find_in(*world.open(facts), "key 1001", kMaxSequence).status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis
