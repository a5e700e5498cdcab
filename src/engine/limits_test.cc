// Every layer can hold what put accepts.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "entry/batch_format.h"
#include "entry/entry.h"
#include "io/memory_file_system.h"
#include "journal/journal_format.h"
#include "memtable/entry_record.h"
#include "support/open_db.h"
#include "table/data_block_format.h"
#include "table/table_builder.h"

namespace tamis {
namespace {

/// A view of this length; its bytes must not be read.
std::string_view value_of(std::uint64_t bytes) { return {"v", bytes}; }

TEST(Limits, TheLargestEntryFitsIntoEveryLayer) {
  EXPECT_LE(kMaxValueBytes, std::numeric_limits<decltype(EntryRecord::value_bytes)>::max());
  EXPECT_LE(kMaxKeyBytes, std::numeric_limits<decltype(EntryRecord::key_bytes)>::max());
  EXPECT_LE(batch_header_bytes(1) + batch_entry_bytes(kMaxKeyBytes, kMaxValueBytes), kMaxPayload);
  EXPECT_LE(kMaxKeyBytes + kMaxValueBytes, kMaxEntryBytes);
}

TEST(Limits, ABlockOfOneEntryTakesNoMoreOfItsOwnThanATableAllowsFor) {
  const std::string key(kMaxKeyBytes, 'k');
  DataBlockBuilder block(4096);
  block.add({.key = key, .value = "v", .sequence = Sequence{number_of(kMaxSequence) - 1}}, ~std::uint64_t{0});
  EXPECT_LE(block.finish().size() + kBlockTrailerBytes - key.size() - 1, kMaxBlockBytes - kMaxEntryBytes);
}

TEST(Limits, ATableRefusesWhatItCannotHold) {
  MemoryFileSystem files;
  ASSERT_TRUE(files.make_directory("/t").ok());
  Result<std::unique_ptr<TableBuilder>> table =
      TableBuilder::create(files, {.path = "/t/1", .number = 1, .codec = find_codec("none")});
  ASSERT_TRUE(table.ok()) << table.status().to_text();
  EXPECT_EQ((*table)->add({.key = "k", .value = value_of(kMaxEntryBytes)}, 0).code(), StatusCode::kInvalidArgument);
}

TEST(Limits, AValueThatNoTableCanHoldIsRefusedByPut) {
  MemoryFileSystem files;
  DB db = test::open_db(files);
  for (const std::uint64_t bytes : {kMaxValueBytes + 1, kMaxEntryBytes, std::uint64_t{0xffff'ffff}}) {
    const Status put = db.put("key", value_of(bytes));
    EXPECT_EQ(put.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(put.message().find("the max is 4294836224"), std::string::npos) << put.message();
  }
  EXPECT_FALSE(db.get("key")->has_value());
}

}  // namespace
}  // namespace tamis
