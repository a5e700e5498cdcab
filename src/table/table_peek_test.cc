// Lookups through slots: without a lock, and without calling the cache (rules 10 and 11).
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/epoch.h"
#include "support/table_world.h"
#include "table/table.h"

namespace tamis {
namespace {

using test::find_in;
using test::slot_bytes;
using test::TableEntries;
using test::TableWorld;

void cache_all(Table& table, const TableEntries& entries) {
  for (const Entry& entry : entries.entries) ASSERT_TRUE(find_in(table, entry.key, entry.sequence).ok());
}

/// A peek's answer for a key; nullopt for kUnknown.
std::optional<std::optional<std::string>> peek_in(const Table& table, std::string_view key, Sequence sequence,
                                                  bool expected = false) {
  const EpochGuard guard;
  FoundEntry found;
  switch (table.peek({key, test::example_hasher()(key), sequence}, expected, found)) {
    case LookupAnswer::kFound: return std::optional(std::string(found.value));
    case LookupAnswer::kAbsent:
    case LookupAnswer::kAbsentHere: return std::optional<std::string>();
    case LookupAnswer::kUnknown: return std::nullopt;
  }
  return std::nullopt;
}

TEST(TablePeek, Rule11_SlotsAreChargedAsLongAsTheTableLives) {
  TableWorld world;
  auto table = world.open(world.build(test::random_entries(9, 300)));
  ASSERT_TRUE(table->load().ok());
  (void)table->unload_index();
  (void)table->unload_filter();
  EXPECT_EQ(world.index_budget.used_bytes(), slot_bytes(*table));
  table.reset();
  EXPECT_EQ(world.index_budget.used_bytes(), 0U);
}

TEST(TablePeek, Rule11_ThereAreNoSlotsWhereIndexesDoNotAllFit) {
  TableWorld world;
  world.index_budget.set_limit(std::uint64_t{1} << 20, std::uint64_t{2} << 20);
  auto table = world.open(world.build(test::random_entries(9, 300)));
  ASSERT_TRUE(table->load().ok());
  EXPECT_EQ(world.index_budget.used_bytes(), table->index_memory_bytes());
}

TEST(TablePeek, Rule11_APeekSaysWhatFindSaysOnceTheBlocksAreCached) {
  for (const bool is_large : {false, true}) {  // A large one has several groups in its index.
    const TableEntries entries = test::random_entries(21, is_large ? 5000 : 400);
    TableWorld world;
    const auto table = world.open(world.build(entries, {"line", 10}, {.block_bytes = is_large ? 1024U : 4096U}));
    EXPECT_EQ(table->facts().blocks > 2 * kIndexGroupBlocks, is_large);
    const Entry& first = entries.entries.front();
    for (const bool expected : {false, true}) {
      EXPECT_EQ(peek_in(*table, first.key, first.sequence, expected), std::nullopt) << "nothing is in memory yet";
    }
    cache_all(*table, entries);
    const std::uint64_t asked = world.cache->stats().hits + world.cache->stats().misses;
    for (const bool expected : {false, true}) {
      for (const Entry& entry : entries.entries) {
        const auto seen = peek_in(*table, entry.key, entry.sequence, expected);
        ASSERT_TRUE(seen.has_value());
        EXPECT_EQ(*seen, std::string(entry.value));
      }
      const auto absent = peek_in(*table, "not there", kMaxSequence, expected);
      ASSERT_TRUE(absent.has_value());
      EXPECT_EQ(*absent, std::nullopt);
    }
    EXPECT_EQ(world.cache->stats().hits + world.cache->stats().misses, asked) << "the cache was not asked";
    world.cache->set_capacity(0);
    EXPECT_EQ(peek_in(*table, first.key, first.sequence), std::nullopt) << "evicting a block empties its slot";
  }
}

TEST(TablePeek, Rule11_BlocksOutliveTheSlotsOfATableThatIsGone) {
  const TableEntries entries = test::random_entries(25, 200);
  TableWorld world;
  auto table = world.open(world.build(entries));
  cache_all(*table, entries);
  const TableFacts facts = table->facts();
  table.reset();
  EXPECT_GT(world.cache->stats().blocks_kept, 0U);
  world.cache->erase_table(facts.number, facts.blocks);  // Would write into the slots if they were still registered.
  EXPECT_EQ(world.cache->stats().blocks_kept, 0U);
}

TEST(TablePeek, Rule11_ThreadsPeekWhileBlocksAreEvicted) {
  const TableEntries entries = test::random_entries(27, 300);
  TableWorld world(std::size_t{16} << 10);
  const auto table = world.open(world.build(entries));
  std::atomic<int> wrong = 0;
  std::atomic<int> seen = 0;
  std::vector<std::jthread> threads;
  for (std::uint64_t number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      for (std::size_t i = number; i < 4000; ++i) {
        const Entry& entry = entries.entries[i * 7 % entries.entries.size()];
        const auto peeked = peek_in(*table, entry.key, entry.sequence, i % 2 == 1);
        if (peeked && *peeked != std::string(entry.value)) ++wrong;
        if (peeked) ++seen;
        if (!find_in(*table, entry.key, entry.sequence).ok()) ++wrong;
      }
    });
  }
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(seen, 0);
  EXPECT_GT(world.cache->stats().evictions, 0U);
}

}  // namespace
}  // namespace tamis
