#include <gtest/gtest.h>
#include "tamis/db.h"

#include <algorithm>
#include <set>

#include "support/faulty_file_system.h"
#include "support/repair_world.h"

namespace tamis {
namespace {

using test::Contents;
using test::RepairWorld;
using test::small_options;

TEST(Repair, OfASoundStoreLosesNothing) {
  for (const char* policy : {"leveled", "lazy", "tiered"}) {
    RepairWorld world;
    world.fill(policy);
    const RepairReport report = world.repair();
    EXPECT_TRUE(report.lost.empty() && report.doubts.empty() && report.manifest_lost.empty()) << report.to_text();
    EXPECT_EQ(report.tables_rewritten, 0U);
    EXPECT_GT(report.tables_kept, 2U);
    EXPECT_GT(report.journal_entries, 0U);
    world.expect_usable(world.model);
  }
}

TEST(Repair, OfAnEmptyStoreLosesNothing) {
  RepairWorld world;
  EXPECT_TRUE(world.open().close().ok());
  EXPECT_EQ(world.repair().to_text(),
            "Kept 0 tables with 0 entries, and 0 entries from journals.\nNothing was lost.\n");
  world.expect_usable({});
  world.remove_manifest();
  EXPECT_TRUE(world.repair().lost.empty());
  world.model.clear();
  world.deleted.clear();
  world.expect_usable({});
}

TEST(Repair, OfAnOpenOrAMissingStoreIsRefused) {
  RepairWorld world;
  EXPECT_EQ(DB::repair("/none", false, world.environment()).status().code(), StatusCode::kIoError);
  ASSERT_TRUE(world.files.make_directory("/empty").ok());
  EXPECT_EQ(DB::repair("/empty", true, world.environment()).status().code(), StatusCode::kIoError);
  EXPECT_TRUE(world.names("/empty").empty());
  DB db = world.open();
  EXPECT_EQ(DB::repair("/store", false, world.environment()).status().code(), StatusCode::kBusy);
  EXPECT_EQ(DB::repair("/store", true, world.environment()).status().code(), StatusCode::kBusy);
}

TEST(Repair, TellsHowFarItIsAndStoppedThereChangesNothing) {
  RepairWorld world;
  world.fill();
  world.remove_manifest();
  const std::vector<std::string> names = world.names();
  std::uint64_t told = 0;
  const auto stop = [&](std::uint64_t /*done*/, std::uint64_t /*total*/) { return ++told < 3; };
  EXPECT_EQ(DB::repair("/store", false, world.environment(), stop).status().code(), StatusCode::kClosed);
  EXPECT_EQ(told, 3U);
  EXPECT_EQ(world.names(), names);

  std::uint64_t last = 0;
  const auto go_on = [&](std::uint64_t done, std::uint64_t total) {
    EXPECT_TRUE(last < done && done <= total) << last << ' ' << done << ' ' << total;
    last = done;
    return true;
  };
  EXPECT_TRUE(DB::repair("/store", false, world.environment(), go_on).ok());
  EXPECT_GT(last, 0U);
  world.expect_usable(world.model);
}

TEST(Repair, OfAStoreThatCrashedKeepsWhatOpeningWould) {
  RepairWorld world;
  {
    DB db = world.open();
    world.write_some(db, 2000);
    RepairWorld crashed(world.files.disk().after_crash(Loss::kNothing, 1));
    crashed.model = world.model;
    EXPECT_TRUE(crashed.repair().lost.empty());
    crashed.expect_usable(world.model);
  }
}

struct ManifestLoss {
  const char* name;
  void (*damage)(RepairWorld& world);
};
const ManifestLoss kManifestLosses[] = {
    {"CURRENT missing", [](RepairWorld& world) { world.remove("CURRENT"); }},
    {"CURRENT damaged", [](RepairWorld& world) { world.flip("/store/CURRENT", 50); }},
    {"manifest missing",
     [](RepairWorld& world) { world.remove(manifest_path("", world.numbers(FileKind::kManifest).back())); }},
    {"manifest damaged",
     [](RepairWorld& world) { world.flip(manifest_path("/store", world.numbers(FileKind::kManifest).back()), 4200); }},
    {"manifest cut",
     [](RepairWorld& world) { world.cut(manifest_path("/store", world.numbers(FileKind::kManifest).back()), 4096); }},
    {"both missing", [](RepairWorld& world) { world.remove_manifest(); }},
};

TEST(Repair, WithoutAManifestEveryAnswerIsTheSame) {
  for (const char* policy : {"leveled", "lazy", "tiered"}) {
    for (const ManifestLoss& loss : kManifestLosses) {
      if (policy != std::string("leveled") && loss.name != std::string("both missing")) continue;
      SCOPED_TRACE(fmt::format("{}, {}", policy, loss.name));
      RepairWorld world;
      world.fill(policy);
      loss.damage(world);
      EXPECT_NE(world.open_code(), StatusCode::kOk);
      const RepairReport report = world.repair();
      EXPECT_FALSE(report.manifest_lost.empty());
      EXPECT_TRUE(report.lost.empty()) << report.to_text();
      world.expect_usable(world.model);
    }
  }
}

TEST(Repair, WithoutAManifestPutsTablesThatDoNotOverlapInOneRun) {
  RepairWorld world;
  world.fill();
  {
    DB db = world.open();
    ASSERT_TRUE(db.compact().ok());
    ASSERT_TRUE(db.close().ok());
  }
  world.remove_manifest();
  ASSERT_GT(world.repair().tables_kept, 1U);
  DB db = world.open();
  ASSERT_EQ(db.stats().levels.size(), 1U);
  EXPECT_EQ(db.stats().levels[0].runs, 1U);
}

TEST(Repair, Rule22_WithoutAManifestReplacedTablesThatAreStillThereBringNothingBack) {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U, 6U}) {
    RepairWorld world;
    world.random.seed(seed);
    MemoryDisk disk;
    {
      DB db = world.open();
      std::vector<Iterator> pins;  // Each keeps its version's tables.
      for (int step = 0; step < 12; ++step) {
        world.write_some(db, 300, 400);
        if (world.random() % 2 == 0) pins.push_back(db.scan());
        if (world.random() % 3 == 0 && !pins.empty()) pins.erase(pins.begin());
        if (world.random() % 4 == 0) {
          EXPECT_TRUE(db.compact().ok());
        }
      }
      disk = world.files.disk().after_crash(Loss::kNothing, 1);
    }
    RepairWorld crashed(disk);
    crashed.model = world.model;
    crashed.deleted = world.deleted;
    crashed.remove_manifest();
    const RepairReport report = crashed.repair();
    EXPECT_TRUE(report.lost.empty()) << report.to_text();
    EXPECT_TRUE(crashed.contents() == world.model) << "seed " << seed;
    crashed.expect_usable(world.model);
  }
}

TEST(Repair, WithoutAManifestFindsTheSameAfterACrashAtAnyCall) {
  RepairWorld world;
  std::vector<std::pair<MemoryDisk, Contents>> crashes;
  {
    DB db = world.open();
    world.write_some(db, 2500, 400);
    std::size_t calls = 0;
    world.files.after_each_call([&](const MemoryDisk& disk, std::string_view) {
      if (++calls % 5 == 0) crashes.emplace_back(disk.after_crash(Loss::kNothing, calls), Contents());
    });
    EXPECT_TRUE(db.compact().ok());  // Crashes leave unfinished outputs and replaced inputs.
    world.write_some(db, 1, 400, 0);
    world.files.after_each_call({});
  }
  ASSERT_GT(crashes.size(), 5U);
  crashes.pop_back();
  for (auto& [disk, unused] : crashes) {
    RepairWorld with(disk);
    const Contents before = with.contents();
    RepairWorld without(disk);
    without.remove_manifest();
    without.repair();
    EXPECT_TRUE(without.contents() == before);
  }
}

TEST(Repair, OldJournalsThatWereFlushedAreNotReplayedWithoutAManifest) {
  // A recycled file keeps its old name and records, while the journals after it are gone.
  RepairWorld world;
  std::string old_journal;
  std::string name;
  {
    DB db = world.open();
    world.write_some(db, 50, 20);
    ASSERT_TRUE(db.put("deleted", "once").ok());
    ASSERT_TRUE(db.put("changed", "old").ok());
    name = world.names()[0];
    for (const std::string& file : world.names()) {
      if (file.ends_with(".journal")) name = file;
    }
    old_journal = *read_whole_file(world.files, RepairWorld::path(name));
    ASSERT_TRUE(db.flush().ok());
    ASSERT_TRUE(db.remove("deleted").ok());
    ASSERT_TRUE(db.put("changed", "new").ok());
    ASSERT_TRUE(db.flush().ok());
    world.write_some(db, 50, 20);
    ASSERT_TRUE(db.flush().ok());
    ASSERT_TRUE(db.compact().ok());
    ASSERT_TRUE(db.close().ok());
  }
  world.model["changed"] = "new";
  world.put_file(RepairWorld::path(name), old_journal);
  world.remove_manifest();
  const RepairReport report = world.repair();
  EXPECT_TRUE(report.lost.empty()) << report.to_text();
  world.expect_usable(world.model);
}

TEST(Repair, Rule22_DryRunsWriteNothingAndSayTheSame) {
  for (const ManifestLoss& loss : kManifestLosses) {
    RepairWorld world;
    world.fill("leveled", 2000);
    loss.damage(world);
    world.flip(table_path("/store", world.numbers(FileKind::kTable).front()), 100);
    const std::size_t calls = world.files.call_log().size();
    const RepairReport dry = world.repair(true);
    EXPECT_EQ(world.files.call_log().size(), calls);
    const RepairReport real = world.repair();
    EXPECT_TRUE(dry.is_dry_run && !real.is_dry_run);
    EXPECT_EQ(dry.to_text(), "A dry run: nothing was changed.\n" + real.to_text());
    EXPECT_EQ(dry.doubts.size(), real.doubts.size());
  }
}

TEST(Repair, NothingIsRemovedAndWhatIsNotOursIsLeftAlone) {
  RepairWorld world;
  world.fill("leveled", 3000);
  world.put_file("/store/notes.txt", "mine");
  world.put_file("/store/12.tms", "not our way to write a number");
  ASSERT_TRUE(world.files.make_directory("/store/lost").ok());
  const std::uint64_t table = world.numbers(FileKind::kTable).front();
  const std::string other = "something else of the same name";
  world.put_file("/store/lost/" + table_path("", table), other);
  world.flip(table_path("/store", table), 100);
  world.flip("/store/CURRENT", 3);
  const std::map<std::string, std::string> before = world.all_bytes();
  world.repair();
  std::multiset<std::string> after;
  for (const auto& [name, bytes] : world.all_bytes()) after.insert(bytes);
  for (const auto& [name, bytes] : world.all_bytes("/store/lost")) after.insert(bytes);
  for (const auto& [name, bytes] : before) {
    EXPECT_TRUE(name == "LOCK" || after.contains(bytes)) << name;
  }
  EXPECT_TRUE(after.contains(other));
  EXPECT_EQ(world.all_bytes()["notes.txt"], "mine");
  EXPECT_EQ(world.all_bytes()["12.tms"], before.at("12.tms"));
}

TEST(Repair, NumbersOfFilesInLostAreNotUsedAgain) {
  RepairWorld world;
  world.fill("leveled", 1000);
  world.repair();
  std::uint64_t largest = 0;
  for (const std::string& name : world.names("/store/lost")) {
    const std::optional<FileName> parsed = parse_file_name(name);
    if (parsed && parsed->kind != FileKind::kManifest) largest = std::max(largest, parsed->number);
  }
  for (const std::uint64_t journal : world.numbers(FileKind::kJournal)) {
    ASSERT_TRUE(world.files.remove(journal_path("/store", journal)).ok());
  }
  world.remove_manifest();
  world.repair();
  EXPECT_GT(world.numbers(FileKind::kJournal).back(), largest);
}

TEST(Repair, TablesOfAnotherStoreAreLeftOut) {
  RepairWorld other;
  other.fill("leveled", 1500);
  for (const bool has_manifest : {true, false}) {
    RepairWorld world;
    Result<DB> db =
        DB::open("/store", small_options(), {.files = &world.files, .random_seed = 8, .runs_in_background = false});
    world.write_some(*db, 2000);
    ASSERT_TRUE(db->close().ok());
    std::vector<std::uint64_t> strangers = other.numbers(FileKind::kTable);
    const std::vector<std::uint64_t> ours = world.numbers(FileKind::kTable);
    std::erase_if(strangers, [&](std::uint64_t number) { return std::ranges::count(ours, number) > 0; });
    ASSERT_FALSE(strangers.empty());
    const std::string path = table_path("/store", strangers.front());
    world.put_file(path, *read_whole_file(other.files, path));
    if (!has_manifest) world.remove_manifest();
    const RepairReport report = world.repair();
    ASSERT_EQ(report.lost.size(), 1U) << report.to_text();
    EXPECT_NE(report.lost[0].what.find("another store"), std::string::npos);
    world.expect_usable(world.model);
  }
}

TEST(Repair, FilesOfANewerVersionAreNoDamage) {
  RepairWorld world;
  world.fill("leveled", 1000);
  const std::string path = table_path("/store", world.numbers(FileKind::kTable).front());
  std::string bytes = *read_whole_file(world.files, path);
  bytes[8] = 9;
  store_le(bytes.data() + 56, checksum64(as_bytes(std::string_view(bytes).substr(0, 56))));
  world.put_file(path, bytes);
  const std::size_t calls = world.files.call_log().size();
  EXPECT_EQ(DB::repair("/store", false, world.environment()).status().code(), StatusCode::kNotSupported);
  EXPECT_EQ(world.files.call_log().size(), calls);
}

TEST(Repair, InterruptedAnywhereEndsTheSameWhenDoneAgain) {
  for (const bool has_manifest : {true, false}) test::crash_and_repair_again("leveled", has_manifest, 5);
}

}  // namespace
}  // namespace tamis
