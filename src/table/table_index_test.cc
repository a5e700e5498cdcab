// Tables whose index does not fit the memory for indexes: its parts come through the block cache.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "support/counting_file_system.h"
#include "support/faulty_file_system.h"
#include "support/iterator_check.h"
#include "support/table_world.h"

namespace tamis {
namespace {

using test::find_in;
using test::owned;
using test::TableEntries;
using test::TableWorld;

constexpr std::uint32_t kBlocks = 600;
TableSpec small_blocks() { return {.block_bytes = 64}; }

/// One entry per block.
TableEntries entry_per_block() {
  TableEntries entries;
  for (std::uint32_t i = 0; i < kBlocks; ++i) entries.add(fmt::format("key {:04}", i), 9, std::string(100, 'v'));
  return entries;
}

/// No memory for indexes.
struct SmallWorld : TableWorld {
  explicit SmallWorld(std::size_t cache_bytes = std::size_t{8} << 20) : TableWorld(cache_bytes, 0) {}
};

TableStep step_of(Table& table, std::string_view key, bool fills_cache = true) {
  PinnedBlock pin;
  TableSearch search;
  const Lookup lookup{key, test::example_hasher()(key), kMaxSequence};
  EXPECT_TRUE((*find_in(table, lookup, fills_cache, pin, search)).has_value()) << key;
  return search.step;
}

TEST(TableIndex, ALookupReadsThePartItNeedsOnce) {
  SmallWorld world;
  test::CountingFileSystem counting(world.files);
  FileHandles handles(counting, 10);
  world.context.handles = &handles;
  const auto table = world.open(world.build(entry_per_block(), {"line", 10}, small_blocks()));
  ASSERT_EQ(table->facts().blocks, kBlocks);
  ASSERT_TRUE(table->load().ok());
  EXPECT_FALSE(table->has_index_in_memory());
  const auto metadata_reads = [&](std::string_view key) {
    const std::uint64_t before = counting.reads();
    const TableStep step = step_of(*table, key);
    EXPECT_EQ(counting.reads() - before, step.metadata_reads + step.blocks_read) << key;
    return step.metadata_reads;
  };
  EXPECT_EQ(metadata_reads("key 0000"), 1U) << "load has read the top";
  EXPECT_EQ(metadata_reads("key 0127"), 0U) << "the same part";
  EXPECT_EQ(metadata_reads("key 0128"), 1U) << "the next part";
  EXPECT_EQ(metadata_reads("key 0599"), 1U) << "the last part";
  EXPECT_EQ(metadata_reads("key 0000"), 0U) << "cached";
}

TEST(TableIndex, APartIsAFractionOfTheIndex) {
  SmallWorld world;
  const TableFacts facts = world.build(entry_per_block(), {"line", 10}, small_blocks());
  const auto table = world.open(facts);
  const auto cached_by = [&](std::string_view key) {
    const std::uint64_t before = world.cache->stats().bytes_used;
    EXPECT_EQ(step_of(*table, key).blocks_read, 1U);
    return world.cache->stats().bytes_used - before;
  };
  EXPECT_LT(cached_by("key 0000"), facts.index_bytes / 2) << "top, part and block";
}

TEST(TableIndex, AnIndexThatFitsIsLoadedWhole) {
  TableWorld world;
  const auto table = world.open(world.build(entry_per_block(), {"line", 10}, small_blocks()));
  EXPECT_EQ(step_of(*table, "key 0300").metadata_reads, 2U) << "filter and index";
  EXPECT_TRUE(table->has_index_in_memory());
  EXPECT_EQ(step_of(*table, "key 0599").metadata_reads, 0U);
}

/// Keys whose versions span many blocks, and parts.
TableEntries many_versions() {
  TableEntries entries = test::random_entries(5, 700, 100);
  for (std::uint64_t sequence = 0; sequence < 400; ++sequence) {
    entries.add("user:hot", 2000 + sequence, std::string(90, 'h'));
  }
  entries.sort();
  return entries;
}

TEST(TableIndex, AnswersAreThoseOfTheWholeIndex) {
  const TableEntries entries = many_versions();
  for (const std::size_t cache_bytes : {std::size_t{8} << 20, std::size_t{0}}) {
    SmallWorld world(cache_bytes);
    const TableFacts facts = world.build(entries, {"line", 10}, small_blocks());
    ASSERT_GT(facts.blocks, 5 * kIndexGroupBlocks);
    const auto table = world.open(facts);
    for (const Entry& entry : entries.entries) {
      for (const Sequence at : {entry.sequence, kMaxSequence, Sequence{0}}) {
        ASSERT_EQ(*find_in(*table, entry.key, at), owned(entries.find(entry.key, at))) << entry.key;
      }
      const std::string absent = std::string(entry.key) + "!";
      ASSERT_EQ(*find_in(*table, absent, kMaxSequence), owned(entries.find(absent, kMaxSequence)));
    }
    for (const bool fills_cache : {false, true}) {
      const auto iterator = table->iterate(fills_cache);
      test::IteratorCheck check(*iterator, entries.entries);
      check.walk();
      check.moves(20'000,
                  [&](auto& random) { return std::string(entries.entries[random() % entries.entries.size()].key); });
      if (HasFatalFailure()) return;
    }
  }
}

TEST(TableIndex, SizesBetweenKeysAreThoseOfTheWholeIndex) {
  const TableEntries entries = many_versions();
  TableWorld whole;
  SmallWorld small;
  const auto a = whole.open(whole.build(entries, {"line", 10}, small_blocks()));
  const auto b = small.open(small.build(entries, {"line", 10}, small_blocks()));
  for (std::size_t from = 0; from < entries.entries.size(); from += 97) {
    const std::string_view first = entries.entries[from].key;
    ASSERT_EQ(*a->approximate_bytes(first, {}), *b->approximate_bytes(first, {}));
    for (std::size_t to = from; to < entries.entries.size(); to += 331) {
      const std::string_view end = entries.entries[to].key;
      ASSERT_EQ(*a->approximate_bytes(first, end), *b->approximate_bytes(first, end)) << first << " to " << end;
    }
  }
  EXPECT_EQ(*a->approximate_bytes("", {}), whole.properties().filter.offset - kTableHeaderBytes);
}

TEST(TableIndex, LookupsThatDoNotFillTheCacheLeaveNothingThere) {
  SmallWorld world;
  const auto table = world.open(world.build(many_versions(), {"line", 10}, small_blocks()));
  const std::uint64_t before = world.cache->stats().bytes_used;
  for (const Entry& entry : many_versions().entries) {
    ASSERT_TRUE(find_in(*table, entry.key, Sequence{0}, /*fills_cache=*/false).ok());
  }
  EXPECT_EQ(world.cache->stats().bytes_used, before);
}

TEST(TableIndex, ScansThatDoNotFillTheCacheLeaveNothingThere) {
  SmallWorld world;
  const TableEntries entries = entry_per_block();
  const TableFacts facts = world.build(entries, {"line", 10}, small_blocks());
  const auto table = world.open(facts);
  const std::uint64_t before = world.cache->stats().bytes_used;
  const auto iterator = table->iterate(false);
  std::size_t seen = 0;
  for (iterator->seek_to_first(); iterator->valid(); iterator->next()) ++seen;
  EXPECT_EQ(seen, entries.entries.size());
  EXPECT_EQ(world.cache->stats().bytes_used, before);
}

TEST(TableIndex, WhatTheCacheHoldsOfATableIsErasedWithIt) {
  SmallWorld world;
  const TableFacts facts = world.build(entry_per_block(), {"line", 10}, small_blocks());
  const std::uint64_t before = world.cache->stats().bytes_used;
  const auto table = world.open(facts);
  for (std::uint32_t i = 0; i < kBlocks; ++i) step_of(*table, fmt::format("key {:04}", i));
  EXPECT_GT(world.cache->stats().bytes_used, before);
  world.cache->erase_table(facts.number, facts.cached_blocks());
  EXPECT_EQ(world.cache->stats().bytes_used, before);
}

/// Every byte of the index is read by some lookup, and no lookup trusts a changed one.
TEST(TableIndex, AChangedByteGivesTheRightAnswerOrCorruption) {
  const TableEntries entries = entry_per_block();
  SmallWorld world;
  const TableFacts facts = world.build(entries, {"line", 10}, small_blocks());
  const TableProperties properties = world.properties();
  const std::string bytes = world.bytes_of();
  for (std::uint64_t at = properties.index.offset; at < properties.index.end(); at += 7) {
    SCOPED_TRACE(at - properties.index.offset);
    world.overwrite(at, std::string(1, static_cast<char>(bytes[at] ^ (1 << at % 8))));
    world.cache->erase_table(13, facts.cached_blocks());
    const auto table = world.open(facts);
    int corruptions = 0;
    for (std::size_t i = 0; i < entries.entries.size(); i += 20) {
      const Entry& entry = entries.entries[i];
      const auto found = find_in(*table, entry.key, kMaxSequence);
      if (found.ok()) {
        ASSERT_EQ(*found, owned(entries.find(entry.key, kMaxSequence)));
      } else {
        ASSERT_EQ(found.status().code(), StatusCode::kCorruption);
        ++corruptions;
      }
    }
    EXPECT_GT(corruptions, 0);
    world.overwrite(at, std::string(1, bytes[at]));
  }
}

TEST(TableIndex, FailingReadsAreToldAndForgotten) {
  const TableEntries entries = entry_per_block();
  SmallWorld world;
  const TableFacts facts = world.build(entries, {"line", 10}, small_blocks());
  for (std::uint64_t call = 1; call < 30; ++call) {
    FaultyFileSystem faulty(world.files, {FaultKind::kIoError, call, false});
    FileHandles handles(faulty, 10);
    world.context.handles = &handles;
    world.cache->erase_table(13, facts.cached_blocks());
    const auto table = world.open(facts);
    const auto iterator = table->iterate(true);
    int failed = 0;
    for (std::size_t i = 0; i < entries.entries.size(); i += 50) {
      const Entry& entry = entries.entries[i];
      const auto found = find_in(*table, entry.key, kMaxSequence);
      if (found.ok()) {
        ASSERT_EQ(*found, owned(entries.find(entry.key, kMaxSequence)));
      } else {
        ASSERT_EQ(found.status().code(), StatusCode::kIoError);
        ++failed;
      }
      iterator->seek(entry.position());
      if (iterator->valid()) {
        ASSERT_EQ(iterator->entry().key, entry.key);
      } else {
        ASSERT_EQ(iterator->status().code(), StatusCode::kIoError);
        ++failed;
      }
    }
    EXPECT_LE(failed, 1) << "call " << call;
  }
}

}  // namespace
}  // namespace tamis
