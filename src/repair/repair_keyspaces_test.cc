// Rules 34 and 35 in a repair: every entry comes back to its own keyspace, once.
#include <gtest/gtest.h>
#include "tamis/db.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/features.h"
#include "support/repair_world.h"

namespace tamis {
namespace {

using test::Contents;
using test::RepairWorld;
using test::small_options;

/// By the names of the keyspaces.
using AllContents = std::map<std::string, Contents>;

AllContents all_contents(RepairWorld& world) {
  DB db = world.open();
  const VerifyReport verified = *db.verify();
  for (const Problem& problem : verified.problems) ADD_FAILURE() << problem.file << ": " << problem.what;
  AllContents all;
  for (const KeyspaceInfo& info : db.keyspaces()) {
    Iterator at = db.keyspace(info.name)->scan();
    Contents& contents = all[info.name];
    for (; at.valid(); at.next()) contents.emplace(at.key(), at.value());
    EXPECT_TRUE(at.status().ok()) << at.status().to_text();
  }
  return all;
}

std::map<std::string, KeyspaceInfo> keyspaces_of(const DB& db) {
  std::map<std::string, KeyspaceInfo> infos;
  for (const KeyspaceInfo& info : db.keyspaces()) infos[info.name] = info;
  return infos;
}

/// The keyspaces that the report has doubts about.
std::set<std::string> doubted(const RepairReport& report) {
  std::set<std::string> names;
  for (const RepairReport::Doubt& doubt : report.doubts) names.insert(doubt.keyspace);
  return names;
}

bool tells(const RepairReport& report, std::string_view what) {
  return report.to_text().find(what) != std::string::npos;
}

TEST(RepairOfKeyspaces, EntriesOfJournalsComeBackToTheirKeyspace) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    AllContents expected;
    {
      DB db = world.open();
      Keyspace users = *db.keyspace("users");
      ASSERT_TRUE(users.put("a", "flushed").ok() && db.put("a", "in default").ok() && db.flush().ok());
      Batch batch;
      batch.put("b", "also in default");
      batch.put(users, "b", "of a batch");
      batch.put("c", "again in default");
      ASSERT_TRUE(db.write(batch).ok() && users.put("a", "newer").ok() && users.remove("c").ok() && db.close().ok());
    }
    expected = {{"default", {{"a", "in default"}, {"b", "also in default"}, {"c", "again in default"}}},
                {"users", {{"a", "newer"}, {"b", "of a batch"}}}};
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    EXPECT_EQ(report.journal_entries, 5U);
    EXPECT_TRUE(report.lost.empty()) << report.to_text();
    EXPECT_EQ(report.doubts.empty(), has_manifest) << report.to_text();
    if (!has_manifest) {
      EXPECT_EQ(doubted(report), (std::set<std::string>{"default", "users"}));
      EXPECT_TRUE(tells(report, "keyspace \"users\", \"a\" to \"c\": its options are lost")) << report.to_text();
    }
    EXPECT_EQ(all_contents(world), expected) << has_manifest;
  }
}

/// One record has entries of all of them.
TEST(RepairOfKeyspaces, Rule35_ABatchOverKeyspacesComesBackWithoutWhatWasDropped) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    {
      DB db = world.open();
      Keyspace users = *db.keyspace("users");
      ASSERT_TRUE(users.put("in a table", "1").ok() && db.flush().ok());
      const Keyspace logs = *db.keyspace("logs");
      const Keyspace dropped = *db.keyspace("dropped");
      Batch batch;
      batch.put("key", "in default");
      batch.put(users, "key", "in users");
      batch.put(dropped, "key", "dropped");
      batch.put(logs, "key", "in logs");
      batch.remove(users, "in a table");
      ASSERT_TRUE(db.write(batch, {.sync = true}).ok() && db.drop_keyspace("dropped").ok() && db.close().ok());
    }
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    EXPECT_TRUE(report.lost.empty()) << report.to_text();
    EXPECT_EQ(report.journal_entries, has_manifest ? 4U : 5U);
    AllContents expected = {{"default", {{"key", "in default"}}}, {"users", {{"key", "in users"}}}};
    expected[has_manifest ? "logs" : "keyspace-2"] = {{"key", "in logs"}};
    if (!has_manifest) expected["keyspace-3"] = {{"key", "dropped"}};
    EXPECT_EQ(all_contents(world), expected);
    DB db = world.open();
    EXPECT_EQ(db.keyspace("another")->id(), 4U) << "no id is given twice";
  }
}

TEST(RepairOfKeyspaces, AKeyspaceThatOnlyJournalsKnowGetsAName) {
  RepairWorld world;
  {
    DB db = world.open();
    Keyspace users = *db.keyspace("users");
    ASSERT_TRUE(users.put("a", "1").ok() && db.put("b", "2").ok() && db.close().ok());
  }
  world.remove_manifest();
  const RepairReport report = world.repair();
  EXPECT_TRUE(tells(report, "keyspace \"keyspace-1\", \"a\" to \"a\": only journals have entries of it"))
      << report.to_text();
  EXPECT_EQ(all_contents(world), (AllContents{{"default", {{"b", "2"}}}, {"keyspace-1", {{"a", "1"}}}}));
  DB db = world.open();
  EXPECT_EQ(db.keyspace("another")->id(), 2U);
}

/// One keyspace has been flushed, the other one keeps the journals. Without a manifest the flushed one gets its entries
/// again, and above them all later ones: that changes no answer.
TEST(RepairOfKeyspaces, Rule34_WhatAKeyspaceHasFlushedComesFromTablesAlone) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    std::uint64_t writes = 0;
    {
      DB db = world.open();
      Keyspace users = *db.keyspace("users");
      while (keyspaces_of(db).at("users").tables == 0) {
        Batch batch;
        batch.put(users, fmt::format("key{:03}", writes), std::string(4000, 'u'));
        batch.put(fmt::format("key{:03}", writes++), "small");
        ASSERT_TRUE(db.write(batch).ok());
      }
      ASSERT_TRUE(users.put(fmt::format("key{:03}", writes), "not flushed").ok());
      ASSERT_EQ(keyspaces_of(db).at("default").tables, 0U) << "only one of the two is to be flushed";
      ASSERT_TRUE(db.close().ok());
    }
    const AllContents before = all_contents(world);
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    EXPECT_TRUE(report.lost.empty()) << report.to_text();
    if (has_manifest) {
      EXPECT_TRUE(report.doubts.empty()) << report.to_text();
      EXPECT_LT(report.journal_entries, writes + 5) << "entries of tables were read from journals";
    }
    EXPECT_GE(report.journal_entries, writes + 1);
    EXPECT_EQ(all_contents(world), before);
    DB db = world.open();
    EXPECT_EQ(keyspaces_of(db).at("default").entries, writes);
    if (has_manifest) {
      EXPECT_EQ(keyspaces_of(db).at("users").entries, writes + 1) << "an entry is there twice";
    }
  }
}

TEST(RepairOfKeyspaces, Rule35_EntriesOfADroppedKeyspaceStayDropped) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    {
      DB db = world.open();
      Keyspace users = *db.keyspace("users");
      ASSERT_TRUE(users.put("a", "1").ok() && db.put("b", "2").ok());
      ASSERT_TRUE(db.drop_keyspace("users").ok() && db.put("c", "3").ok() && db.close().ok());
    }
    AllContents expected = {{"default", {{"b", "2"}, {"c", "3"}}}};
    if (!has_manifest) {
      world.remove_manifest();
      expected["keyspace-1"] = {{"a", "1"}};
    }
    const RepairReport report = world.repair();
    EXPECT_TRUE(report.lost.empty()) << report.to_text();
    EXPECT_EQ(report.journal_entries, has_manifest ? 2U : 3U);
    EXPECT_EQ(tells(report, "it may have been dropped"), !has_manifest) << report.to_text();
    EXPECT_EQ(all_contents(world), expected);
    DB db = world.open();
    EXPECT_EQ(db.keyspace("users")->id(), 2U);
  }
}

/// An old manifest was put back: journals have entries of a keyspace that it never created.
TEST(RepairOfKeyspaces, Rule35_EntriesOfAKeyspaceThatWasNeverCreatedAreKeptApart) {
  RepairWorld world;
  std::map<std::string, std::string> old;
  {
    DB db = world.open();
    Keyspace taken = *db.keyspace("lost-2");
    ASSERT_TRUE(taken.put("a", "1").ok());
    for (const auto& [name, bytes] : world.all_bytes()) {
      if (name == "CURRENT" || name.starts_with("MANIFEST")) old[name] = bytes;
    }
    Keyspace users = *db.keyspace("users");
    ASSERT_TRUE(users.put("a", "2").ok() && db.put("a", "3").ok() && db.close().ok());
  }
  world.remove_manifest();
  for (const auto& [name, bytes] : old) world.put_file(RepairWorld::path(name), bytes);
  EXPECT_EQ(world.open_code(), StatusCode::kCorruption);
  const RepairReport report = world.repair();
  EXPECT_TRUE(report.manifest_lost.empty() && report.lost.empty()) << report.to_text();
  EXPECT_EQ(doubted(report), std::set<std::string>{"lost-2~2"});
  EXPECT_TRUE(tells(report, "keyspace 2, which was never created")) << report.to_text();
  EXPECT_EQ(all_contents(world),
            (AllContents{{"default", {{"a", "3"}}}, {"lost-2", {{"a", "1"}}}, {"lost-2~2", {{"a", "2"}}}}));
  DB db = world.open();
  EXPECT_EQ(db.keyspace("users")->id(), 3U);
}

/// Two tables, one of each keyspace, and nothing in the journals. Returns the number of the one of "users".
std::uint64_t write_two_tables(RepairWorld& world) {
  DB db = world.open();
  Keyspace users = *db.keyspace("users");
  for (int i = 0; i < 100; ++i) {
    const std::string key = fmt::format("key{:03}", i);
    EXPECT_TRUE(users.put(key, test::value_for(1)).ok() && db.put(key, test::value_for(2)).ok());
  }
  const Snapshot keeps_the_delete = db.snapshot();
  EXPECT_TRUE(users.remove("key000").ok() && db.flush().ok());
  for (const std::uint64_t number : world.numbers(FileKind::kTable)) {
    if (world.properties_of(number).keyspace == KeyspaceId{1}) return number;
  }
  ADD_FAILURE() << "no table of the keyspace";
  return 0;
}

TEST(RepairOfKeyspaces, Rule35_ADamagedTableIsRewrittenForItsKeyspace) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    const std::uint64_t damaged = write_two_tables(world);
    AllContents expected = all_contents(world);
    world.flip(table_path("/store", damaged), 100);
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    EXPECT_EQ(report.tables_rewritten, 1U);
    EXPECT_TRUE(tells(report, "keyspace \"users\", \"key000\" to \"key099\": table")) << report.to_text();
    EXPECT_EQ(doubted(report).contains("default"), !has_manifest) << report.to_text();
    AllContents found = all_contents(world);
    EXPECT_EQ(found["default"], expected["default"]);
    EXPECT_FALSE(found["users"].empty());
    for (const auto& [key, value] : found["users"]) EXPECT_EQ(value, test::value_for(1)) << key;
    const TableProperties properties = world.properties_of(world.numbers(FileKind::kTable).back());
    EXPECT_EQ(properties.keyspace, KeyspaceId{1});
    EXPECT_EQ(properties.keyspace_name, "users");
    EXPECT_EQ(properties.replaces, std::vector<std::uint64_t>{damaged});
  }
}

/// Its entries would hide those of the default keyspace.
TEST(RepairOfKeyspaces, Rule35_ATableThatDoesNotSayItsKeyspaceIsKeptApart) {
  RepairWorld world;
  const std::uint64_t damaged = write_two_tables(world);
  AllContents expected = all_contents(world);
  expected[fmt::format("table-{}", damaged)] = expected["users"];
  expected.erase("users");
  const std::string path = table_path("/store", damaged);
  world.cut(path, read_whole_file(world.files, path)->size() - 1);
  world.remove_manifest();
  const RepairReport report = world.repair();
  EXPECT_TRUE(tells(report, fmt::format("table {} does not record to which keyspace it belongs", damaged)))
      << report.to_text();
  EXPECT_EQ(all_contents(world), expected);
}

TEST(RepairOfKeyspaces, Rule36_TablesOfJournalEntriesHaveTheFeaturesThatTheyNeed) {
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    const std::string key(70'000, 'k');
    {
      DB db = world.open();
      ASSERT_TRUE(db.keyspace("users")->put(key, "long").ok() && db.close().ok());
    }
    if (!has_manifest) world.remove_manifest();
    (void)world.repair();
    const TableProperties properties = world.properties_of(world.numbers(FileKind::kTable).back());
    EXPECT_TRUE(properties.facts.features.includes(Features::of(Feature::kLongKeys)));
    EXPECT_EQ(properties.keyspace, KeyspaceId{1});
    EXPECT_EQ(all_contents(world)[has_manifest ? "users" : "keyspace-1"], (Contents{{key, "long"}}));
  }
}

}  // namespace
}  // namespace tamis
