// The modelled disk loses what a disk may lose, and nothing else.
#include <gtest/gtest.h>

#include <set>

#include "io/append_file.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"

namespace tamis {
namespace {

constexpr int kSeeds = 200;

class CrashModel : public testing::Test {
 protected:
  std::unique_ptr<WritableFile> create(const std::string& path) {
    return *files_.open_writable(path, OpenMode::kCreate);
  }
  static void write(WritableFile& file, std::uint64_t offset, std::string_view text) {
    const Bytes bytes = as_bytes(text);
    ASSERT_TRUE(file.write_at(offset, std::span(&bytes, 1)).ok());
  }
  /// A file's bytes after a crash, or "absent".
  [[nodiscard]] std::string after(Loss loss, const std::string& path, std::uint64_t seed = 0) const {
    CrashFileSystem rebooted(files_.disk().after_crash(loss, seed));
    const Result<std::string> bytes = read_whole_file(rebooted, path);
    return bytes.ok() ? *bytes : "absent";
  }
  /// Everything a file may hold after crashes of one kind.
  [[nodiscard]] std::set<std::string> all_after(Loss loss, const std::string& path) const {
    std::set<std::string> states;
    for (int seed = 0; seed < kSeeds; ++seed) states.insert(after(loss, path, static_cast<std::uint64_t>(seed)));
    return states;
  }

  CrashFileSystem files_;
};

TEST_F(CrashModel, UnsyncedBytesAreLostAndSyncedOnesKept) {
  const auto file = create("/a");
  ASSERT_TRUE(files_.sync_directory("/").ok());
  write(*file, 0, "synced");
  ASSERT_TRUE(file->sync().ok());
  write(*file, 6, ", not synced");
  EXPECT_EQ(after(Loss::kEverything, "/a"), "synced");
  EXPECT_EQ(after(Loss::kNothing, "/a"), "synced, not synced");
  for (const Loss loss : kAllLosses) {
    for (const std::string& state : all_after(loss, "/a")) EXPECT_EQ(state.substr(0, 6), "synced") << to_string(loss);
  }
}

TEST_F(CrashModel, ASyncedFileWithoutASyncedNameMayBeGone) {
  const auto file = create("/a");
  write(*file, 0, "text");
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(after(Loss::kEverything, "/a"), "absent");
  EXPECT_EQ(all_after(Loss::kNames, "/a"), (std::set<std::string>{"absent", "text"}));
  ASSERT_TRUE(files_.sync_directory("/").ok());
  for (const Loss loss : kAllLosses) EXPECT_EQ(all_after(loss, "/a"), std::set<std::string>{"text"}) << to_string(loss);
}

TEST_F(CrashModel, ASyncedNameOfAnUnsyncedFileIsAnEmptyFile) {
  const auto file = create("/a");
  write(*file, 0, "text");
  ASSERT_TRUE(files_.sync_directory("/").ok());
  EXPECT_EQ(after(Loss::kEverything, "/a"), "");
}

TEST_F(CrashModel, AnUnsyncedRenameHappensWholeOrNotAtAll) {
  for (const char* path : {"/a", "/b"}) {
    const auto file = create(path);
    write(*file, 0, path);
    ASSERT_TRUE(file->sync().ok());
  }
  ASSERT_TRUE(files_.sync_directory("/").ok());
  ASSERT_TRUE(files_.rename("/a", "/b").ok());
  std::set<std::string> states;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    states.insert(after(Loss::kNames, "/a", seed) + " " + after(Loss::kNames, "/b", seed));
  }
  EXPECT_EQ(states, (std::set<std::string>{"/a /b", "absent /a"}));
}

TEST_F(CrashModel, AnUnsyncedRemovalMayComeBack) {
  { const auto file = create("/a"); }
  ASSERT_TRUE(files_.sync_directory("/").ok());
  ASSERT_TRUE(files_.remove("/a").ok());
  EXPECT_EQ(all_after(Loss::kNames, "/a"), (std::set<std::string>{"", "absent"}));
  ASSERT_TRUE(files_.sync_directory("/").ok());
  EXPECT_EQ(all_after(Loss::kNames, "/a"), std::set<std::string>{"absent"});
}

TEST_F(CrashModel, AFolderThatWasLostTakesItsFilesWithIt) {
  ASSERT_TRUE(files_.make_directory("/folder").ok());
  { const auto file = create("/folder/a"); }
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CrashFileSystem rebooted(files_.disk().after_crash(Loss::kNames, seed));
    if (!rebooted.list("/folder").ok()) {
      EXPECT_EQ(*rebooted.file_size("/folder/a"), std::nullopt);
    }
  }
  ASSERT_TRUE(files_.sync_directory("/folder").ok());
  EXPECT_EQ(after(Loss::kEverything, "/folder/a"), "absent") << "a name is of no use in a folder that was lost";
  ASSERT_TRUE(files_.sync_directory("/").ok());
  EXPECT_EQ(after(Loss::kEverything, "/folder/a"), "");
}

TEST_F(CrashModel, PagesAreKeptIndependentlyAndInStatesTheyHad) {
  const auto file = create("/a");
  ASSERT_TRUE(file->preallocate(3 * 4096).ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(files_.sync_directory("/").ok());
  write(*file, 0, "1");
  write(*file, 0, "2");
  write(*file, 4096, "x");
  std::set<std::string> states;
  for (const std::string& state : all_after(Loss::kPages, "/a")) states.insert({state[0], state[4096]});
  using namespace std::string_literals;
  EXPECT_EQ(states, (std::set<std::string>{"\0\0"s, "\0x"s, "1\0"s, "1x"s, "2\0"s, "2x"s}));
}

TEST_F(CrashModel, SectorsTearPages) {
  const auto file = create("/a");
  ASSERT_TRUE(file->preallocate(4096).ok());
  ASSERT_TRUE(file->sync().ok());
  ASSERT_TRUE(files_.sync_directory("/").ok());
  write(*file, 0, std::string(1024, 'x'));
  std::set<std::string> states;
  bool inside_a_sector = false;
  for (const std::string& state : all_after(Loss::kSectors, "/a")) {
    states.insert({state[0], state[512]});
    inside_a_sector |= state[0] == 'x' && state[511] == '\0';
  }
  EXPECT_EQ(states.size(), 4U);
  EXPECT_TRUE(inside_a_sector);
}

TEST_F(CrashModel, TailsAreZeroOrGarbageAndTheLengthIsKept) {
  const auto file = create("/a");
  ASSERT_TRUE(files_.sync_directory("/").ok());
  write(*file, 0, std::string(100, 'x'));
  const std::set<std::string> zero = all_after(Loss::kZeroTail, "/a");
  const std::set<std::string> garbage = all_after(Loss::kGarbageTail, "/a");
  EXPECT_GT(zero.size(), 50U);
  EXPECT_GT(garbage.size(), 50U);
  for (const std::string& state : zero) {
    EXPECT_EQ(state.size(), 100U);
    EXPECT_EQ(state.find_last_not_of('\0') + 1, state.find_last_of('x') + 1);
  }
  for (const std::string& state : garbage) EXPECT_EQ(state.size(), 100U);
}

TEST_F(CrashModel, AFailedSyncMayDropPagesThatALaterSyncDoesNotBringBack) {
  FaultyFileSystem faulty(files_, {FaultKind::kIoError, 4, false});
  const auto file = *faulty.open_writable("/a", OpenMode::kCreate);
  ASSERT_TRUE(faulty.sync_directory("/").ok());
  const std::string text(64 * 4096, 'x');
  write(*file, 0, text);
  EXPECT_EQ(file->sync().code(), StatusCode::kIoError);
  EXPECT_TRUE(file->sync().ok()) << "the kernel has nothing left to write and calls that success";
  EXPECT_EQ(*read_whole_file(files_, "/a"), text) << "the cache still shows what the disk does not have";
  EXPECT_NE(after(Loss::kNothing, "/a"), text);
}

TEST_F(CrashModel, AppendFileNeverSyncsAgainAfterAFailedSync) {
  FaultyFileSystem faulty(files_, {FaultKind::kNoSpace, 3, false});
  AppendFile file(*faulty.open_writable("/a", OpenMode::kCreate), 0);
  ASSERT_TRUE(file.append(as_bytes("text")).ok());
  EXPECT_EQ(file.sync().code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(file.sync().code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(file.append(as_bytes("more")).code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(file.durable_end(), 0U);
  EXPECT_EQ(file.close().code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(faulty.fired(), 1U);
}

TEST_F(CrashModel, Rule5_AppendFileTellsThatCloseFailed) {
  FaultyFileSystem faulty(files_, {FaultKind::kIoError, 4, false});
  AppendFile file(*faulty.open_writable("/a", OpenMode::kCreate), 0);
  ASSERT_TRUE(file.append(as_bytes("text")).ok() && file.sync().ok());
  EXPECT_EQ(file.close().code(), StatusCode::kIoError);
}

TEST_F(CrashModel, AFailedAppendIsOverwrittenByTheNext) {
  FaultyFileSystem faulty(files_, {FaultKind::kShortWrite, 3, false});
  AppendFile file(*faulty.open_writable("/a", OpenMode::kCreate), 0);
  ASSERT_TRUE(file.append(as_bytes("one")).ok());
  EXPECT_EQ(file.append(as_bytes("second")).code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(*read_whole_file(files_, "/a"), "onesec");
  ASSERT_TRUE(file.append(as_bytes("II")).ok());
  EXPECT_EQ(*read_whole_file(files_, "/a"), "oneIIc");
}

TEST_F(CrashModel, AFullDiskRefusesAndHasRoomAgainAfterARemoval) {
  files_.set_capacity(100);
  const auto file = create("/a");
  write(*file, 0, std::string(80, 'x'));
  const auto other = create("/b");
  const std::string text(30, 'y');
  const Bytes bytes = as_bytes(text);
  EXPECT_EQ(other->write_at(0, std::span(&bytes, 1)).code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(*files_.available_bytes("/"), 20U);
  ASSERT_TRUE(files_.remove("/a").ok());
  EXPECT_TRUE(other->write_at(0, std::span(&bytes, 1)).ok());
}

TEST_F(CrashModel, TheObserverSeesTheDiskAfterEachChange) {
  std::vector<std::string> calls;
  std::vector<std::uint64_t> sizes;
  files_.after_each_call([&](const MemoryDisk& disk, std::string_view call) {
    calls.emplace_back(call);
    sizes.push_back(disk.used_bytes());
  });
  const auto file = create("/a");
  write(*file, 0, "text");
  ASSERT_TRUE(file->sync().ok());
  EXPECT_EQ(calls, (std::vector<std::string>{"create /a", "write /a 0+4", "sync /a"}));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{0, 4, 4}));
  EXPECT_EQ(files_.call_log(), calls);
}

TEST_F(CrashModel, EqualDisksHaveEqualHashes) {
  const auto file = create("/a");
  write(*file, 0, "text");
  EXPECT_EQ(files_.disk().content_hash(), files_.disk().after_crash(Loss::kNothing, 1).content_hash());
  EXPECT_NE(files_.disk().content_hash(), files_.disk().after_crash(Loss::kEverything, 1).content_hash());
}

TEST(FaultyFileSystem, FailsTheCallItWasToldToOnceOrFromThereOn) {
  CrashFileSystem memory;
  FaultyFileSystem once(memory, {FaultKind::kIoError, 2, false});
  EXPECT_TRUE(once.list("/").ok());
  EXPECT_EQ(once.list("/").status().message(),
            "/: injected fault: Input/output error; the disk failed; check the kernel log");
  EXPECT_TRUE(once.list("/").ok());
  FaultyFileSystem sticky(memory, {FaultKind::kTooManyFiles, 2, true});
  EXPECT_TRUE(sticky.list("/").ok());
  EXPECT_FALSE(sticky.list("/").ok());
  EXPECT_FALSE(sticky.open_writable("/a", OpenMode::kCreate).ok());
  EXPECT_TRUE(sticky.available_bytes("/").ok()) << "needs no descriptor";
  EXPECT_EQ(sticky.fired(), 2U);
  sticky.heal();
  EXPECT_TRUE(sticky.list("/").ok());
}

}  // namespace
}  // namespace tamis
