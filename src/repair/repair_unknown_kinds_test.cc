// Stores with entries of kinds that this build does not know: nothing of them is damage, nothing is thrown away.
#include <gtest/gtest.h>

#include "entry/batch_format.h"
#include "journal/journal_reader.h"
#include "journal/journal_writer.h"
#include "support/repair_world.h"
#include "table/block_file.h"

namespace tamis {
namespace {

using test::RepairWorld;
using test::small_options;

constexpr char kUnknown = 5;
constexpr char kUnknownInTable = 6;

/// Appends a record with an entry of another kind to the newest journal.
void append_unknown(RepairWorld& world, std::string_view payload) {
  const std::string path = journal_path(RepairWorld::kStore, world.numbers(FileKind::kJournal).back());
  JournalReader reader = *JournalReader::open(world.files, path);
  ASSERT_TRUE(reader.skip_to_end().ok());
  auto journal = JournalWriter::reopen(world.files, path, reader.header(), reader.end());
  ASSERT_TRUE(journal.ok()) << journal.status().to_text();
  ASSERT_TRUE((*journal)->append(as_bytes(payload), 1).ok());
  ASSERT_TRUE((*journal)->close().ok());
}

/// Gives the first entry of the table's first block another kind, and the block its checksum.
void change_kind(RepairWorld& world, std::uint64_t table) {
  const std::string path = table_path(RepairWorld::kStore, table);
  std::string bytes = *read_whole_file(world.files, path);
  const auto file = *world.files.open_readable(path);
  const auto index = *read_index(*file, *read_properties(*file, path), path);
  const BlockPosition first = index->position(0);
  const BlockBuffer frame = *read_block(*file, first, table, path);
  std::string block(as_text(block_of(frame.span())));
  const std::size_t entries = load_le<std::uint16_t>(block.data());
  const std::size_t stamp = load_le<std::uint16_t>(block.data() + data_block::offsets_at(entries)) + std::size_t{1};
  block[stamp] = static_cast<char>((block[stamp] & ~7) | kUnknownInTable);
  std::string stored;
  append_block(stored, as_bytes(block), nullptr, table, first.offset);
  ASSERT_EQ(stored.size(), first.bytes) << "the store is not compressed";
  world.put_file(path, bytes.replace(first.offset, stored.size(), stored));
}

Options uncompressed() {
  Options options = small_options();
  options.codec = options.codec_last = "none";
  return options;
}

void expect_not_supported(const Status& status, std::string_view what) {
  EXPECT_EQ(status.code(), StatusCode::kNotSupported) << status.to_text();
  EXPECT_NE(status.message().find(what), std::string_view::npos) << status.to_text();
}

TEST(RepairUnknownKinds, AnEntryOfTheJournalIsNeitherDamageNorItsEnd) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    world.fill();
    using namespace std::string_literals;
    append_unknown(world, "\0\1"s + kUnknown + "\1\1kv");
    if (!has_manifest) world.remove_manifest();
    const auto before = world.all_bytes();
    const std::string what = "entry kind 5";
    if (has_manifest) expect_not_supported(DB::open("/store", small_options(), world.environment()).status(), what);
    expect_not_supported(DB::repair("/store", true, world.environment()).status(), what);
    expect_not_supported(DB::repair("/store", false, world.environment()).status(), what);
    EXPECT_EQ(world.all_bytes(), before);
  }
}

TEST(RepairUnknownKinds, AnEntryOfATableIsNotDamage) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    {
      DB db = world.open(uncompressed());
      world.write_some(db, 1000);
      ASSERT_TRUE(db.compact().ok());
      ASSERT_TRUE(db.close().ok());
    }
    change_kind(world, world.numbers(FileKind::kTable).front());
    const auto before = world.all_bytes();
    const std::string what = "entry kind 6";
    if (has_manifest) {
      DB db = world.open(uncompressed());
      {
        Iterator at = db.scan();
        while (at.valid()) at.next();
        expect_not_supported(at.status(), what);
      }
      expect_not_supported(db.verify().status(), what);
      ASSERT_TRUE(db.close().ok());
    } else {
      world.remove_manifest();
    }
    const auto names = world.names();
    expect_not_supported(DB::repair("/store", true, world.environment()).status(), what);
    expect_not_supported(DB::repair("/store", false, world.environment()).status(), what);
    EXPECT_EQ(world.names(), names);
    for (const auto& [name, bytes] : world.all_bytes()) {
      EXPECT_TRUE(!name.ends_with(".tms") || bytes == before.at(name)) << name;
    }
  }
}

}  // namespace
}  // namespace tamis
