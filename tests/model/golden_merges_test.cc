// A store with merge operands, frozen: every later build must open tests/golden/store-2-merges.
//
//     TAMIS_WRITE_GOLDEN=1 model_test --gtest_filter='GoldenMerges.*'    # Writes the store if it is missing.
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <tamis/tamis.hpp>

#include <filesystem>
#include <string>

#include "support/golden.h"
#include "support/scratch_folder.h"

namespace tamis::test {
namespace {

/// Operands over values and alone, in an older and a newer table and in the journal, in two keyspaces.
void write_store(const std::string& path) {
  const Options options{.compaction = "manual", .merge_operator = "append", .journal = "write"};
  Result<DB> db = DB::open(path, options, {.random_seed = 1});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  const Keyspace counters = *db->keyspace("counters", {.merge_operator = "add_i64"});
  const auto merge = [&](std::string_view operand, std::int64_t number) {
    Batch batch;
    batch.merge("list", operand);
    batch.merge("alone", operand);
    batch.merge(counters, "visits", pack_i64(number));
    ASSERT_TRUE(db->write(batch, {.sync = true}).ok());
  };
  ASSERT_TRUE(db->put("list", "begin").ok());
  ASSERT_TRUE(db->put("plain", "value").ok());
  merge(" 1", 1000);
  ASSERT_TRUE(db->flush().ok());
  const Snapshot between = db->snapshot();
  merge(" 2", -1);
  ASSERT_TRUE(db->flush().ok());
  merge(" 3", 43);
  ASSERT_TRUE(db->remove("plain").ok());
}

template <typename Source>
std::string dump(const Source& source) {
  std::string text;
  Iterator all = source.scan();
  for (; all.valid(); all.next()) text += fmt::format("{}={}\n", all.key(), all.value());
  EXPECT_TRUE(all.status().ok()) << all.status().to_text();
  return text;
}

TEST(GoldenMerges, IsOpenedVerifiedReadAndCompacted) {
  const std::string golden = source_file("tests/golden/store-2-merges");
  if (makes_golden(golden)) {
    write_store(golden);
    std::filesystem::resize_file(golden + "/LOCK", 0);
  }
  const ScratchFolder folder;
  std::filesystem::copy(golden, folder.path());
  for (const bool read_only : {true, false}) {
    Result<DB> db = DB::open(folder.path(), {.read_only = read_only}, {.random_seed = 1});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    for (int depth = 0; depth < (read_only ? 1 : 2); ++depth) {
      EXPECT_TRUE(db->verify()->problems.empty());
      EXPECT_EQ(dump(*db), "alone= 1 2 3\nlist=begin 1 2 3\n");
      EXPECT_EQ(dump(*db->keyspace("counters")), "visits=" + pack_i64(1042) + "\n");
      EXPECT_EQ(db->keyspaces()[0].options, "merge_operator=append\n");
      EXPECT_EQ(db->keyspaces()[1].options, "merge_operator=add_i64\n");
      if (read_only) {
        std::uint64_t operands = 0;
        for (const Stats::Level& level : db->stats().levels) operands += level.merge_operands;
        EXPECT_EQ(operands, 3U) << "of the tables, as their facts say";
      } else {
        ASSERT_TRUE(db->compact().ok());
      }
    }
  }
}

}  // namespace
}  // namespace tamis::test
