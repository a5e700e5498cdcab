// Folders of other programs: no operation changes a byte of them.
#include "engine/store_folder.h"

#include <gtest/gtest.h>

#include "support/repair_world.h"

namespace tamis {
namespace {

using test::RepairWorld;

using Files = std::map<std::string, std::string>;

struct OtherProgram {
  const char* name;
  Files files;
};

std::string zeros(std::size_t count) { return std::string(count, '\0'); }

/// With the names and first bytes that the programs write.
const std::vector<OtherProgram>& other_programs() {
  // A log's first record: checksum, length, type 1, then a version edit with the comparator's name.
  const std::string leveldb_manifest = "\x56\xf9\xb8\xf8\x1c" + zeros(1) + "\x01\x01\x1aleveldb.BytewiseComparator";
  const std::string leveldb_log = "\x0c\x1f\x5b\x7b\x1a" + zeros(1) + "\x01\x01" + zeros(11) + "\x01\x05paris";
  static const std::vector<OtherProgram> all = {
      {"LevelDB",
       {{"CURRENT", "MANIFEST-000002\n"},
        {"MANIFEST-000002", leveldb_manifest},
        {"LOCK", ""},
        {"LOG", "2026/11/16-03:00:01.000001 7f12 Delete type=3 #1\n"},
        {"LOG.old", "2026/11/15-03:00:01.000001 7f12 Creating DB\n"},
        {"000003.log", leveldb_log},
        {"000005.ldb", zeros(40) + "\x57\xfb\x80\x8b\x24\x75\x47\xdb"}}},
      {"LevelDB without CURRENT", {{"MANIFEST-000002", leveldb_manifest}, {"LOCK", ""}, {"000003.log", leveldb_log}}},
      {"RocksDB",
       {{"CURRENT", "MANIFEST-000004\n"},
        {"MANIFEST-000004", "\x56\xf9\xb8\xf8\x1d" + zeros(1) + "\x01\x01\x1aleveldb.BytewiseComparator"},
        {"IDENTITY", "5e9b1f0a-3c1d-4a53-9a1e-aa01b2c3d4e5"},
        {"LOCK", ""},
        {"LOG", "2026/11/16-03:00:01.000001 7f12 RocksDB version: 7.8.3\n"},
        {"OPTIONS-000007", "[Version]\n  rocksdb_version=7.8.3\n"},
        {"000008.sst", zeros(40) + "\xf7\xcf\xf4\x85\xb7\x41\xe2\x88"},
        {"000009.log", leveldb_log}}},
      {"LMDB",
       {{"data.mdb", zeros(16) + "\xde\xc0\xef\xbe\x01" + zeros(100)}, {"lock.mdb", "\xde\xc0\xef\xbe" + zeros(60)}}},
      {"SQLite",
       {{"app.db", std::string("SQLite format 3\0", 16) + zeros(84)},
        {"app.db-wal", "\x37\x7f\x06\x82" + zeros(28)},
        {"app.db-journal", "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"}}},
      {"a home",
       {{".bashrc", "alias ll='ls -l'\n"},
        {"LOG", "a diary\n"},
        {"LOG.tmp", "a draft of it\n"},
        {"STATS.tmp", "1,2,3\n"},
        {"notes.tmp", "more\n"}}},
      {"a lock of somebody's", {{"LOCK", "held by the backup since Monday\n"}, {"notes.txt", "mine\n"}}},
      {"tables and journals of other programs", {{"000001.tms", "time;series\n"}, {"000002.journal", "Dear diary\n"}}},
  };
  return all;
}

struct OtherWorld : RepairWorld {
  explicit OtherWorld(const OtherProgram& other) {
    EXPECT_TRUE(files.make_directory(kStore).ok());
    for (const auto& [name, bytes] : other.files) put_file(path(name), bytes);
  }
  /// All original files are unchanged.
  void expect_untouched(const OtherProgram& other, const char* after) {
    const Files now = all_bytes();
    for (const auto& [name, bytes] : other.files) {
      const auto found = now.find(name);
      ASSERT_NE(found, now.end()) << after << " removed " << name;
      EXPECT_EQ(found->second, bytes) << after << " changed " << name;
    }
  }
};

TEST(Folders, P7_NothingChangesTheFilesOfAnotherProgram) {
  for (const OtherProgram& other : other_programs()) {
    SCOPED_TRACE(other.name);
    OtherWorld world(other);
    const std::vector<std::string> names = world.names();
    for (const bool dry_run : {true, false}) {
      EXPECT_FALSE(DB::repair("/store", dry_run, world.environment()).ok());
      world.expect_untouched(other, "repair");
    }
    (void)DB::destroy("/store", world.environment());
    world.expect_untouched(other, "destroy");
    EXPECT_FALSE(DB::open("/store", {.read_only = true}, world.environment()).ok());  // As verify and stats do.
    EXPECT_FALSE(DB::open("/store", {.create_if_missing = false}, world.environment()).ok());
    EXPECT_EQ(world.names(), names);  // Nothing was added.
    {
      Result<DB> db = DB::open("/store", {}, world.environment());
      if (db.ok()) {  // A store may be created beside files with other names.
        EXPECT_TRUE(db->put("key", "value").ok() && db->flush().ok() && db->compact().ok() && db->close().ok());
      } else {
        EXPECT_EQ(world.names(), names);
      }
    }
    world.expect_untouched(other, "open");
    (void)DB::repair("/store", false, world.environment());
    world.expect_untouched(other, "repair of what was made");
    (void)DB::destroy("/store", world.environment());
    world.expect_untouched(other, "destroy of what was made");
  }
}

TEST(Folders, ALevelDbFolderIsRecognisedByAll) {
  for (const std::size_t program : {std::size_t{0}, std::size_t{2}}) {
    OtherWorld world(other_programs()[program]);
    const Status statuses[] = {DB::open("/store", {}, world.environment()).status(),
                               DB::open("/store", {.read_only = true}, world.environment()).status(),
                               DB::repair("/store", false, world.environment()).status(),
                               DB::destroy("/store", world.environment())};
    for (const Status& status : statuses) {
      EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
      EXPECT_EQ(
          status.message(),
          "/store: this is a LevelDB or RocksDB folder; 'tamis import' copies it into a new store (docs/MIGRATING.md)");
    }
  }
}

/// Creates, reopens, repairs, copies and destroys a store under every spelling of its path.
TEST(Folders, APathMayBeSpelledInAnyWay) {
  for (const char* path : {"/made/", "/made//", "/new//deeper/", "/new/./deeper", "//made", "/made/."}) {
    SCOPED_TRACE(path);
    RepairWorld world;
    for (int opening = 0; opening < 2; ++opening) {
      Result<DB> db = DB::open(path, {}, world.environment());
      ASSERT_TRUE(db.ok()) << db.status().to_text();
      EXPECT_TRUE(db->put("paris", "1").ok());
      EXPECT_TRUE(opening == 0 || db->checkpoint("/copy//").ok());
    }
    EXPECT_TRUE(DB::repair(path, false, world.environment()).ok());
    EXPECT_TRUE(DB::destroy(path, world.environment()).ok());
    EXPECT_TRUE(DB::open("/copy", {.create_if_missing = false}, world.environment()).ok());
  }
  RepairWorld world;
  const std::string zero("/sto\0re", 7);
  EXPECT_EQ(DB::open(zero, {}, world.environment()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DB::repair(zero, false, world.environment()).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(DB::destroy(zero, world.environment()).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(world.open().checkpoint(zero).code(), StatusCode::kInvalidArgument);
}

TEST(Folders, ADamagedStoreCanStillBeRepairedAndDestroyed) {
  struct Damage {
    const char* name;
    void (*apply)(RepairWorld& world);
    bool leaves_file = false;
  };
  const Damage damages[] = {
      {"CURRENT gone", [](RepairWorld& world) { world.remove("CURRENT"); }},
      {"manifest gone", [](RepairWorld& world) { world.remove_manifest(); }},
      {"CURRENT damaged", [](RepairWorld& world) { world.flip("/store/CURRENT", 50); }},
      {"CURRENT damaged at its beginning", [](RepairWorld& world) { world.flip("/store/CURRENT", 0); }, true},
      {"CURRENT empty", [](RepairWorld& world) { world.cut("/store/CURRENT", 0); }, true},
      {"headers of tables damaged",
       [](RepairWorld& world) {
         for (const std::uint64_t table : world.numbers(FileKind::kTable)) world.flip(table_path("/store", table), 3);
       }},
      {"only tables without headers left",
       [](RepairWorld& world) {
         world.remove_manifest();
         for (const std::uint64_t journal : world.numbers(FileKind::kJournal)) {
           world.remove(journal_path("", journal));
         }
         for (const std::uint64_t table : world.numbers(FileKind::kTable)) world.flip(table_path("/store", table), 3);
       }},
      {"a table cut to nothing",
       [](RepairWorld& world) { world.cut(table_path("/store", world.numbers(FileKind::kTable).back()), 0); }}};
  for (const Damage& damage : damages) {
    SCOPED_TRACE(damage.name);
    RepairWorld world;
    world.fill("leveled", 600);
    damage.apply(world);
    RepairWorld to_destroy(world.files.disk());
    const Status destroyed = DB::destroy("/store", to_destroy.environment());
    EXPECT_EQ(destroyed.ok(), !damage.leaves_file) << destroyed.to_text();
    EXPECT_EQ(to_destroy.names(),
              damage.leaves_file ? (std::vector<std::string>{"CURRENT", "LOCK"}) : (std::vector<std::string>{"LOCK"}));
    if (damage.leaves_file) {
      EXPECT_EQ(destroyed.to_text(), "not supported: /store: the store was destroyed, except CURRENT: no tamis magic");
    }
    world.repair();
    EXPECT_FALSE(world.contents().empty());
  }
}

}  // namespace
}  // namespace tamis
