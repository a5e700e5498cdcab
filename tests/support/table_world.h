// A table on an in-memory disk, with everything it needs, for tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/try.h"
#include "io/file_names.h"
#include "io/memory_file_system.h"
#include "support/files.h"
#include "table/table.h"
#include "table/table_builder.h"
#include "table/table_sections.h"

namespace tamis::test {

inline TableIdentity example_identity() {
  TableIdentity identity;
  identity.store_id.fill(std::byte{0x5a});
  for (std::size_t i = 0; i < identity.hash_key.size(); ++i) identity.hash_key[i] = static_cast<std::byte>(i + 1);
  return identity;
}

/// Of example_identity().
inline const KeyHasher& example_hasher() {
  static const KeyHasher made(example_identity().hash_key);
  return made;
}

/// Bytes that a table's slots take.
inline std::uint64_t slot_bytes(const Table& table) { return table.facts().blocks * sizeof(BlockSlot); }

/// Sorted entries that own their bytes.
struct TableEntries {
  std::deque<std::string> texts;
  std::vector<Entry> entries;

  void add(std::string key, std::uint64_t sequence, std::optional<std::string> value) {
    texts.push_back(std::move(key));
    const std::string_view own_key = texts.back();
    if (!value) {
      entries.push_back({own_key, {}, Sequence{sequence}, EntryKind::kDelete});
    } else {
      texts.push_back(*std::move(value));
      entries.push_back({own_key, texts.back(), Sequence{sequence}, EntryKind::kPut});
    }
  }
  void sort() { std::ranges::sort(entries, {}, &Entry::position); }

  /// What a get at this sequence should answer.
  [[nodiscard]] std::optional<FoundEntry> find(std::string_view key, Sequence at) const {
    const auto found = std::ranges::lower_bound(entries, EntryPosition{key, at}, {}, &Entry::position);
    if (found == entries.end() || found->key != key) return {};
    return FoundEntry{found->kind, found->sequence, found->value};
  }
};

/// Keys of several shapes; some have many versions, some are deleted, some values exceed a block.
inline TableEntries random_entries(std::uint64_t seed, std::size_t keys, std::size_t longest_value = 60) {
  std::mt19937_64 random(seed);
  TableEntries made;
  std::set<std::string> taken;
  for (std::size_t i = 0; i < keys; ++i) {
    std::string key;
    switch (random() % 5) {
      case 0: key = "user:0000000000/" + std::to_string(random() % 100'000); break;
      case 1: key = "user:0000000000/" + std::string(random() % 60, 'x') + std::to_string(random() % 1000); break;
      case 2: key = std::string(random() % 6, '\0'); break;
      case 3: key = "z" + std::string(random() % 4, '\0') + std::to_string(random() % 50); break;
      default:
        for (std::uint64_t left = random() % 20; left > 0; --left) key.push_back(static_cast<char>(random()));
    }
    if (!taken.insert(key).second) continue;
    std::set<std::uint64_t> sequences = {random() % 1000};
    const std::uint64_t versions = random() % 40 == 0 ? 300 : random() % 8 == 0 ? 5 : 1;
    for (std::uint64_t v = 1; v < versions; ++v) sequences.insert(random() % 1000);
    for (const std::uint64_t sequence : sequences) {
      std::optional<std::string> value;
      if (random() % 6 != 0) {
        const std::size_t bytes = random() % 300 == 0 ? 9000 : random() % (longest_value + 1);
        value = std::string(bytes, static_cast<char>('a' + random() % 26));
      }
      made.add(key, sequence, std::move(value));
    }
  }
  made.sort();
  return made;
}

/// Files, handles, cache and budgets like a store's.
struct TableWorld {
  explicit TableWorld(std::size_t cache_bytes = std::size_t{8} << 20, std::uint64_t index_limit = ~std::uint64_t{0},
                      std::uint64_t filter_limit = ~std::uint64_t{0})
      : index_budget(index_limit), filter_budget(filter_limit) {
    cache = *BlockCache::make({.capacity_bytes = cache_bytes, .shards = 1});
    context = {"/", example_identity(), &handles, cache.get(), &index_budget, &filter_budget};
  }

  static std::string path_of(std::uint64_t number) { return table_path("/", number); }
  TableFacts build(const TableEntries& entries, const FilterChoice& filter = {"line", 10}, TableSpec spec = {}) {
    if (spec.number == 0) spec.number = 13;
    spec.path = path_of(spec.number);
    if (spec.identity == TableIdentity{}) spec.identity = example_identity();
    const KeyHasher hasher(spec.identity.hash_key);
    Result<std::unique_ptr<TableBuilder>> builder = TableBuilder::create(files, std::move(spec));
    EXPECT_TRUE(builder.ok()) << builder.status().to_text();
    for (const Entry& entry : entries.entries) {
      const Status added = (*builder)->add(entry, hasher(entry.key));
      EXPECT_TRUE(added.ok()) << added.to_text();
    }
    Result<TableFacts> facts = (*builder)->finish(filter);
    EXPECT_TRUE(facts.ok()) << facts.status().to_text();
    return *facts;
  }
  std::unique_ptr<Table> open(const TableFacts& facts) {
    return std::make_unique<Table>(std::make_shared<const TableFacts>(facts), context);
  }
  [[nodiscard]] std::string bytes_of(std::uint64_t number = 13) { return *read_whole_file(files, path_of(number)); }
  [[nodiscard]] TableProperties properties(std::uint64_t number = 13) {
    return *read_properties(**files.open_readable(path_of(number)), path_of(number));
  }
  void overwrite(std::uint64_t offset, std::string_view bytes, std::uint64_t number = 13) {
    test::overwrite(files, path_of(number), offset, bytes);
  }

  MemoryFileSystem files;
  FileHandles handles{files, 10};
  std::unique_ptr<BlockCache> cache;
  MetadataBudget index_budget;
  MetadataBudget filter_budget;
  TableContext context;
};

/// An answer that outlives the block it came from.
struct OwnedAnswer {
  EntryKind kind = EntryKind::kPut;
  Sequence sequence = {};
  std::string value;

  friend bool operator==(const OwnedAnswer&, const OwnedAnswer&) = default;
};
inline std::optional<OwnedAnswer> owned(const std::optional<FoundEntry>& found) {
  if (!found) return {};
  return OwnedAnswer{found->kind, found->sequence, std::string(found->value)};
}

/// A lookup in one table that may read from disk; the value lies in the block that `pin` keeps.
inline Result<std::optional<FoundEntry>> find_in(Table& table, const Lookup& lookup, bool fills_cache, PinnedBlock& pin,
                                                 TableSearch& search) {
  std::optional<FoundEntry> found;
  TAMIS_TRY(bool goes_on, table.begin_search(lookup, fills_cache, search));
  while (goes_on) {
    pin = table.find_block(search.block);
    if (!pin) {
      TAMIS_TRY(pin, table.fetch_block(search));
    }
    TAMIS_TRY(goes_on, table.search_block(search, lookup, pin.bytes(), found));
  }
  return found;
}

inline Result<std::optional<OwnedAnswer>> find_in(Table& table, std::string_view key, Sequence at,
                                                  bool fills_cache = true) {
  PinnedBlock pin;
  TableSearch search;
  const Lookup lookup{key, example_hasher()(key), at};
  TAMIS_TRY(const std::optional<FoundEntry> found, find_in(table, lookup, fills_cache, pin, search));
  return owned(found);
}

inline bool names_file_and_offset(const Status& status) {
  return status.code() == StatusCode::kCorruption && status.message().find("/000013.tms") != std::string_view::npos &&
         status.message().find("offset ") != std::string_view::npos;
}

}  // namespace tamis::test
