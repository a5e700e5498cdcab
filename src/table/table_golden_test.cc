// Frozen tables: every later build must read them and reproduce them byte for byte.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "io/posix_file_system.h"
#include "support/golden.h"
#include "support/table_world.h"
#include "table/table_sections.h"
#include "tamis/table_file.h"

namespace tamis {
namespace {

using test::TableEntries;
using test::TableWorld;

std::string golden_name(std::string_view codec) { return fmt::format("tests/golden/tables/cities-{}.tms", codec); }
std::string golden_path(std::string_view codec) { return source_file(golden_name(codec)); }

/// Several blocks, a key that spans two, deletes, the empty key, a value larger than a block.
TableEntries golden_entries() {
  TableEntries entries;
  entries.add("", 1, "the empty key");
  for (int i = 0; i < 40; ++i) {
    const std::string key = fmt::format("city/{:02}/population", i);
    entries.add(key, 1000 + static_cast<std::uint64_t>(i),
                i % 6 == 0 ? std::nullopt : std::optional(fmt::format("{}", 7919 * i)));
    if (i % 4 == 0) entries.add(key, 500, "before");
  }
  for (std::uint64_t i = 0; i < 30; ++i)
    entries.add("city/hot", 2000 - i, std::string(20, static_cast<char>('a' + i % 26)));
  entries.add(std::string("zero\0", 5), 3, std::string(1500, 'z'));
  entries.sort();
  return entries;
}

TableSpec golden_spec(const Codec& codec) {
  return {.number = 13,
          .keyspace = KeyspaceId{3},
          .keyspace_name = "places",
          .block_bytes = 512,
          .codec = &codec,
          .prefix_rule = {PrefixRule::Kind::kUntil, '/'},
          .level = 2,
          .run = 9,
          .replaces = {10, 11},
          .rewrite = 12,
          .created_unix_seconds = 1'700'000'000};
}

TEST(TableGolden, TablesAreReproducedAndRead) {
  const TableEntries entries = golden_entries();
  for (const Codec& codec : codecs()) {
    SCOPED_TRACE(codec.name);
    TableWorld world;
    const TableFacts facts = world.build(entries, {"line", 10}, golden_spec(codec));
    test::expect_golden(golden_name(codec.name), world.bytes_of());
    const Result<TableFile> file = TableFile::open(golden_path(codec.name));
    ASSERT_TRUE(file.ok()) << file.status().to_text();
    TableFile::Entries read = file->entries();
    for (const Entry& entry : entries.entries) {
      ASSERT_TRUE(read.next());
      EXPECT_EQ(read.key(), entry.key);
      EXPECT_EQ(read.value(), entry.value);
      EXPECT_EQ(read.sequence(), number_of(entry.sequence));
      EXPECT_EQ(read.is_delete(), entry.kind == EntryKind::kDelete);
    }
    EXPECT_FALSE(read.next());
    EXPECT_TRUE(read.status().ok());
    EXPECT_TRUE(file->verify()->empty());
    EXPECT_EQ(file->blocks(), facts.blocks);
  }
}

TEST(TableGolden, ATableWithPaddedBlocksIsReproducedAndRead) {
  TableEntries entries;
  for (int i = 0; i < 140; ++i) entries.add(fmt::format("city/{:03}", i), 1, std::string(70, 'v'));
  TableWorld world;
  const TableFacts facts = world.build(entries, {"line", 10}, {.number = 13, .block_bytes = 4096});
  EXPECT_EQ(facts.blocks, 3U);
  test::expect_golden(golden_name("padded"), world.bytes_of());
  const Result<TableFile> file = TableFile::open(golden_path("padded"));
  ASSERT_TRUE(file.ok()) << file.status().to_text();
  EXPECT_TRUE(file->verify()->empty());
  for (std::uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(file->block(i)->offset + file->block(i)->stored_bytes, (i + 1) * 4096);
  }
}

/// As table_format_fuzz takes them.
std::string fuzzed_properties(TableWorld& world) {
  const std::string bytes = world.bytes_of();
  const std::uint64_t begin = world.properties().index.end();
  std::string wanted;
  append_le(wanted, static_cast<std::uint16_t>(begin));
  return wanted + bytes.substr(begin, bytes.size() - begin - kTableFooterBytes);
}

TEST(TableGolden, ATableWithAFilterInSlicesIsReproducedAndRead) {
  TableEntries entries;
  for (int i = 0; i < 300; ++i) entries.add(fmt::format("city/{:03}", i), 1, "v");
  TableWorld world;
  const TableFacts facts = world.build(entries, {.kind = "sliced", .rate = 0x1p-10}, {.number = 13});
  test::expect_golden(golden_name("slices"), world.bytes_of());
  const Result<TableFile> file = TableFile::open(golden_path("slices"));
  ASSERT_TRUE(file.ok()) << file.status().to_text();
  EXPECT_TRUE(file->verify()->empty());
  EXPECT_EQ(facts.filter_columns(), 10U);
  test::expect_golden("fuzz/corpus/table_format_fuzz/slices", fuzzed_properties(world));
}

TEST(TableGolden, ATableWithARangeFilterIsReproducedAndRead) {
  TableEntries entries;
  for (int i = 0; i < 30; ++i) entries.add(fmt::format("city/{:03}", 7 * i), 1, "v");
  TableWorld world;
  const TableFacts facts = world.build(entries, {"line", 10}, {.number = 13, .range_filter_bits = 16});
  EXPECT_TRUE(facts.features.includes(Features::of(Feature::kRangeFilters)));
  test::expect_golden(golden_name("ranges"), world.bytes_of());
  const Result<TableFile> file = TableFile::open(golden_path("ranges"));
  ASSERT_TRUE(file.ok()) << file.status().to_text();
  EXPECT_TRUE(file->verify()->empty());
  const auto table = world.open(facts);
  EXPECT_FALSE(table->may_contain_range("city/001", "city/007"));
  EXPECT_TRUE(table->may_contain_range("city/001", "city/008"));
  test::expect_golden("fuzz/corpus/table_format_fuzz/ranges", fuzzed_properties(world));
}

/// Shown in docs/FORMAT.md.
TEST(TableGolden, TheFuzzersBeginWithItsPropertiesAndIndex) {
  std::unique_ptr<ReadableFile> file = *posix_file_system().open_readable(golden_path("none"));
  const std::string bytes = *read_whole_file(posix_file_system(), golden_path("none"));
  const TableProperties properties = *read_properties(*file, "t");
  std::string wanted;
  append_le(wanted, static_cast<std::uint16_t>(properties.index.end()));
  wanted += bytes.substr(properties.index.end(), bytes.size() - properties.index.end() - kTableFooterBytes);
  test::expect_golden("fuzz/corpus/table_format_fuzz/none", wanted);
  test::expect_golden("fuzz/corpus/index_format_fuzz/none",
                      bytes.substr(properties.index.offset, properties.index.bytes - 8));
}

TEST(TableFile, ShowsPropertiesAndBlocksOfALoneFile) {
  const Result<TableFile> file = TableFile::open(golden_path("none"));
  ASSERT_TRUE(file.ok()) << file.status().to_text();
  std::map<std::string, std::string> properties;
  for (const TableFile::Property& property : file->properties()) properties[property.name] = property.text;
  EXPECT_EQ(properties["number"], "13");
  EXPECT_EQ(properties["store id"], "5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a");
  EXPECT_EQ(properties["keyspace"], "places");
  EXPECT_EQ(properties["filter"], "line");
  EXPECT_EQ(properties["prefix rule"], "until:/");
  EXPECT_EQ(properties["replaces"], "10 11");
  EXPECT_EQ(properties["entries"], std::to_string(golden_entries().entries.size()));
  std::uint64_t offset = 64;
  std::uint64_t entries = 0;
  for (std::uint32_t i = 0; i < file->blocks(); ++i) {
    const Result<TableFile::Block> block = file->block(i);
    ASSERT_TRUE(block.ok()) << block.status().to_text();
    EXPECT_EQ(block->number, i);
    EXPECT_EQ(block->offset, offset);
    EXPECT_EQ(block->codec, "none");
    EXPECT_EQ(block->first_key, golden_entries().entries.at(entries).key);
    EXPECT_LE(block->separator, block->first_key);
    offset += block->stored_bytes;
    entries += block->entries;
  }
  EXPECT_EQ(entries, golden_entries().entries.size());
  EXPECT_EQ(file->block(file->blocks()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(TableFile::open(source_file("LICENSE")).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(TableFile::open("/no such table").status().code(), StatusCode::kIoError);
}

}  // namespace
}  // namespace tamis
