// A rewrite on an in-memory disk, and its expected output.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compaction/rewriter.h"
#include "entry/drop_rule.h"
#include "entry/vector_iterator.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "support/table_facts.h"
#include "support/table_world.h"

namespace tamis::test {

/// An entry that owns its bytes.
struct OwnedEntry {
  std::string key;
  std::string value;
  Sequence sequence = {};
  EntryKind kind = EntryKind::kPut;

  explicit OwnedEntry(const Entry& entry)
      : key(entry.key), value(entry.value), sequence(entry.sequence), kind(entry.kind) {}
  friend bool operator==(const OwnedEntry&, const OwnedEntry&) = default;
  friend void PrintTo(const OwnedEntry& entry, std::ostream* to) {
    *to << fmt::format("{:?}@{}{}", entry.key, number_of(entry.sequence),
                       entry.kind == EntryKind::kPut ? "" : " deleted");
  }
};

/// The spec and its surroundings; change `spec`, then write.
struct RewriteWorld {
  RewriteWorld() {
    spec.files = &world.files;
    spec.directory = world.context.directory = "/store";
    EXPECT_TRUE(world.files.make_directory("/store").ok());
    spec.identity = example_identity();
    spec.hasher = &hasher;
    spec.table_bytes = 1 << 20;
    spec.snapshots = {Sequence{1'000'000}};
    spec.new_number = [this]() -> Result<std::uint64_t> { return ++numbers; };
    spec.now_unix_seconds = 5000;
  }

  Result<RewriteResult> try_write(std::vector<Entry> entries) {
    std::ranges::sort(entries, {}, &Entry::position);
    VectorIterator source(entries);
    return rewrite(source, spec);
  }
  RewriteResult write(std::vector<Entry> entries) {
    Result<RewriteResult> result = try_write(std::move(entries));
    EXPECT_TRUE(result.ok()) << result.status().to_text();
    return *std::move(result);
  }

  /// All entries of all tables, in order; also checks bounds and counts.
  std::vector<OwnedEntry> read(const RewriteResult& result) {
    std::vector<OwnedEntry> all;
    for (const auto& facts : result.tables) {
      Table table(facts, world.context);
      const std::size_t before = all.size();
      const auto at = table.iterate(false);
      for (at->seek_to_first(); at->valid(); at->next()) all.emplace_back(at->entry());
      EXPECT_TRUE(at->status().ok()) << at->status().to_text();
      EXPECT_EQ(all.size() - before, facts->entries);
      EXPECT_EQ(all[before].key, facts->smallest_key);
      EXPECT_EQ(all.back().key, facts->largest_key);
    }
    return all;
  }

  [[nodiscard]] std::vector<std::string> files() { return names_in(world.files, "/store"); }

  TableWorld world;
  KeyHasher hasher{example_identity().hash_key};
  std::uint64_t numbers = 0;
  RewriteSpec spec;
};

/// What a rewrite should leave of `entries` (in order), computed for every possible reader: for each key the version
/// that each snapshot sees, and the newest; without tombstones that cover nothing and that everyone sees.
inline std::vector<OwnedEntry> expected_entries(const std::vector<Entry>& entries,
                                                const std::vector<Sequence>& snapshots,
                                                const std::vector<const Run*>& older_runs) {
  std::map<std::string, std::vector<Entry>> versions;  // Newest first.
  for (const Entry& entry : entries) versions[std::string(entry.key)].push_back(entry);
  std::vector<OwnedEntry> kept;
  for (const auto& [key, of_key] : versions) {
    bool may_be_older = false;
    for (const Run* run : older_runs) {
      for (const auto& table : run->tables) may_be_older |= table->smallest_key <= key && key <= table->largest_key;
    }
    std::vector<Sequence> readers = snapshots;
    readers.push_back(kMaxSequence);
    std::map<std::size_t, bool> seen;  // The version's index.
    for (const Sequence reader : readers) {
      for (std::size_t i = 0; i < of_key.size(); ++i) {
        if (of_key[i].sequence > reader) continue;
        seen[i] = true;
        break;
      }
    }
    for (const auto& [i, is_seen] : seen) {
      OwnedEntry entry(of_key[i]);
      const bool all_see_it = entry.sequence <= snapshots.front();
      if (entry.kind == EntryKind::kDelete && all_see_it && !may_be_older) continue;
      if (entry.kind == EntryKind::kPut && all_see_it && older_runs.empty()) entry.sequence = Sequence{0};
      kept.push_back(std::move(entry));
    }
  }
  return kept;
}

}  // namespace tamis::test
