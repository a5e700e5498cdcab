// A store with keyspaces and a long key, frozen: every later build must open tests/golden/store-2-keyspaces.
//
//     TAMIS_WRITE_GOLDEN=1 model_test --gtest_filter='GoldenKeyspaces.*'    # Writes the store if it is missing.
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

const std::string kLongKey(70'000, 'k');

void write_store(const std::string& path) {
  const Options options{.compaction = "manual", .journal = "write"};
  Result<DB> db = DB::open(path, options, {.random_seed = 1});
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  Keyspace dropped = *db->keyspace("dropped");
  Keyspace users = *db->keyspace("users", {.codec = "lz4", .fanout = 4});
  const Keyspace events = *db->keyspace("events");
  ASSERT_TRUE(dropped.put("gone", "1").ok());
  ASSERT_TRUE(users.put("ada", "1815").ok());
  ASSERT_TRUE(db->put("in", "default").ok());
  ASSERT_TRUE(db->put(kLongKey, "long").ok());
  ASSERT_TRUE(db->flush().ok());
  ASSERT_TRUE(db->drop_keyspace("dropped").ok());
  Batch batch;
  batch.put(users, "grace", "1906");
  batch.put(events, "grace", "was added");
  batch.remove(users, "ada");
  batch.put("count", "1");
  ASSERT_TRUE(db->write(batch, {.sync = true}).ok());
  ASSERT_TRUE(db->close().ok());
  std::filesystem::resize_file(path + "/LOCK", 0);
}

template <typename Source>
Entries entries_of(const Source& source) {
  Entries entries;
  Iterator all = source.scan();
  for (const auto& [key, value] : all) entries.emplace(key, value);
  EXPECT_TRUE(all.status().ok()) << all.status().to_text();
  return entries;
}

TEST(GoldenKeyspaces, IsOpenedVerifiedReadAndWritten) {
  const std::string golden = source_file("tests/golden/store-2-keyspaces");
  if (makes_golden(golden)) write_store(golden);
  const ScratchFolder folder;
  std::filesystem::copy(golden, folder.path());
  for (const bool read_only : {true, false}) {
    Result<DB> db = DB::open(folder.path(), {.read_only = read_only});
    ASSERT_TRUE(db.ok()) << db.status().to_text();
    EXPECT_TRUE(db->verify()->problems.empty());
    EXPECT_EQ(entries_of(*db), (Entries{{"in", "default"}, {"count", "1"}, {kLongKey, "long"}}));
    const std::vector<KeyspaceInfo> keyspaces = db->keyspaces();
    ASSERT_EQ(keyspaces.size(), 3U);
    EXPECT_EQ(keyspaces[1].name, "users");
    EXPECT_EQ(keyspaces[1].id, 2U);
    EXPECT_EQ(keyspaces[1].options, "codec=lz4\nfanout=4\n");
    EXPECT_EQ(entries_of(*db->keyspace("users")), (Entries{{"grace", "1906"}}));
    EXPECT_EQ(entries_of(*db->keyspace("events")), (Entries{{"grace", "was added"}}));
    if (read_only) continue;
    EXPECT_EQ(db->keyspace("again")->id(), 4U) << "the id of a dropped keyspace was reused";
    ASSERT_TRUE(db->compact().ok());
    EXPECT_EQ(db->get(kLongKey)->value_or(""), "long");
  }
}

}  // namespace
}  // namespace tamis::test
