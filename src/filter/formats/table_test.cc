// Table files beyond the golden ones: compressed blocks, RocksDB's footers from version 6, and tables whose filter must
// not be probed with keys. Made by rewriting golden tables.
#include <gtest/gtest.h>

#include <map>

#include "filter/formats/table_block_format.h"
#include "support/golden_files.h"
#include "support/snappy_packed.h"

namespace tamis::foreign {
namespace {

constexpr std::uint64_t kRocksDbMagic = 0x88e241b785f4cff7U;
constexpr std::size_t kRocksDbFooterBytes = 53;
constexpr std::size_t kLevelDbFooterBytes = 48;
constexpr std::uint32_t kBaseContext = 0x12345679U;

std::string handle_bytes(BlockHandle handle) {
  std::string bytes;
  append_varint(bytes, handle.offset);
  append_varint(bytes, handle.size);
  return bytes;
}

/// The checksum context from version 6 on, implemented a second time.
std::uint32_t context(std::uint32_t base, std::uint64_t offset) {
  return base ^ static_cast<std::uint32_t>(offset + (offset >> 32));
}

/// A RocksDB table of version 5, like the golden ones.
struct RocksDbTable {
  explicit RocksDbTable(std::string_view name) : file(golden_bytes(name)) {
    const std::size_t footer = file.size() - kRocksDbFooterBytes;
    checksum = BlockChecksum{static_cast<std::uint8_t>(file[footer])};
    metaindex = *handle_in(std::string_view(file).substr(footer + 1), name);
    const auto entries = read_dictionary({as_bytes(file), name, checksum}, metaindex, "metaindex");
    for (const auto& [key, value] : *entries) blocks[key] = *handle_in(value, name);
  }

  /// Updates the checksum of a block.
  void seal(BlockHandle handle, std::uint32_t base = 0) {
    const Bytes block = as_bytes(file).subspan(handle.offset, handle.size + 1);
    const std::uint32_t sum = block_checksum(checksum, block) + (base == 0 ? 0 : context(base, handle.offset));
    store_le(file.data() + handle.offset + handle.size + 1, sum);
  }

  /// Replaces a text in the properties with one of the same length.
  void change_property(std::string_view from, std::string_view to) {
    const std::size_t at = file.find(from, blocks.at("rocksdb.properties").offset);
    ASSERT_NE(at, std::string::npos);
    file.replace(at, to.size(), to);
    seal(blocks.at("rocksdb.properties"));
  }

  /// The same table with the footer of a later version: the metaindex last, and checksums that depend on their offset.
  void raise_version(std::uint32_t version) {
    file.resize(metaindex.offset + metaindex.size + kBlockTrailerBytes);
    for (const auto& [name, handle] : blocks) {
      if (handle.offset < metaindex.offset) seal(handle, kBaseContext);
    }
    seal(metaindex, kBaseContext);
    const std::uint64_t footer_at = file.size();
    std::string footer(1, static_cast<char>(checksum));
    footer.append("\x3e\0\x7a\0", 4);
    append_le<std::uint32_t>(footer, 0);
    append_le(footer, kBaseContext);
    append_le(footer, static_cast<std::uint32_t>(metaindex.size));
    footer.append(24, '\0');
    append_le(footer, version);
    append_le(footer, kRocksDbMagic);
    ASSERT_EQ(footer.size(), kRocksDbFooterBytes);
    store_le(footer.data() + 5, block_checksum(checksum, as_bytes(footer)) + context(kBaseContext, footer_at));
    file += footer;
  }

  [[nodiscard]] Result<ForeignFilter> open() const {
    return ForeignFilter::from_bytes(as_bytes(file), {}, "table.sst");
  }

  std::string file;
  BlockChecksum checksum = BlockChecksum::kNone;
  BlockHandle metaindex;
  std::map<std::string, BlockHandle> blocks;
};

constexpr std::string_view kFullTable = "rocksdb/bloom-fv5-mixed-1000-bpk10.sst";

/// That the filter answers as the original does for the table of this name.
void expect_golden_answers(const ForeignFilter& filter, const std::string& name) {
  const std::vector<std::string> probes = golden_keys(name + ".probes.hex");
  const std::vector<std::string> answers = golden_lines(name + ".answers");
  ASSERT_GT(probes.size(), 1000U);
  for (std::size_t i = 0; i < probes.size(); ++i) ASSERT_EQ(filter.may_contain(probes[i]), answers[i] == "1");
}

TEST(RocksDbTable, FootersFromVersionSixAreRead) {
  for (const std::uint32_t version : {6U, 7U}) {
    RocksDbTable table(kFullTable);
    table.raise_version(version);
    const auto filter = table.open();
    ASSERT_TRUE(filter.ok()) << filter.status().to_text();
    expect_golden_answers(*filter, "rocksdb/bloom-fv5-mixed-1000-bpk10");
  }
}

TEST(RocksDbTable, ALaterVersionIsNotSupported) {
  RocksDbTable table(kFullTable);
  table.raise_version(8);
  EXPECT_EQ(table.open().status().code(), StatusCode::kNotSupported);
}

TEST(RocksDbTable, EveryBitOfAVersionSixFooterIsProtected) {
  RocksDbTable table(kFullTable);
  table.raise_version(6);
  ASSERT_TRUE(table.open().ok());
  // All but the checksum type itself: "none" is a type that disables checks.
  for (std::size_t at = table.file.size() - kRocksDbFooterBytes + 1; at < table.file.size(); ++at) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      RocksDbTable altered = table;
      altered.file[at] = static_cast<char>(static_cast<unsigned char>(altered.file[at]) ^ (1U << bit));
      EXPECT_FALSE(altered.open().ok()) << "bit " << bit << " of byte " << at;
    }
  }
}

TEST(RocksDbTable, ABlockInTheWrongPlaceIsRefusedFromVersionSix) {
  RocksDbTable table(kFullTable);
  table.raise_version(6);
  table.seal(table.blocks.at("fullfilter.rocksdb.BuiltinBloomFilter"), kBaseContext + 1);
  EXPECT_EQ(table.open().status().code(), StatusCode::kCorruption);
}

/// A filter of prefixes, and partitions in another order.
TEST(RocksDbTable, FiltersThatCannotBeAskedForKeysAreNotSupported) {
  const std::string_view changes[][3] = {
      {kFullTable, "whole.key.filtering1", "whole.key.filtering0"},
      {"rocksdb/bloom-part-fv5-uuid-2000-bpk10.sst", "leveldb.BytewiseComparator", "leveldb.BackwardComparator"}};
  for (const auto& [name, from, to] : changes) {
    RocksDbTable table(name);
    ASSERT_TRUE(table.open().ok());
    table.change_property(from, to);
    EXPECT_EQ(table.open().status().code(), StatusCode::kNotSupported) << table.open().status().to_text();
  }
}

TEST(RocksDbTable, EveryChecksumTypeIsComputedAsItsSystemDoes) {
  for (const BlockChecksum checksum : {BlockChecksum::kNone, BlockChecksum::kCrc32c, BlockChecksum::kXxh32,
                                       BlockChecksum::kXxh64, BlockChecksum::kXxh3}) {
    RocksDbTable table(kFullTable);
    table.checksum = checksum;
    table.file[table.file.size() - kRocksDbFooterBytes] = static_cast<char>(checksum);
    const bool stays_readable = checksum == BlockChecksum::kXxh3 || checksum == BlockChecksum::kNone;
    EXPECT_EQ(table.open().ok(), stays_readable);
    for (const auto& [name, handle] : table.blocks) table.seal(handle);
    table.seal(table.metaindex);
    EXPECT_TRUE(table.open().ok()) << table.open().status().to_text();
  }
}

/// Appends a block and returns its handle.
BlockHandle append_block(std::string& file, const std::string& contents, char compression) {
  const BlockHandle handle = {file.size(), contents.size()};
  file += contents;
  file.push_back(compression);
  append_le(file, block_checksum(BlockChecksum::kCrc32c, as_bytes(file).subspan(handle.offset)));
  return handle;
}

/// A LevelDB table with metaindex and index compressed by `pack` and marked accordingly.
template <typename Pack>
std::string repacked_leveldb_table(char compression, Pack pack) {
  std::string file = golden_bytes("leveldb/table-mixed-1000-bpk10.ldb");
  ByteReader footer(as_bytes(file).last(kLevelDbFooterBytes), "footer");
  const BlockHandle metaindex = *read_handle(footer);
  const BlockHandle index = *read_handle(footer);
  const std::string metaindex_contents = file.substr(metaindex.offset, metaindex.size);
  const std::string index_contents = file.substr(index.offset, index.size);
  file.resize(file.size() - kLevelDbFooterBytes);
  std::string handles = handle_bytes(append_block(file, pack(metaindex_contents), compression));
  handles += handle_bytes(append_block(file, pack(index_contents), compression));
  handles.resize(kLevelDbFooterBytes - 8);
  append_le(handles, kLevelDbMagic);
  return file + handles;
}

TEST(LevelDbTable, BlocksCompressedBySnappyAreRead) {
  const std::string file = repacked_leveldb_table(1, test::snappy_packed);
  const auto filter = ForeignFilter::from_bytes(as_bytes(file), {}, "000005.ldb");
  ASSERT_TRUE(filter.ok()) << filter.status().to_text();
  EXPECT_EQ(filter->info().format, "leveldb-table");
  expect_golden_answers(*filter, "leveldb/table-mixed-1000-bpk10");
}

TEST(LevelDbTable, OtherCompressionsAndBlocksThatClaimToUnpackToGigabytesAreRefused) {
  const auto bomb = [](const std::string&) { return std::string("\xff\xff\xff\xff\x0f") + std::string(20, '\0'); };
  const std::pair<std::string, StatusCode> files[] = {
      {repacked_leveldb_table(2, test::snappy_packed), StatusCode::kNotSupported},
      {repacked_leveldb_table(1, bomb), StatusCode::kCorruption}};
  for (const auto& [file, code] : files) {
    const auto filter = ForeignFilter::from_bytes(as_bytes(file), {.format = "leveldb-table"});
    EXPECT_EQ(filter.status().code(), code) << filter.status().to_text();
  }
}

TEST(LevelDbTable, AKeyAfterTheLastSeparatorIsAbsent) {
  const auto filter = ForeignFilter::open(golden_path("leveldb/table-user-100-bpk10.ldb"));
  ASSERT_TRUE(filter.ok()) << filter.status().to_text();
  EXPECT_TRUE(filter->may_contain("user:0"));
  EXPECT_FALSE(filter->may_contain("zzz"));
}

}  // namespace
}  // namespace tamis::foreign
