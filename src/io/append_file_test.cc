// Appending through a window that moves along the file (rule 7) gives the same bytes as writing, and a window that
// fails is not a failed append.
#include "io/append_file.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "io/posix_file_system.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "support/scratch_folder.h"

namespace tamis {
namespace {

constexpr std::uint64_t kWindow = AppendFile::kMinWindowBytes;

std::size_t calls_that_begin(const CrashFileSystem& files, std::string_view with) {
  const std::vector<std::string> log = files.call_log();
  return static_cast<std::size_t>(
      std::ranges::count_if(log, [&](const std::string& call) { return call.starts_with(with); }));
}

AppendFile make_file(FileSystem& files, const std::string& path, std::uint64_t window_bytes) {
  AppendFile file(*files.open_writable(path, OpenMode::kCreate), 0);
  file.allow_room_ahead(window_bytes);
  return file;
}

/// Appends "record 0 ", "record 1 " and so on, until one fails if `failed` is given. Returns those that were taken.
std::string append_records(AppendFile& file, int most, Status* failed = nullptr) {
  std::string expected;
  for (int i = 0; i < most; ++i) {
    const std::string text = fmt::format("record {} ", i);
    const Status appended = file.append(as_bytes(text));
    if (!appended.ok() && failed != nullptr) return *failed = appended, expected;
    EXPECT_TRUE(appended.ok()) << appended.to_text();
    expected += text;
  }
  return expected;
}

/// Appends of all sizes, some in two pieces, some synced. Returns what the file must begin with.
std::string append_at_random(AppendFile& file, std::uint64_t seed, int appends) {
  SplitMix64 random(seed);
  std::string expected;
  for (int i = 0; i < appends; ++i) {
    const std::uint64_t most = random.below(50) == 0 ? 100'000 : random.below(10) == 0 ? 5000 : 200;
    std::string bytes(random.below(most), '\0');
    for (char& byte : bytes) byte = static_cast<char>(1 + random.below(255));
    const std::size_t cut = random.below(bytes.size() + 1);
    const std::array<Bytes, 2> pieces = {as_bytes(bytes).first(cut), as_bytes(bytes).subspan(cut)};
    EXPECT_TRUE(file.append(pieces).ok());
    expected += bytes;
    EXPECT_EQ(file.end(), expected.size());
    EXPECT_TRUE(random.below(60) != 0 || file.sync().ok());
  }
  return expected;
}

void expect_begins_with(FileSystem& files, const std::string& path, const std::string& expected) {
  const std::string found = *read_whole_file(files, path);
  ASSERT_GE(found.size(), expected.size());
  EXPECT_TRUE(found.starts_with(expected));
  EXPECT_EQ(found.find_first_not_of('\0', expected.size()), std::string::npos) << "no zeros behind the end";
}

/// A folder on the real disk.
class Machine : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.path("file"); }
  /// Whether files there may be mapped.
  [[nodiscard]] bool has_windows() const {
    const auto file = *posix_file_system().open_writable(folder_.path("probe"), OpenMode::kCreate);
    return file->preallocate(kWindow).ok() && file->open_window(0, kWindow).ok();
  }

 private:
  test::ScratchFolder folder_;
};

TEST(AppendFile, Rule7_ShortAppendsInARowAreCopiedAndOthersAreWritten) {
  CrashFileSystem files;
  AppendFile file = make_file(files, "/a", kWindow);
  const std::string text(100, 'x');
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(file.append(as_bytes(text)).ok());
  EXPECT_EQ(calls_that_begin(files, "copy"), 0U);
  EXPECT_EQ(file.window_bytes(), 0U);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(file.append(as_bytes(text)).ok());
  EXPECT_EQ(calls_that_begin(files, "copy"), 4U);
  EXPECT_EQ(calls_that_begin(files, "write"), 16U);
  EXPECT_EQ(file.window_bytes(), kWindow);
  // An append that does not fit is written, and ends the row.
  ASSERT_TRUE(file.append(as_bytes(std::string(kWindow, 'y'))).ok());
  EXPECT_EQ(file.window_bytes(), 0U);
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(file.append(as_bytes(text)).ok());
  EXPECT_EQ(calls_that_begin(files, "copy"), 4U);
}

TEST(AppendFile, Rule7_AWriterThatSyncsOrHasABudgetBelowTheSmallestWindowGetsNone) {
  for (const bool syncs : {true, false}) {
    CrashFileSystem files;
    AppendFile file = make_file(files, "/a", syncs ? kWindow : kWindow - 1);
    for (int i = 0; i < 200; ++i) {
      ASSERT_TRUE(file.append(as_bytes(std::string_view("some bytes"))).ok());
      ASSERT_TRUE(!syncs || i % 10 != 0 || file.sync().ok());
    }
    EXPECT_EQ(calls_that_begin(files, "copy"), 0U);
  }
}

TEST(AppendFile, Rule7_AWriterThatBeginsToSyncLosesItsWindow) {
  CrashFileSystem files;
  AppendFile file = make_file(files, "/a", kWindow);
  (void)append_records(file, 40);
  ASSERT_TRUE(file.sync().ok());  // Of many appends: windows are still worth it.
  EXPECT_EQ(file.window_bytes(), kWindow);
  (void)append_records(file, 1);
  ASSERT_TRUE(file.sync().ok());
  EXPECT_EQ(file.window_bytes(), 0U);
}

/// A sync that must make the file's length durable takes about half as long again.
TEST(AppendFile, SyncedAppendsRarelyMakeTheFileLonger) {
  CrashFileSystem files;
  AppendFile file = make_file(files, "/a", 0);
  std::string expected;
  std::uint64_t lengths = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto before = *files.file_size("/a");
    const std::string text = fmt::format("{:0>100}", i);
    ASSERT_TRUE(file.append(as_bytes(text)).ok());
    ASSERT_TRUE(file.sync().ok());
    expected += text;
    lengths += *files.file_size("/a") == before ? 0 : 1;
  }
  EXPECT_LE(lengths, 12U);  // For 100,000 bytes: four at first, then one per doubling.
  expect_begins_with(files, "/a", expected);
  ASSERT_TRUE(file.trim().ok());
  EXPECT_EQ(*read_whole_file(files, "/a"), expected);
}

TEST(AppendFile, AFileThatWasNotAllowedRoomAheadIsNeverLongerThanItsEnd) {
  CrashFileSystem files;
  AppendFile file(*files.open_writable("/a", OpenMode::kCreate), 0);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(file.append(as_bytes(std::string_view("some bytes"))).ok());
    ASSERT_TRUE(file.sync().ok());
    EXPECT_EQ(*files.file_size("/a"), file.end());
  }
}

TEST(AppendFile, Rule7_CopiesAndWritesMakeTheSameFile) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    CrashFileSystem files;
    AppendFile file = make_file(files, "/a", kWindow << (seed % 3));
    const std::string expected = append_at_random(file, seed, 1000);
    EXPECT_GT(calls_that_begin(files, "copy"), 100U);
    EXPECT_GT(calls_that_begin(files, "write"), 100U);
    expect_begins_with(files, "/a", expected);
    ASSERT_TRUE(file.trim().ok());
    EXPECT_EQ(file.window_bytes(), 0U);
    EXPECT_TRUE(*read_whole_file(files, "/a") == expected);
    const std::string more = append_at_random(file, seed + 100, 0) + "more";
    ASSERT_TRUE(file.append(as_bytes(more)).ok());
    expect_begins_with(files, "/a", expected + more);
  }
}

TEST(AppendFile, Rule7_AWindowThatCannotBeHadIsNoFailureOfTheAppend) {
  for (const FaultKind kind : {FaultKind::kNoSpace, FaultKind::kIoError}) {
    for (std::uint64_t call = 18; call <= 20; ++call) {  // Open, 16 writes; then size, preallocate, open_window.
      CrashFileSystem memory;
      FaultyFileSystem faulty(memory, {kind, call, false});
      AppendFile file = make_file(faulty, "/a", kWindow);
      SCOPED_TRACE(to_text({kind, call, false}));
      const std::string expected = append_records(file, 100);
      EXPECT_TRUE(faulty.fired() == 0 || calls_that_begin(memory, "copy") == 0);
      expect_begins_with(memory, "/a", expected);
    }
  }
}

TEST(AppendFile, Rule7_WhatCannotBeCopiedIsWrittenAndThereIsNoFurtherWindow) {
  for (const FaultKind kind : {FaultKind::kIoError, FaultKind::kShortWrite, FaultKind::kIoErrorAfterwards}) {
    CrashFileSystem memory;
    FaultyFileSystem faulty(memory, {kind, 25, false});  // Call 20 opens the window.
    AppendFile file = make_file(faulty, "/a", kWindow);
    const std::string expected = append_records(file, 100);
    EXPECT_EQ(faulty.fired(), 1U);
    EXPECT_LT(calls_that_begin(memory, "copy"), 10U);
    EXPECT_EQ(file.window_bytes(), 0U);
    expect_begins_with(memory, "/a", expected);
  }
}

/// The write's error is reported: it says what is wrong, and the append can be repeated.
TEST(AppendFile, Rule6_Rule7_WhatCanNeitherBeCopiedNorWrittenIsOverwritten) {
  CrashFileSystem memory;
  FaultyFileSystem faulty(memory, {FaultKind::kShortWrite, 25, true});
  AppendFile file = make_file(faulty, "/a", kWindow);
  Status failed;
  const std::string expected = append_records(file, 100, &failed);
  EXPECT_EQ(failed.code(), StatusCode::kOutOfSpace);
  EXPECT_EQ(file.end(), expected.size());
  faulty.heal();
  ASSERT_TRUE(file.append(as_bytes("another record")).ok());
  expect_begins_with(memory, "/a", expected + "another record");
}

TEST(AppendFile, Rule5_Rule7_AFileThatSomebodyCutIsNotTrustedAgain) {
  CrashFileSystem files;
  AppendFile file = make_file(files, "/a", kWindow);
  (void)append_records(file, 20);
  ASSERT_GT(file.window_bytes(), 0U);
  ASSERT_TRUE((*files.open_writable("/a", OpenMode::kExisting))->truncate(50).ok());
  const Status failed = file.append(as_bytes("record"));
  EXPECT_EQ(failed.code(), StatusCode::kIoError);
  EXPECT_NE(failed.message().find("/a: "), std::string_view::npos);
  EXPECT_NE(failed.message().find("the file was truncated to 50 bytes"), std::string_view::npos) << failed.to_text();
  EXPECT_EQ(file.append(as_bytes("record")).to_text(), failed.to_text());
  EXPECT_EQ(file.sync().to_text(), failed.to_text());
}

TEST(AppendFile, Rule7_WithoutRoomForAWindowOrAheadAppendsGoOnUntilThereIsNone) {
  for (const bool syncs : {false, true}) {
    CrashFileSystem files;
    files.set_capacity(100'000);  // Less than one allocation for a window.
    AppendFile file = make_file(files, "/a", kWindow);
    const std::string text(1000, 'x');
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(file.append(as_bytes(text)).ok()) << i;
      ASSERT_TRUE(!syncs || file.sync().ok()) << i;
    }
    EXPECT_EQ(calls_that_begin(files, "preallocate") > 0, syncs) << "while there was space";
    EXPECT_EQ(file.append(as_bytes(text)).code(), StatusCode::kOutOfSpace);
    EXPECT_EQ(file.end(), 100'000U);
    EXPECT_EQ(calls_that_begin(files, "copy"), 0U);
  }
}

TEST(AppendFile, Rule7_ACrashMayLoseAnyPartOfWhatWasCopiedAndNothingThatWasSynced) {
  CrashFileSystem files;
  AppendFile file = make_file(files, "/a", kWindow);
  ASSERT_TRUE(files.sync_directory("/").ok());
  std::string synced;
  for (int i = 0; i < 30; ++i, synced += std::string(700, 'x')) {
    ASSERT_TRUE(file.append(as_bytes(std::string(700, 'x'))).ok());
  }
  ASSERT_GT(calls_that_begin(files, "copy"), 0U);
  ASSERT_TRUE(file.sync().ok());
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(file.append(as_bytes(std::string(700, 'y'))).ok());
  bool lost_some = false;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CrashFileSystem rebooted(files.disk().after_crash(Loss::kSectors, seed));
    const std::string found = *read_whole_file(rebooted, "/a");
    EXPECT_TRUE(found.starts_with(synced));
    lost_some |= std::ranges::count(found, 'y') < 30 * 700;
  }
  EXPECT_TRUE(lost_some);
}

TEST(CachedFile, ADurableWriteMakesNothingElseDurable) {
  CrashFileSystem files;
  const auto file = *files.open_writable("/a", OpenMode::kCreate);
  ASSERT_TRUE(files.sync_directory("/").ok());
  const Bytes header = as_bytes(std::string_view("header"));
  test::overwrite(files, "/a", 4096, std::string(2000, 'r'));
  ASSERT_TRUE(file->write_durably_at(0, std::span(&header, 1)).ok());
  EXPECT_EQ(files.file_size("/a").value(), 6096U);
  CrashFileSystem without(files.disk().after_crash(Loss::kEverything, 1));
  EXPECT_EQ(*read_whole_file(without, "/a"), "header");
  CrashFileSystem with(files.disk().after_crash(Loss::kNothing, 1));
  EXPECT_TRUE(*read_whole_file(with, "/a") == *read_whole_file(files, "/a"));
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CrashFileSystem some(files.disk().after_crash(Loss::kSectors, seed));
    EXPECT_TRUE(read_whole_file(some, "/a")->starts_with("header")) << seed;
  }
}

TEST_F(Machine, ADurableWriteIsAWrite) {
  const auto file = *posix_file_system().open_writable(path(), OpenMode::kCreate);
  const std::array<Bytes, 2> pieces = {as_bytes(std::string_view("head")), as_bytes(std::string_view("er"))};
  ASSERT_TRUE(file->write_durably_at(3, pieces).ok());
  EXPECT_EQ(*read_whole_file(posix_file_system(), path()), std::string("\0\0\0header", 9));
}

TEST_F(Machine, Rule7_CopiesAndWritesMakeTheSameFile) {
  if (!has_windows()) GTEST_SKIP() << path() << " is not mapped";
  FileSystem& files = posix_file_system();
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    AppendFile file = make_file(files, path(), AppendFile::kMaxWindowBytes);
    const std::string expected = append_at_random(file, seed, 3000);
    expect_begins_with(files, path(), expected);  // As another process would see it: nothing is synced.
    ASSERT_TRUE(file.sync().ok());
    ASSERT_TRUE(file.trim().ok());
    EXPECT_TRUE(*read_whole_file(files, path()) == expected);
    ASSERT_TRUE(file.close().ok());
    ASSERT_TRUE(files.remove(path()).ok());
  }
}

/// A recycled file's old bytes stay until overwritten: populating pages changes no byte.
TEST_F(Machine, Rule7_OpeningAWindowChangesNoByte) {
  if (!has_windows()) GTEST_SKIP() << path() << " is not mapped";
  const std::string before(4 * kWindow, 'o');
  test::put_file(posix_file_system(), path(), before);
  const auto file = *posix_file_system().open_writable(path(), OpenMode::kExisting);
  {
    const auto window = *file->open_window(kWindow, kWindow);
    EXPECT_EQ(window->begin(), kWindow);
    EXPECT_EQ(window->end(), 2 * kWindow);
    const Bytes piece = as_bytes(std::string_view("new"));
    ASSERT_TRUE(window->copy_in(2 * kWindow - 3, std::span(&piece, 1)).ok());
  }
  std::string expected = before;
  expected.replace(2 * kWindow - 3, 3, "new");
  EXPECT_TRUE(*read_whole_file(posix_file_system(), path()) == expected);
}

/// AppendFile aligns windows to 4 KiB, but pages may be larger: a window begins and ends anywhere within them.
TEST_F(Machine, Rule7_AWindowNeedNotBeginOrEndAtAPage) {
  if (!has_windows()) GTEST_SKIP() << path() << " is not mapped";
  const std::string before(kWindow + 700, 'o');
  test::put_file(posix_file_system(), path(), before);
  const auto file = *posix_file_system().open_writable(path(), OpenMode::kExisting);
  const std::uint64_t begin = kWindow - 300;
  const auto window = file->open_window(begin, 1000);
  ASSERT_TRUE(window.ok()) << window.status().to_text();
  for (const std::uint64_t at : {begin, begin + 997}) {
    const Bytes piece = as_bytes(std::string_view("new"));
    ASSERT_TRUE((*window)->copy_in(at, std::span(&piece, 1)).ok());
  }
  std::string expected = before;
  expected.replace(kWindow - 300, 3, "new").replace(kWindow + 697, 3, "new");
  EXPECT_TRUE(*read_whole_file(posix_file_system(), path()) == expected);
}

TEST_F(Machine, Rule7_WhatIsNotKnownToTakeStoresWellIsNotMapped) {
  // A writable file on a file system that is not on the list: not mapped, whatever it supports.
  const auto file = posix_file_system().open_writable("/proc/self/comm", OpenMode::kExisting);
  if (!file.ok()) GTEST_SKIP() << file.status().to_text();
  EXPECT_EQ((*file)->open_window(0, 4096).status().code(), StatusCode::kNotSupported);
}

}  // namespace
}  // namespace tamis
