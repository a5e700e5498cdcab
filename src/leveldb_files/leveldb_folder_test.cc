#include "tamis/leveldb_folder.h"

#include <gtest/gtest.h>

#include <string>

#include "support/golden_files.h"
#include "support/scratch_folder.h"

namespace tamis {
namespace {

std::string golden_folder() { return foreign::golden_path("leveldb/folder"); }

TEST(LevelDbFolderHandle, ReadsAFolderOnDiskAndSaysWhatItHas) {
  Result<LevelDbFolder> folder = LevelDbFolder::open(golden_folder() + "//");
  ASSERT_TRUE(folder.ok()) << folder.status().to_text();
  EXPECT_EQ(folder->key(), "");
  EXPECT_EQ(folder->tables(), 3U);
  EXPECT_EQ(folder->logs(), 1U);
  EXPECT_EQ(folder->bytes(), 3075U + 417U + 254U + 144U);
  std::size_t entries = 0;
  for (; folder->next(); ++entries) {
    if (entries == 0) {
      EXPECT_EQ(folder->key(), "");
      EXPECT_EQ(folder->value(), "the empty key");
    }
  }
  EXPECT_EQ(entries, foreign::golden_lines("leveldb/folder.hex").size());
  EXPECT_TRUE(folder->status().ok());
  EXPECT_TRUE(folder->finish().ok());
  EXPECT_GT(folder->bytes_read(), 3000U);
  EXPECT_LE(folder->bytes_read(), folder->bytes());
  EXPECT_TRUE(folder->notes().empty());
  EXPECT_FALSE(folder->next());
  EXPECT_EQ(folder->key(), "");
  EXPECT_EQ(folder->value(), "");
}

TEST(LevelDbFolderHandle, IsRefusedWhereThereIsNoStore) {
  const test::ScratchFolder scratch;
  EXPECT_EQ(LevelDbFolder::open(scratch.path("missing")).status().code(), StatusCode::kIoError);
  EXPECT_EQ(LevelDbFolder::open(std::string("a\0b", 3)).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace tamis
