// A store with values apart, frozen: every later build must open tests/golden/store-2-apart.
//
//     TAMIS_WRITE_GOLDEN=1 model_test --gtest_filter='GoldenApart.*'    # Writes the store if it is missing.
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <filesystem>
#include <map>
#include <string>

#include "support/golden.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

using Entries = std::map<std::string, std::string>;

Entries expected() {
  Entries entries = {{"small", "in the table"}, {"journal", std::string(300, 'j')}};
  for (int i = 0; i < 8; ++i) entries["city" + std::to_string(i)] = std::string(100 + i, static_cast<char>('a' + i));
  entries["city3"] = "overwritten " + std::string(100, '3');
  entries.erase("city5");
  return entries;
}

void write_store(const std::string& path) {
  const Options options{.codec = "lz4", .compaction = "manual", .value_bytes_apart = 64, .journal = "write"};
  Result<DB> db = DB::open(path, options, {.random_seed = 1});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(db->put("city" + std::to_string(i), std::string(100 + i, static_cast<char>('a' + i))).ok());
  }
  ASSERT_TRUE(db->put("small", "in the table").ok());
  ASSERT_TRUE(db->flush().ok());
  ASSERT_TRUE(db->put("city3", expected().at("city3")).ok());
  ASSERT_TRUE(db->remove("city5").ok());
  ASSERT_TRUE(db->flush().ok());
  ASSERT_TRUE(db->put("journal", std::string(300, 'j'), {.sync = true}).ok());
  ASSERT_TRUE(db->close().ok());
  std::filesystem::resize_file(path + "/LOCK", 0);
}

TEST(GoldenApart, IsOpenedVerifiedReadAndWritten) {
  const std::string golden = source_file("tests/golden/store-2-apart");
  if (makes_golden(golden)) write_store(golden);
  const ScratchFolder folder;
  std::filesystem::copy(golden, folder.path());
  for (const bool read_only : {true, false}) {
    Result<DB> db = DB::open(folder.path(), {.read_only = read_only});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    EXPECT_TRUE(db->verify()->problems.empty());
    EXPECT_EQ(db->stats().values.files, 2U);
    EXPECT_EQ(db->stats().values.values, 9U);
    for (int round = 0; round < 2; ++round) {
      Entries found;
      Iterator all = db->scan();
      for (const auto& [key, value] : all) found.emplace(key, value);
      EXPECT_TRUE(all.status().ok()) << all.status().to_text();
      EXPECT_EQ(found, expected());
      if (read_only) break;
      ASSERT_TRUE(db->compact().ok());
    }
  }
}

}  // namespace
}  // namespace tamis::test
