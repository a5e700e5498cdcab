// Tests of tables that LevelDB 1.23 does not write, made by hand: Zstandard, other compressions, keys that do not
// ascend.
#include "leveldb_files/table_run.h"

#include <gtest/gtest.h>
#include <zstd.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/memory_file_system.h"
#include "support/files.h"

namespace tamis::leveldb {
namespace {

using KeyValues = std::vector<std::pair<std::string, std::string>>;  // Keys with their suffix.

std::string internal(std::string key, std::uint64_t sequence, std::uint8_t kind = 1) {
  append_le(key, sequence << 8U | kind);
  return key;
}

std::string contents_of(const KeyValues& entries) {
  std::string contents;
  for (const auto& [key, value] : entries) {
    append_varint(contents, 0);
    append_varint(contents, key.size());
    append_varint(contents, value.size());
    contents += key + value;
  }
  append_le(contents, std::uint32_t{0});
  append_le(contents, std::uint32_t{1});
  return contents;
}

/// Appends a block and returns its handle.
std::string add_block(std::string& file, std::string contents, char compression = 0) {
  if (compression == 2) {
    std::string packed(ZSTD_compressBound(contents.size()), '\0');
    packed.resize(ZSTD_compress(packed.data(), packed.size(), contents.data(), contents.size(), 3));
    contents = packed;
  }
  std::string handle;
  append_varint(handle, file.size());
  append_varint(handle, contents.size());
  contents += compression;
  file += contents;
  append_le(file, foreign::block_checksum(foreign::BlockChecksum::kCrc32c, as_bytes(contents)));
  return handle;
}

/// A table of these blocks.
std::string table_of(const std::vector<KeyValues>& blocks, char compression = 0) {
  std::string file;
  KeyValues index;
  for (const KeyValues& block : blocks) {
    const std::string last = block.empty() ? internal("", 0) : block.back().first;
    index.emplace_back(last, add_block(file, contents_of(block), compression));
  }
  const std::string metaindex = add_block(file, contents_of({}));
  std::string footer = metaindex + add_block(file, contents_of(index));
  footer.resize(kFooterBytes - 8);
  append_le(footer, foreign::kLevelDbMagic);
  return file + footer;
}

struct Reading {
  std::vector<std::string> lines;  // key=value@sequence, or key-@sequence.
  Status status;
};

Reading read(const std::vector<std::string>& tables) {
  MemoryFileSystem files;
  std::vector<TableRef> refs;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const std::string path = "/" + std::to_string(i) + ".ldb";
    test::put_file(files, path, tables[i]);
    refs.push_back({.path = path, .number = i, .size = tables[i].size(), .smallest = {}});
  }
  std::uint64_t bytes_read = 0;
  TableRun run(files, refs, bytes_read);
  Reading reading;
  for (run.seek_to_first(); run.valid(); run.step()) {
    const Entry& entry = run.entry();
    const std::string value = entry.kind == EntryKind::kPut ? "=" + std::string(entry.value) : "-";
    reading.lines.push_back(std::string(entry.key) + value + "@" + std::to_string(number_of(entry.sequence)));
  }
  reading.status = run.status();
  return reading;
}

const KeyValues kFirst = {{internal("a", 5), "one"}, {internal("b", 9, 0), ""}, {internal("b", 4), "two"}};
const KeyValues kSecond = {{internal("b", 3), "three"}, {internal("c", 7), std::string(1000, 'z')}};
const std::vector<std::string> kLines = {"a=one@5", "b-@9", "b=two@4", "b=three@3",
                                         "c=" + std::string(1000, 'z') + "@7"};

TEST(LevelDbTableRun, ShowsBlocksStoredAsTheyAreOrPackedWithZstandard) {
  for (const char compression : {'\0', '\2'}) {
    const Reading one = read({table_of({kFirst, {}, kSecond}, compression)});
    EXPECT_TRUE(one.status.ok()) << one.status.to_text();
    EXPECT_EQ(one.lines, kLines);
    EXPECT_EQ(read({table_of({kFirst}, compression), table_of({}), table_of({kSecond})}).lines, kLines);
  }
  EXPECT_TRUE(read({}).lines.empty());
}

TEST(LevelDbTableRun, SeeksForwardsAndNotBack) {
  MemoryFileSystem files;
  const std::string table = table_of({kFirst, kSecond});
  test::put_file(files, "/1.ldb", table);
  std::uint64_t bytes_read = 0;
  TableRun run(files, {{.path = "/1.ldb", .number = 1, .size = table.size(), .smallest = {}}}, bytes_read);
  run.seek({"b", Sequence{4}});
  ASSERT_TRUE(run.valid());
  EXPECT_EQ(run.entry().value, "two");
  run.seek({"a", kMaxSequence});
  EXPECT_EQ(run.entry().value, "two");
  run.seek({"b", Sequence{0}});
  EXPECT_EQ(run.entry().key, "c");
  run.seek({"d", kMaxSequence});
  EXPECT_FALSE(run.valid());
  EXPECT_TRUE(run.status().ok());
}

TEST(LevelDbTableRun, RefusesKeysThatDoNotAscend) {
  for (const auto& [before, after] :
       {std::pair(internal("b", 5), internal("a", 5)), std::pair(internal("b", 5), internal("b", 5)),
        std::pair(internal("b", 5), internal("b", 6)), std::pair(internal("", 1), internal("", 1))}) {
    for (const Reading& reading :
         {read({table_of({{{before, ""}, {after, ""}}})}), read({table_of({{{before, ""}}, {{after, ""}}})}),
          read({table_of({{{before, ""}}}), table_of({{{after, ""}}})})}) {
      EXPECT_EQ(reading.status.code(), StatusCode::kCorruption);
      EXPECT_NE(reading.status.message().find("do not ascend"), std::string_view::npos) << reading.status.to_text();
    }
  }
}

TEST(LevelDbTableRun, RefusesWhatLevelDbDoesNotWrite) {
  const Reading packed = read({table_of({kFirst}, 4)});
  EXPECT_EQ(packed.status.code(), StatusCode::kNotSupported);
  EXPECT_NE(packed.status.message().find("method 4"), std::string_view::npos) << packed.status.to_text();
  const Reading merge = read({table_of({{{internal("a", 5, 2), "operand"}}})});
  EXPECT_EQ(merge.status.code(), StatusCode::kNotSupported);
  EXPECT_EQ(read({table_of({{{"short", ""}}})}).status.code(), StatusCode::kNotSupported);
}

TEST(LevelDbTableRun, RefusesATableOfAnotherLength) {
  MemoryFileSystem files;
  const std::string table = table_of({kFirst});
  test::put_file(files, "/1.ldb", table + "more");
  std::uint64_t bytes_read = 0;
  TableRun run(files, {{.path = "/1.ldb", .number = 1, .size = table.size(), .smallest = {}}}, bytes_read);
  run.seek_to_first();
  EXPECT_FALSE(run.valid());
  EXPECT_EQ(run.status().code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace tamis::leveldb
