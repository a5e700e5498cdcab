#include "leveldb_files/version_edit_format.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "leveldb_files/write_batch_format.h"

namespace tamis::leveldb {
namespace {

std::string text(std::string_view bytes) {
  std::string text;
  append_varint(text, bytes.size());
  return text.append(bytes);
}

Result<VersionEdit> decode(const std::string& record) { return decode_version_edit(as_bytes(record), "manifest"); }

TEST(LevelDbVersionEdit, HasEveryFieldOfTheRecord) {
  const std::string key = "key" + std::string(8, '\1');
  const std::string record = "\x01" + text("order") + "\x02\x05\x03\x06\x04\x07\x09\x04\x05\x01" + text(key) +
                             "\x06\x02\x11" + "\x07\x03\x12\x64" + text(key) + text(key);
  const Result<VersionEdit> edit = decode(record);
  ASSERT_TRUE(edit.ok()) << edit.status().to_text();
  EXPECT_EQ(edit->comparator, "order");
  EXPECT_EQ(edit->log, 5U);
  EXPECT_EQ(edit->next_file, 6U);
  EXPECT_EQ(edit->last_sequence, 7U);
  EXPECT_EQ(edit->previous_log, 4U);
  ASSERT_EQ(edit->deleted.size(), 1U);
  EXPECT_EQ(edit->deleted[0], std::pair(std::uint64_t{2}, std::uint64_t{17}));
  ASSERT_EQ(edit->added.size(), 1U);
  EXPECT_EQ(edit->added[0].level, 3U);
  EXPECT_EQ(edit->added[0].number, 18U);
  EXPECT_EQ(edit->added[0].size, 100U);
  EXPECT_EQ(edit->added[0].smallest, key);
  EXPECT_EQ(edit->added[0].largest, key);
}

TEST(LevelDbVersionEdit, IsRefusedWithAnotherShape) {
  EXPECT_EQ(decode("\x06\x07\x01").status().message(), "manifest: at offset 2: level 7; LevelDB has 7");
  EXPECT_EQ(decode("\x07\x01\x02\x03" + text("short") + text("short")).status().code(), StatusCode::kCorruption);
  EXPECT_EQ(decode("\x02").status().code(), StatusCode::kCorruption);
  EXPECT_EQ(decode("\x08").status().code(), StatusCode::kNotSupported);
}

TEST(LevelDbWriteBatch, HasTheNextSequenceForEachWrite) {
  std::string record;
  append_le(record, std::uint64_t{40});
  append_le(record, std::uint32_t{3});
  record += "\x01" + text("key") + text("old") + '\0' + text("gone") + "\x01" + text("key") + text("new");
  std::vector<Entry> entries;
  ASSERT_TRUE(decode_write_batch(as_bytes(record), "log", entries).ok());
  const std::vector<Entry> expected = {{"key", "old", Sequence{40}, EntryKind::kPut},
                                       {"gone", "", Sequence{41}, EntryKind::kDelete},
                                       {"key", "new", Sequence{42}, EntryKind::kPut}};
  EXPECT_EQ(entries, expected);
  EXPECT_EQ(decode_write_batch(as_bytes(record + "x"), "log", entries).code(), StatusCode::kCorruption);
  record[8] = 4;
  EXPECT_EQ(decode_write_batch(as_bytes(record), "log", entries).code(), StatusCode::kCorruption);
  record[12] = 2;
  EXPECT_EQ(decode_write_batch(as_bytes(record), "log", entries).code(), StatusCode::kNotSupported);
}

}  // namespace
}  // namespace tamis::leveldb
