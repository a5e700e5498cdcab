// Repair of stores whose tables or journals are damaged.
#include <gtest/gtest.h>

#include "journal/journal_reader.h"
#include "support/faulty_file_system.h"
#include "support/repair_world.h"

namespace tamis {
namespace {

using test::Contents;
using test::RepairWorld;
using test::small_options;

std::string table_name(std::uint64_t number) { return table_path("", number); }

/// Damages each table in its own copy of the store, and checks the repair.
template <typename Damage, typename Check>
void for_each_table(bool has_manifest, const Damage& damage, const Check& check) {
  RepairWorld whole;
  whole.fill();
  const std::vector<std::uint64_t> tables = whole.numbers(FileKind::kTable);
  ASSERT_GT(tables.size(), 2U);
  for (const std::uint64_t table : tables) {
    SCOPED_TRACE(fmt::format("table {}, manifest {}", table, has_manifest));
    RepairWorld world(whole.files.disk());
    world.model = whole.model;
    world.deleted = whole.deleted;
    damage(world, table);
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    const Contents found = world.contents();
    world.expect_deletes_in_doubt(report, found);
    check(report, found, world);
    world.expect_usable(found);
  }
}

TEST(RepairDamage, ADamagedBlockCostsThatBlock) {
  for (const bool has_manifest : {true, false}) {
    for_each_table(
        has_manifest,
        [](RepairWorld& world, std::uint64_t table) { world.flip(table_path("/store", table), 64 + 100); },
        [](const RepairReport& report, const Contents& found, const RepairWorld& world) {
          ASSERT_EQ(report.lost.size(), 1U) << report.to_text();
          EXPECT_EQ(report.lost[0].offset, 64U);
          EXPECT_LE(report.tables_rewritten, 1U);
          std::size_t wrong = 0;
          for (const auto& [key, value] : world.model) wrong += !found.contains(key) || found.at(key) != value ? 1 : 0;
          EXPECT_LT(wrong, 30U);  // A block of 1 KiB.
        });
  }
}

TEST(RepairDamage, WhatOnlyServesToFindEntriesIsNoLoss) {
  for (const bool has_manifest : {true, false}) {
    for (const bool filter : {true, false}) {
      for_each_table(
          has_manifest,
          [&](RepairWorld& world, std::uint64_t table) {
            const TableProperties properties = world.properties_of(table);
            const Section& section = filter ? properties.filter : properties.index;
            ASSERT_GT(section.bytes, 8U);
            world.flip(table_path("/store", table), section.offset + 5);
          },
          [](const RepairReport& report, const Contents& found, const RepairWorld& world) {
            EXPECT_TRUE(report.lost.empty()) << report.to_text();
            EXPECT_EQ(report.tables_rewritten, 1U);
            EXPECT_TRUE(found == world.model);
          });
    }
  }
}

TEST(RepairDamage, WithoutPropertiesOrFooterAllBlocksAreFound) {
  for (const bool has_manifest : {true, false}) {
    for (const std::uint64_t from_end : {5U, 60U}) {  // The footer; the properties.
      for_each_table(
          has_manifest,
          [&](RepairWorld& world, std::uint64_t table) {
            const std::string path = table_path("/store", table);
            world.flip(path, *world.files.file_size(path).value() - from_end);
          },
          [&](const RepairReport& report, const Contents& found, const RepairWorld& world) {
            // The manifest records the number of blocks; without it, there may have been more.
            EXPECT_EQ(report.lost.size(), has_manifest ? 0U : 1U) << report.to_text();
            EXPECT_TRUE(found == world.model);
          });
    }
  }
}

TEST(RepairDamage, OfACutTableTheBlocksBeforeTheCutAreKept) {
  for (const bool has_manifest : {true, false}) {
    for (const std::uint64_t part : {0U, 1U, 2U}) {
      for_each_table(
          has_manifest,
          [&](RepairWorld& world, std::uint64_t table) {
            const std::string path = table_path("/store", table);
            world.cut(path, *world.files.file_size(path).value() * part / 3);
          },
          [&](const RepairReport& report, const Contents&, const RepairWorld&) {
            ASSERT_FALSE(report.lost.empty());
            EXPECT_EQ(report.tables_rewritten, part == 0 ? 0U : 1U);
          });
    }
  }
}

TEST(RepairDamage, BlocksBeyondADamagedOneAreFoundWithoutTheIndex) {
  for (const char* codec : {"none", "lz4", "zstd"}) {
    RepairWorld world;
    Options options = small_options();
    options.codec = options.codec_last = codec;
    {
      DB db = world.open(options);
      world.write_some(db, 300, 300, 0);
      ASSERT_TRUE(db.compact().ok());
      ASSERT_TRUE(db.close().ok());
    }
    const std::uint64_t table = world.numbers(FileKind::kTable).front();
    const TableProperties properties = world.properties_of(table);
    ASSERT_GT(properties.facts.blocks, 4U);
    world.flip(table_path("/store", table), properties.index.offset + 3);
    world.flip(table_path("/store", table), 64 + 150);
    const RepairReport report = world.repair();
    EXPECT_EQ(report.lost.size(), 1U) << report.to_text();
    EXPECT_GT(world.contents().size(), world.model.size() * 2 / 3) << codec;
  }
}

/// Cuts and overwrites a table of 1.7 MB in small blocks. The work of reading it is counted, not timed.
TEST(RepairDamage, Rule22_ReadingADamagedTableTakesLinearWork) {
  for (const char* codec : {"none", "lz4", "zstd"}) {
    for (const bool has_manifest : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, manifest {}", codec, has_manifest));
      RepairWorld world;
      Options options = small_options();
      options.codec = options.codec_last = codec;
      options.table_bytes = 8 << 20;
      options.memtable_bytes = 4 << 20;
      {
        DB db = world.open(options);
        for (std::uint64_t i = 0; i < 8'000; ++i) {
          const std::string key = fmt::format("key{:05}", i);
          ASSERT_TRUE(db.put(key, world.model[key] = test::value_for(world.random() % 1000)).ok());
        }
        ASSERT_TRUE(db.flush().ok());
        ASSERT_TRUE(db.close().ok());
      }
      ASSERT_EQ(world.numbers(FileKind::kTable).size(), 1U);
      const std::string path = table_path("/store", world.numbers(FileKind::kTable).front());
      const std::uint64_t bytes = **world.files.file_size(path);
      world.cut(path, bytes - 1);
      if (!has_manifest) world.remove_manifest();
      const RepairReport whole = world.repair(true);
      EXPECT_EQ(whole.lost.size(), has_manifest ? 0U : 1U) << whole.to_text();
      EXPECT_EQ(whole.entries, world.model.size());
      EXPECT_LE(whole.bytes_looked_at, 8 * bytes);
      for (std::uint64_t i = 0; i < 20; ++i) world.flip(path, bytes / 2 + i);
      const RepairReport report = world.repair();
      EXPECT_LE(report.bytes_looked_at, 8 * bytes);
      EXPECT_GT(report.entries, world.model.size() - 200);
      EXPECT_EQ(world.contents().size(), report.entries);
    }
  }
}

TEST(RepairDamage, Rule22_AMissingTableIsTold) {
  for_each_table(
      true, [](RepairWorld& world, std::uint64_t table) { world.remove(table_name(table)); },
      [](const RepairReport& report, const Contents&, const RepairWorld&) {
        ASSERT_EQ(report.lost.size(), 1U) << report.to_text();
        EXPECT_NE(report.lost[0].what.find("missing"), std::string::npos);
      });
}

/// A store with the last writes only in its journal, and the offsets of the records.
struct JournalWorld : RepairWorld {
  JournalWorld() {
    DB db = open();
    write_some(db, 1000);
    EXPECT_TRUE(db.flush().ok());
    before = model;
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(db.put(fmt::format("journal{:03}", i), "here", {.sync = true}).ok());
      model[fmt::format("journal{:03}", i)] = "here";
    }
    EXPECT_TRUE(db.close().ok());
    journal = journal_path("/store", numbers(FileKind::kJournal).back());
    bytes = *read_whole_file(files, journal);
  }
  Contents before;
  std::string journal;
  std::string bytes;
};

TEST(RepairDamage, RecordsBeyondADamagedOneAreKept) {
  for (const bool has_manifest : {true, false}) {
    JournalWorld world;
    world.flip(world.journal, world.bytes.find("journal050"));
    EXPECT_EQ(world.open_code(), StatusCode::kCorruption);
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    EXPECT_EQ(report.lost.size(), 1U) << report.to_text();
    EXPECT_EQ(report.journal_entries, 99U);
    EXPECT_FALSE(report.doubts.empty());
    world.model.erase("journal050");
    world.expect_usable(world.model);
  }
}

TEST(RepairDamage, AJournalThatWasCutLosesItsEnd) {
  for (const bool has_manifest : {true, false}) {
    JournalWorld world;
    world.cut(world.journal, world.bytes.find("journal050"));
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    EXPECT_EQ(report.journal_entries, 50U);
    // CURRENT records the journal's length; without it, this looks like the end.
    EXPECT_EQ(report.lost.size(), has_manifest ? 1U : 0U) << report.to_text();
    for (int i = 50; i < 100; ++i) world.model.erase(fmt::format("journal{:03}", i));
    world.expect_usable(world.model);
  }
}

TEST(RepairDamage, AJournalWithoutItsHeaderOrMissingIsLost) {
  for (const bool is_missing : {true, false}) {
    for (const bool has_manifest : {true, false}) {
      JournalWorld world;
      if (is_missing) {
        ASSERT_TRUE(world.files.remove(world.journal).ok());
      } else {
        world.flip(world.journal, 40);
      }
      if (!has_manifest) world.remove_manifest();
      const RepairReport report = world.repair();
      EXPECT_EQ(report.lost.size(), is_missing && !has_manifest ? 0U : 1U) << report.to_text();
      world.expect_usable(world.before);
    }
  }
}

TEST(RepairDamage, NewWritesAreNewerThanEverythingSeen) {
  for (const bool has_tables : {true, false}) {
    RepairWorld world;
    {
      DB db = world.open();
      world.write_some(db, 500, 50, 0);
      if (has_tables) {
        ASSERT_TRUE(db.compact().ok());  // Sequences are zero in the last level.
      }
      ASSERT_TRUE(db.close().ok());
    }
    world.remove_manifest();
    world.repair();
    EXPECT_TRUE(world.contents() == world.model);
    // The journal's first sequence shows where the store continues.
    const std::string path = journal_path("/store", world.numbers(FileKind::kJournal).back());
    const Result<JournalReader> journal = JournalReader::open(world.files, path);
    ASSERT_TRUE(journal.ok());
    EXPECT_GT(journal->header().first_sequence, 500U);
    world.expect_usable(world.model);
  }
}

/// A repair during which a call fails.
struct FaultyRepair {
  FaultyRepair(const RepairWorld& before, FaultKind kind, std::uint64_t call)
      : world(before.files.disk()), faulty(world.files, {.kind = kind, .at_call = call, .sticky = false}) {}

  RepairWorld world;
  FaultyFileSystem faulty;
  const Result<RepairReport> report =
      DB::repair("/store", false, {.files = &faulty, .random_seed = 7, .runs_in_background = false});
};

/// Repair reads twice: for the report, then to write. If the second read returns less, the repair fails and can be
/// repeated. No loss goes unreported.
TEST(RepairDamage, Rule22_WhatCanBeReadOnlyOnceIsNotLostInSilence) {
  RepairWorld world;
  world.fill("leveled", 300);
  world.flip(table_path("/store", world.numbers(FileKind::kTable).front()), 100);
  RepairWorld sound(world.files.disk());
  const std::size_t lost = sound.repair().lost.size();
  const Contents expected = sound.contents();
  int failed = 0;
  for (std::uint64_t call = 1; call < 200; call += 3) {
    FaultyRepair again(world, FaultKind::kIoError, call);
    if (!again.report.ok()) {
      ++failed;
      EXPECT_EQ(again.world.repair().lost.size(), lost) << call;
    }
    if (!again.report.ok() || again.report->lost.size() == lost) {
      EXPECT_TRUE(again.world.contents() == expected) << call;
    }
  }
  EXPECT_GT(failed, 10);
}

TEST(RepairDamage, ALackOfDescriptorsIsNoDamage) {
  RepairWorld world;
  world.fill("leveled", 300);
  world.remove_manifest();
  RepairWorld sound(world.files.disk());
  sound.repair();
  const Contents expected = sound.contents();
  bool was_reached = true;
  for (std::uint64_t call = 1; was_reached; ++call) {
    FaultyRepair again(world, FaultKind::kTooManyFiles, call);
    was_reached = again.faulty.calls() >= call;
    if (again.faulty.fired() == 0) continue;
    if (!again.report.ok()) again.world.repair();
    EXPECT_TRUE(!again.report.ok() || again.report->lost.empty()) << call;
    EXPECT_TRUE(again.world.contents() == expected) << call;
  }
}

}  // namespace
}  // namespace tamis
