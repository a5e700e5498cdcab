#include "table/table.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/epoch.h"
#include "support/faulty_file_system.h"
#include "support/iterator_check.h"
#include "support/table_world.h"
#include "table/table_iterator.h"

namespace tamis {
namespace {

using test::example_hasher;
using test::find_in;
using test::owned;
using test::slot_bytes;
using test::TableEntries;
using test::TableWorld;

/// Compares lookups of every key, at several sequences, and of its neighbours with the oracle.
void expect_finds(Table& table, const TableEntries& entries, std::uint64_t seed, bool fills_cache = true) {
  std::mt19937_64 random(seed);
  for (const Entry& entry : entries.entries) {
    const std::uint64_t sequence = number_of(entry.sequence);
    for (const std::uint64_t at : {sequence, sequence == 0 ? 0 : sequence - 1, std::uint64_t{2000}}) {
      const auto found = find_in(table, entry.key, Sequence{at}, fills_cache);
      ASSERT_TRUE(found.ok()) << found.status().to_text();
      ASSERT_EQ(*found, owned(entries.find(entry.key, Sequence{at}))) << "at " << at;
    }
    std::string beside(entry.key);
    if (random() % 2 == 0) {
      beside.push_back('\0');
    } else if (!beside.empty()) {
      beside.back() = static_cast<char>(beside.back() + 1);
    }
    const auto found = find_in(table, beside, kMaxSequence, fills_cache);
    ASSERT_TRUE(found.ok()) << found.status().to_text();
    ASSERT_EQ(*found, owned(entries.find(beside, kMaxSequence)));
  }
}

/// Full iterations in both directions, then seeks with a few steps each.
void expect_walks(Table& table, const TableEntries& entries, std::uint64_t seed, bool fills_cache) {
  const auto it = table.iterate(fills_cache);
  test::IteratorCheck check(*it, entries.entries, seed);
  check.walk();
  check.moves(6000, [&](std::mt19937_64& random) {
    std::string key(entries.entries[random() % entries.entries.size()].key);
    if (random() % 4 == 0) key.push_back('\0');
    if (random() % 4 == 0 && !key.empty()) key.pop_back();
    return key;
  });
}

TEST(Table, AnswersAsItsEntriesDoForEveryCodecFilterAndBlockSize) {
  std::uint64_t seed = 100;
  for (const Codec& codec : codecs()) {
    for (const std::string_view kind : {"", "line", "ribbon", "bloom"}) {
      for (const std::uint32_t block_bytes : {256U, 4096U, 60'000U}) {
        SCOPED_TRACE(
            fmt::format("seed {}, codec {}, filter '{}', blocks of {}", ++seed, codec.name, kind, block_bytes));
        const TableEntries entries = test::random_entries(seed, 300);
        TableWorld world;
        const TableFacts facts =
            world.build(entries, {std::string(kind), 10}, {.block_bytes = block_bytes, .codec = &codec});
        EXPECT_EQ(facts.filter_bytes != 0, !kind.empty());
        const auto table = world.open(facts);
        expect_finds(*table, entries, seed);
        expect_walks(*table, entries, seed, seed % 2 == 0);
        std::vector<TableProblem> problems;
        const Result<std::uint64_t> verified = table->verify(problems, {});
        ASSERT_TRUE(verified.ok() && problems.empty()) << problems.at(0).what;
        EXPECT_EQ(*verified, facts.file_bytes - kTableHeaderBytes);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Table, FactsCountWhatIsThere) {
  TableEntries entries;
  entries.add("a", 7, "one");
  entries.add("a", 5, std::nullopt);
  entries.add("b", 9, "three");
  TableWorld world;
  const TableFacts facts =
      world.build(entries, {"line", 10}, {.created_unix_seconds = 50, .oldest_delete_unix_seconds = 40});
  EXPECT_EQ(facts.number, 13U);
  EXPECT_EQ(facts.file_bytes, world.bytes_of().size());
  EXPECT_EQ(facts.entries, 3U);
  EXPECT_EQ(facts.deletes, 1U);
  EXPECT_EQ(facts.keys, 2U);
  EXPECT_EQ(facts.key_bytes, 3U);
  EXPECT_EQ(facts.value_bytes, 8U);
  EXPECT_EQ(facts.blocks, 1U);
  EXPECT_EQ(facts.smallest_key, "a");
  EXPECT_EQ(facts.largest_key, "b");
  EXPECT_EQ(facts.smallest_sequence, Sequence{5});
  EXPECT_EQ(facts.largest_sequence, Sequence{9});
  EXPECT_EQ(facts.filter_kind, 2U);
  EXPECT_EQ(facts.oldest_delete_unix_seconds, 40U);
  EXPECT_EQ(world.build(entries, {}, {.number = 14, .created_unix_seconds = 50}).oldest_delete_unix_seconds, 50U);
}

TEST(Table, OneEntryEmptyKeysAndTheLongestKeysAreFound) {
  const std::string longest(65'535, 'k');
  for (const bool fills_cache : {false, true}) {
    TableEntries entries;
    entries.add("", 3, "");
    TableWorld world;
    const auto one = world.open(world.build(entries));
    expect_finds(*one, entries, 1, fills_cache);
    entries.add(std::string(1, '\0'), 4, std::nullopt);
    entries.add(longest.substr(0, 65'534), 4, "");
    entries.add(longest, 9, "new");
    entries.add(longest, 4, std::string(100'000, 'v'));
    entries.add(longest, 2, std::nullopt);
    const auto several = world.open(world.build(entries, {"line", 10}, {.number = 14}));
    expect_finds(*several, entries, 2, fills_cache);
    expect_walks(*several, entries, 3, fills_cache);
  }
}

TEST(Table, Rule38_LongKeysThatShareLongPrefixesAreFoundAndWalkedBothWays) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const std::size_t lengths[] = {3, 65'534, 65'535, 65'536, 65'537, 150'000};
    TableEntries entries;
    for (int i = 0; i < 24; ++i) {
      std::string key(lengths[random() % std::size(lengths)], 'k');
      if (random() % 2 == 0) key.back() = static_cast<char>('j' + random() % 4);
      for (std::uint64_t version = 1 + random() % 3; version > 0; --version) {
        const std::uint64_t sequence = 100 * static_cast<std::uint64_t>(i) + version;
        entries.add(key, sequence, random() % 4 == 0 ? std::nullopt : std::optional(std::to_string(sequence)));
      }
    }
    entries.sort();
    TableWorld world;
    const auto table = world.open(world.build(entries, {"line", 10}, {.block_bytes = seed == 2 ? 65'536U : 512U}));
    expect_finds(*table, entries, seed);
    expect_walks(*table, entries, seed, seed == 3);
    std::vector<TableProblem> problems;
    ASSERT_TRUE(table->verify(problems, {}).ok());
    EXPECT_TRUE(problems.empty());
    if (HasFailure()) return;
  }
}

TEST(Table, Rule38_TheLongestKeyIsFoundAndIsABoundOfTheTable) {
  const std::string longest(kMaxKeyBytes, 'k');
  TableEntries entries;
  entries.add("a", 1, "short");
  entries.add(longest, 3, "new");
  entries.add(longest, 2, "old");
  TableWorld world;
  const TableFacts facts = world.build(entries, {"line", 10});
  EXPECT_EQ(facts.largest_key, longest);
  const auto table = world.open(facts);
  EXPECT_EQ((*find_in(*table, longest, Sequence{2}))->value, "old");
  EXPECT_EQ((*find_in(*table, longest, kMaxSequence))->value, "new");
  const auto iterator = table->iterate(false);
  iterator->seek({std::string_view(longest).substr(1), kMaxSequence});
  ASSERT_TRUE(iterator->valid());
  EXPECT_EQ(iterator->entry().key, longest);
  std::vector<TableProblem> problems;
  ASSERT_TRUE(table->verify(problems, {}).ok());
  EXPECT_TRUE(problems.empty());
}

TEST(Table, ThousandsOfVersionsOfOneKeySpanBlocks) {
  TableEntries entries;
  entries.add("before", 1, "b");
  for (std::uint64_t sequence = 5000; sequence > 1000; --sequence) {
    entries.add("hot", sequence, sequence % 7 == 0 ? std::nullopt : std::optional(std::to_string(sequence)));
  }
  entries.add("hot and more", 3, "c");
  TableWorld world;
  const auto table = world.open(world.build(entries, {"line", 10}, {.block_bytes = 512}));
  EXPECT_EQ(table->facts().keys, 3U);
  EXPECT_GT(table->facts().blocks, 50U);
  expect_finds(*table, entries, 4);
  expect_walks(*table, entries, 5, false);
  EXPECT_EQ(*find_in(*table, "hot", Sequence{1000}), std::nullopt);
}

TEST(Table, WithoutRoomTheIndexIsReadEachTimeAndTheFilterNotAsked) {
  const TableEntries entries = test::random_entries(7, 200);
  TableWorld world(std::size_t{8} << 20, 0, 0);
  const auto table = world.open(world.build(entries, {"line", 10}, {.prefix_rule = {PrefixRule::Kind::kFirst, 3}}));
  ASSERT_TRUE(table->load().ok());
  expect_finds(*table, entries, 8);
  EXPECT_FALSE(table->has_filter_in_memory() || table->has_index_in_memory());
  EXPECT_TRUE(table->may_contain_prefix("nothing begins so"));
  EXPECT_EQ(world.index_budget.used_bytes() + world.filter_budget.used_bytes(), 0U);
  const TableCounts before = table->counts();
  TableSearch search;
  PinnedBlock pin;
  ASSERT_TRUE(find_in(*table, {"absent", 0, kMaxSequence}, true, pin, search).ok());
  EXPECT_EQ(search.step.verdict, FilterVerdict::kNotInMemory);
  EXPECT_EQ(search.step.metadata_reads, 1U);
  EXPECT_EQ(table->counts().unfiltered, before.unfiltered + 1);
  EXPECT_EQ(table->counts().metadata_loads, before.metadata_loads + 1);
}

TEST(Table, WhatIsInMemoryIsChargedUntilItIsGone) {
  const TableEntries entries = test::random_entries(9, 300);
  TableWorld world;
  auto table = world.open(world.build(entries, {"line", 10}, {.prefix_rule = {PrefixRule::Kind::kFirst, 3}}));
  EXPECT_EQ(world.index_budget.used_bytes(), 0U) << "making one touches no file";
  ASSERT_TRUE(table->load().ok());
  EXPECT_TRUE(table->has_filter_in_memory() && table->has_index_in_memory());
  EXPECT_EQ(world.index_budget.used_bytes(), table->index_memory_bytes() + slot_bytes(*table));
  EXPECT_EQ(world.filter_budget.used_bytes(), table->filter_memory_bytes());
  const auto it = table->iterate(true);
  it->seek_to_first();
  {
    const UnloadedMetadata filter = table->unload_filter();
    const UnloadedMetadata index = table->unload_index();
    EXPECT_FALSE(table->has_filter_in_memory() || table->has_index_in_memory());
    EXPECT_GT(world.filter_budget.used_bytes(), 0U);
  }
  EXPECT_EQ(world.filter_budget.used_bytes(), 0U);
  EXPECT_GT(world.index_budget.used_bytes(), 0U) << "the iterator has it";
  std::size_t seen = 0;
  for (; it->valid(); it->next()) ++seen;
  EXPECT_EQ(seen, entries.entries.size());
  expect_finds(*table, entries, 10);
  EXPECT_TRUE(table->has_filter_in_memory() && table->has_index_in_memory()) << "loaded again";
}

/// Unloading waits only for epochs; a search that waits for the disk is in none.
TEST(Table, Rule10_ASearchKeepsTheIndexThatIsUnloadedWhileItWaits) {
  const TableEntries entries = test::random_entries(9, 300);
  TableWorld world;
  const auto table = world.open(world.build(entries));
  ASSERT_TRUE(table->load().ok());
  const Entry& entry = entries.entries.front();
  const Lookup lookup{entry.key, example_hasher()(entry.key), kMaxSequence};
  TableSearch search;
  ASSERT_TRUE(*table->begin_search(lookup, true, search));
  (void)table->unload_index();
  EXPECT_GT(world.index_budget.used_bytes(), slot_bytes(*table)) << "freed under a search";
  EXPECT_GT(search.part.index->blocks(), 1U);
  search = {};
  EXPECT_EQ(world.index_budget.used_bytes(), slot_bytes(*table)) << "kept for nobody";
}

TEST(Table, Rule15_ALookupSaysWhatItDidAndPositivesAreCountedExactly) {
  TableEntries entries;
  for (int i = 0; i < 200; ++i) entries.add(fmt::format("key {:04}", i), 9, std::string(50, 'v'));
  entries.add("key 0200", 9, std::nullopt);
  TableWorld world;
  const auto table = world.open(world.build(entries));
  PinnedBlock pin;
  TableSearch search;
  std::vector<TableStep> steps;
  for (const std::string_view key : {"key 0007", "key 0007", "key 0200"}) {
    ASSERT_TRUE((*find_in(*table, {key, example_hasher()(key), kMaxSequence}, true, pin, search)).has_value());
    steps.push_back(search.step);
  }
  EXPECT_EQ(steps[0].metadata_reads, 2U) << "filter and index";
  EXPECT_EQ(steps[0].source, BlockSource::kDisk);
  EXPECT_EQ(steps[0].blocks_read, 1U);
  EXPECT_EQ(steps[1].metadata_reads, 0U);
  EXPECT_EQ(steps[1].source, BlockSource::kCache);
  EXPECT_EQ(steps[1].verdict, FilterVerdict::kMaybe);
  EXPECT_EQ(steps[1].outcome, TableOutcome::kFound);
  EXPECT_EQ(steps[2].outcome, TableOutcome::kDeleted);
  int ruled_out = 0;
  for (int i = 0; i < 6400; ++i) {
    const std::string key = fmt::format("key {:04}x", i % 200) + std::to_string(i);
    ASSERT_FALSE((*find_in(*table, {key, example_hasher()(key), kMaxSequence}, true, pin, search)).has_value());
    ruled_out += search.step.outcome == TableOutcome::kRuledOut ? 1 : 0;
  }
  EXPECT_GT(ruled_out, 6200);
  const TableCounts counts = table->counts();
  EXPECT_EQ(counts.positives, 3U + 6400U - static_cast<unsigned>(ruled_out));
  EXPECT_EQ(counts.false_positives, 6400U - static_cast<unsigned>(ruled_out));
  EXPECT_EQ(counts.hits, 3U);
  EXPECT_NEAR(static_cast<double>(counts.probes), 6403, 5 * 640) << "100 samples and five sigma";
  EXPECT_EQ(counts.metadata_loads, 2U);
}

TEST(Table, Rule18_PrefixFiltersSayNoOnlyWithProof) {
  TableEntries entries;
  for (int i = 0; i < 3000; ++i)
    entries.add(fmt::format("{:04}/{}", i / 3 * 2, i % 3), 9,
                i % 5 == 0 ? std::nullopt : std::optional<std::string>("v"));
  entries.sort();
  TableWorld world;
  const auto table = world.open(world.build(entries, {"ribbon", 8}, {.prefix_rule = {PrefixRule::Kind::kUntil, '/'}}));
  EXPECT_GT(table->facts().prefix_filter_bytes, 0U);
  int wrong = 0;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(table->may_contain_prefix(fmt::format("{:04}/", i * 2)));
    ASSERT_TRUE(table->may_contain_prefix(fmt::format("{:04}", i * 2 + 1))) << "the rule does not decide this";
    wrong += table->may_contain_prefix(fmt::format("{:04}/x", i * 2 + 1)) ? 1 : 0;
  }
  EXPECT_LT(wrong, 50);
}

TEST(Table, Rule13_AnotherHashKeyMeansNoFilterAndNoTags) {
  const TableEntries entries = test::random_entries(11, 300);
  TableWorld world;
  TableSpec spec;
  spec.identity = test::example_identity();
  spec.identity.hash_key[3] ^= std::byte{1};
  const auto table = world.open(world.build(entries, {"line", 10}, spec));
  expect_finds(*table, entries, 12);
  EXPECT_FALSE(table->has_filter_in_memory());
  ASSERT_TRUE(table->filter_problem().has_value());
  EXPECT_EQ(table->filter_problem()->code(), StatusCode::kNotSupported);
}

TEST(Table, ApproximateBytesAreRightToAboutABlock) {
  TableEntries entries;
  for (int i = 0; i < 3000; ++i) entries.add(fmt::format("{:06}", i), 9, std::string(94, 'v'));
  TableWorld world;
  const auto table = world.open(world.build(entries));
  const double all = static_cast<double>(*table->approximate_bytes("", std::nullopt));
  EXPECT_NEAR(all, 3000 * 104, 10'000);
  EXPECT_NEAR(static_cast<double>(*table->approximate_bytes("001000", "002000")), all / 3, 5000);
  EXPECT_EQ(*table->approximate_bytes("x", std::nullopt), 0U);
  EXPECT_EQ(*table->approximate_bytes("", "000000"), 0U);
  EXPECT_EQ(*table->approximate_bytes("002000", "001000"), 0U);
}

TEST(Table, AWalkThatFillsNoCacheReadsManyBlocksAtOnce) {
  TableEntries entries;
  for (int i = 0; i < 20'000; ++i) entries.add(fmt::format("{:06}", i), 9, std::string(94, 'v'));
  TableWorld world;
  const TableFacts facts = world.build(entries);
  FaultyFileSystem counting(world.files);
  FileHandles handles(counting, 10);
  world.context.handles = &handles;
  const auto table = world.open(facts);
  const auto it = table->iterate(false);
  it->seek_to_first();
  const std::uint64_t before = counting.calls();
  std::size_t seen = 0;
  for (; it->valid(); it->next()) ++seen;
  EXPECT_EQ(seen, 20'000U);
  EXPECT_LE(counting.calls() - before, facts.file_bytes / BlockWindow::kMaxBytes + 10);
  EXPECT_EQ(world.cache->stats().inserts, 0U);
  const std::uint64_t middle = counting.calls();
  seen = 0;
  for (it->seek_to_last(); it->valid(); it->previous()) ++seen;
  EXPECT_EQ(seen, 20'000U);
  EXPECT_LE(counting.calls() - middle, facts.file_bytes / BlockWindow::kMaxBytes + 10);
}

TEST(Table, AWalkGoesOnAfterAFailedRead) {
  const TableEntries entries = test::random_entries(14, 400);
  TableWorld world;
  const TableFacts facts = world.build(entries, {}, {.block_bytes = 512});
  int failed = 0;
  for (std::uint64_t call = 1; call < 40; ++call) {
    FaultyFileSystem faulty(world.files, {FaultKind::kIoError, call, false});
    FileHandles handles(faulty, 10);
    world.context.handles = &handles;
    const auto table = world.open(facts);
    const auto it = table->iterate(false);
    std::size_t at = 0;
    for (it->seek_to_first(); at < entries.entries.size(); it->next()) {
      if (!it->valid()) {
        ASSERT_EQ(it->status().code(), StatusCode::kIoError);
        ++failed;
        it->seek(entries.entries[at].position());
      }
      ASSERT_TRUE(it->valid()) << it->status().to_text();
      ASSERT_EQ(it->entry(), entries.entries[at++]);
    }
    EXPECT_TRUE(!it->valid() && it->status().ok());
  }
  EXPECT_GT(failed, 10);
}

TEST(Table, ALookupThatFillsNoCacheHoldsItsBlockOnly) {
  const TableEntries entries = test::random_entries(15, 200);
  TableWorld world;
  const auto table = world.open(world.build(entries));
  expect_finds(*table, entries, 16, false);
  EXPECT_EQ(world.cache->stats().inserts, 0U);
  EXPECT_EQ(world.cache->stats().bytes_used, 0U);
  PinnedBlock pin;
  TableSearch search;
  const Entry& entry = entries.entries.back();
  const auto found = find_in(*table, {entry.key, example_hasher()(entry.key), entry.sequence}, false, pin, search);
  EXPECT_EQ((*found)->value, entry.value);
  EXPECT_GT(world.cache->stats().bytes_pinned, 0U);
  EXPECT_FALSE(world.cache->find(pin.key())) << "nobody else sees it";
}

TEST(Table, ThreadsFindWhileMetadataComesAndGoes) {
  const TableEntries entries = test::random_entries(17, 300);
  TableWorld world(std::size_t{16} << 10);
  const auto table = world.open(world.build(entries, {"line", 10}, {.prefix_rule = {PrefixRule::Kind::kFirst, 2}}));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t number = 0; number < 3; ++number) {
      threads.emplace_back([&, number] {
        for (std::size_t i = number; i < 3000; ++i) {
          const Entry& entry = entries.entries[i * 7 % entries.entries.size()];
          const auto found = find_in(*table, entry.key, entry.sequence, i % 2 == 0);
          if (!found.ok() || *found != owned(entries.find(entry.key, entry.sequence))) ++wrong;
          if (!table->may_contain_prefix(entry.key)) ++wrong;
        }
      });
    }
    for (int i = 0; i < 100; ++i) {
      const UnloadedMetadata filter = table->unload_filter();
      const UnloadedMetadata index = table->unload_index();
      epoch::wait(epoch::retire());
    }
  }
  EXPECT_EQ(wrong, 0);
  (void)table->unload_filter();
  (void)table->unload_index();
  EXPECT_EQ(world.index_budget.used_bytes() + world.filter_budget.used_bytes(), slot_bytes(*table));
}

TEST(Table, FailingReadsAreToldAndForgotten) {
  const TableEntries entries = test::random_entries(13, 100);
  TableWorld world;
  const TableFacts facts = world.build(entries);
  for (std::uint64_t call = 1; call < 14; ++call) {
    FaultyFileSystem faulty(world.files, {FaultKind::kIoError, call, false});
    FileHandles handles(faulty, 10);
    world.context.handles = &handles;
    world.cache->erase_table(13, facts.blocks);
    const auto table = world.open(facts);
    int failed = 0;
    for (int round = 0; round < 3; ++round) {
      for (const Entry& entry : entries.entries) {
        const auto found = find_in(*table, entry.key, entry.sequence);
        failed += found.ok() ? 0 : 1;
        if (found.ok()) {
          ASSERT_EQ(*found, owned(entries.find(entry.key, entry.sequence)));
        } else {
          ASSERT_EQ(found.status().code(), StatusCode::kIoError);
        }
      }
    }
    EXPECT_LE(failed, 1) << "call " << call;
    EXPECT_EQ(table->filter_problem(), std::nullopt);
    EXPECT_TRUE(table->has_filter_in_memory());
  }
}

/// A manifest may name a table that another store wrote under another number.
TEST(Table, OneThatAnotherStoreWroteIsReadByItsOrigin) {
  TableWorld world;
  TableEntries entries;
  entries.add("paris", 5, "2102650");
  entries.sort();
  TableIdentity other = test::example_identity();
  other.store_id.fill(std::byte{0x77});
  TableFacts facts = world.build(entries, {"line", 10}, {.number = 99, .identity = other});
  ASSERT_TRUE(world.files.rename(TableWorld::path_of(99), TableWorld::path_of(13)).ok());
  facts.number = 13;
  const auto first_key = [&](const TableFacts& named) -> Result<std::string> {
    const std::unique_ptr<Table> table = world.open(named);
    const auto at = table->iterate(true);
    at->seek_to_first();
    if (!at->valid()) return at->status();
    return std::string(at->entry().key);
  };
  EXPECT_EQ(first_key(facts).status().code(), StatusCode::kCorruption) << "not this store's";
  facts.origin = {other.store_id, 98};
  EXPECT_EQ(first_key(facts).status().code(), StatusCode::kCorruption) << "not that one's either";
  facts.origin = {other.store_id, 99};
  EXPECT_EQ(first_key(facts).value(), "paris");
  const std::unique_ptr<Table> table = world.open(facts);
  EXPECT_EQ((*find_in(*table, "paris", kMaxSequence, true))->value, "2102650");
}

}  // namespace
}  // namespace tamis
