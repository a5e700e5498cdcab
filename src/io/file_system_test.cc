// The contract of FileSystem, for every implementation.
#include "io/file_system.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <functional>

#include "io/append_file.h"
#include "io/memory_file_system.h"
#include "io/path.h"
#include "io/posix_file_system.h"
#include "io/read_window.h"
#include "support/crash_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "support/scratch_folder.h"

namespace tamis {
namespace {

/// A file system and an empty folder in it.
struct Place {
  std::unique_ptr<test::ScratchFolder> scratch = {};
  std::unique_ptr<FileSystem> beneath = {};
  std::unique_ptr<FileSystem> owned = {};
  FileSystem* files = nullptr;
  std::string folder = "/test";

  Place& with_folder() {
    EXPECT_TRUE(files->make_directory(folder).ok());
    return *this;
  }
};

Place posix_place() {
  Place place{.scratch = std::make_unique<test::ScratchFolder>(), .files = &posix_file_system()};
  place.folder = place.scratch->path("test");
  return std::move(place.with_folder());
}

template <typename Files>
Place place_in_memory() {
  Place place{.owned = std::make_unique<Files>()};
  place.files = place.owned.get();
  return std::move(place.with_folder());
}

Place healthy_faulty_place() {
  Place place = place_in_memory<CrashFileSystem>();
  place.beneath = std::move(place.owned);
  place.owned = std::make_unique<FaultyFileSystem>(*place.beneath);
  place.files = place.owned.get();
  return place;
}

struct Implementation {
  const char* name;
  Place (*make)();
};

class FileSystemContract : public testing::TestWithParam<Implementation> {
 protected:
  [[nodiscard]] std::string path(std::string_view name) const { return join_path(place_.folder, name); }

  void write(const std::string& name, std::string_view text) { test::put_file(files(), path(name), text); }
  std::string read(const std::string& name) {
    const Result<std::string> bytes = read_whole_file(files(), path(name));
    return bytes.ok() ? *bytes : bytes.status().to_text();
  }
  FileSystem& files() { return *place_.files; }

  Place place_ = GetParam().make();
};

TEST_P(FileSystemContract, WritesPiecesAtAnyPlaceAndReadsThemBack) {
  const auto file = files().open_writable(path("a"), OpenMode::kCreate);
  ASSERT_TRUE(file.ok());
  const std::array<Bytes, 4> pieces = {as_bytes("hello"), Bytes(), as_bytes(", "), as_bytes("world")};
  EXPECT_TRUE((*file)->write_at(3, pieces).ok());
  EXPECT_EQ(*(*file)->size(), 15U);
  EXPECT_TRUE((*file)->write_at(0, std::span(pieces).first(1)).ok());
  EXPECT_TRUE((*file)->write_at(100, {}).ok());
  EXPECT_EQ(read("a"), "hellollo, world");
}

TEST_P(FileSystemContract, WritesManyPiecesInOrder) {
  const auto file = files().open_writable(path("a"), OpenMode::kCreate);
  std::vector<std::string> texts;
  std::string whole;
  for (int i = 0; i < 100; ++i)
    whole += texts.emplace_back(static_cast<std::size_t>(i % 7), static_cast<char>('a' + i % 26));
  std::vector<Bytes> pieces;
  for (const std::string& text : texts) pieces.push_back(as_bytes(text));
  EXPECT_TRUE((*file)->write_at(0, pieces).ok());
  EXPECT_EQ(read("a"), whole);
}

TEST_P(FileSystemContract, ReadsLessOnlyAtTheEnd) {
  write("a", "0123456789");
  const auto file = files().open_readable(path("a"));
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(*(*file)->size(), 10U);
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(*(*file)->read_at(0, buffer), 8U);
  EXPECT_EQ(*(*file)->read_at(7, buffer), 3U);
  EXPECT_EQ(as_text(Bytes(buffer).first(3)), "789");
  EXPECT_EQ(*(*file)->read_at(10, buffer), 0U);
  EXPECT_EQ(*(*file)->read_at(1'000'000, buffer), 0U);
}

/// Reads submitted together, with their own memory.
struct ManyReads {
  void add(const ReadableFile& file, std::uint64_t offset, std::size_t bytes) {
    buffers.push_back(std::vector<std::byte>(bytes));
    FileRead read;
    read.file = &file;
    read.offset = offset;
    read.to = buffers.back();
    reads.push_back(std::move(read));
  }
  /// What the file had there, or the error.
  [[nodiscard]] std::string text(std::size_t i) const {
    if (!reads[i].there.ok()) return reads[i].there.status().to_text();
    return std::string(as_text(Bytes(buffers[i]).first(*reads[i].there)));
  }

  std::deque<std::vector<std::byte>> buffers;
  std::vector<FileRead> reads;
};

TEST_P(FileSystemContract, ManyReadsAtOnceReadWhatEachAloneWould) {
  std::string text;
  for (int i = 0; text.size() < 50'000; ++i) text += fmt::format("{} ", i);
  write("a", text);
  write("b", "0123456789");
  const auto cached_a = files().open_readable(path("a"));
  const auto direct_a = files().open_direct(path("a"));
  const auto b = files().open_readable(path("b"));
  ASSERT_TRUE(cached_a.ok() && direct_a.ok() && b.ok());
  for (const std::size_t count : {0, 1, 2, 32, 64, 65, 300, 301, 63, 2, 1}) {
    const auto& a = count % 2 == 0 ? cached_a : direct_a;
    ManyReads many;
    std::vector<std::string> expected;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint64_t offset = i * 7919 % 60'000;  // Some beyond the end.
      const std::size_t bytes = i * 31 % 5000;         // Sometimes none.
      many.add(i % 5 == 4 ? **b : **a, i % 5 == 4 ? i % 15 : offset, bytes);
      const std::string_view from = i % 5 == 4 ? std::string_view("0123456789") : std::string_view(text);
      expected.emplace_back(from.substr(std::min<std::size_t>(many.reads[i].offset, from.size()), bytes));
    }
    files().read_many(many.reads);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(many.text(i), expected[i]) << i << " of " << count;
  }
}

TEST_P(FileSystemContract, DirectReadsReadWhatOthersDo) {
  std::string text;
  for (int i = 0; text.size() < 50'000; ++i) text += fmt::format("{} ", i);
  for (const std::size_t size : {0, 1, 4095, 4096, 4097, 40'960, 50'000}) {
    write("a", text.substr(0, size));
    const auto file = files().open_direct(path("a"));
    ASSERT_TRUE(file.ok()) << file.status().to_text();
    EXPECT_EQ((*file)->size().value_or(1), size);
    for (const std::uint64_t offset : {0, 1, 4095, 4096, 8191, 40'959, 50'000, 70'000}) {
      for (const std::size_t bytes : {0, 1, 100, 4096, 4097, 9000, 60'000}) {
        std::vector<std::byte> buffer(bytes);
        const Result<std::size_t> there = (*file)->read_at(offset, buffer);
        ASSERT_TRUE(there.ok()) << there.status().to_text();
        const std::string_view all = std::string_view(text).substr(0, size);
        EXPECT_EQ(as_text(Bytes(buffer).first(*there)), all.substr(std::min<std::size_t>(offset, size), bytes))
            << bytes << " at " << offset << " of " << size;
      }
    }
  }
  EXPECT_EQ(files().open_direct(path("absent")).status().code(), StatusCode::kIoError);
}

TEST_P(FileSystemContract, OpenModesSayWhatMustBeThere) {
  EXPECT_EQ(files().open_writable(path("a"), OpenMode::kExisting).status().code(), StatusCode::kIoError);
  EXPECT_TRUE(files().open_writable(path("a"), OpenMode::kCreate).ok());
  EXPECT_EQ(files().open_writable(path("a"), OpenMode::kCreate).status().code(), StatusCode::kIoError);
  write("a", "text");
  EXPECT_TRUE(files().open_writable(path("a"), OpenMode::kExisting).ok());
  EXPECT_EQ(read("a"), "text");
  EXPECT_TRUE(files().open_writable(path("a"), OpenMode::kReplace).ok());
  EXPECT_EQ(read("a"), "");
}

TEST_P(FileSystemContract, ErrorsNameThePathAndTheReason) {
  for (const Status& status :
       {files().open_readable(path("absent")).status(),
        files().open_writable(path("absent"), OpenMode::kExisting).status(), files().remove(path("absent")),
        files().rename(path("absent"), path("b")), files().link(path("absent"), path("b")),
        files().list(path("absent")).status(), files().sync_directory(path("absent")),
        files().open_writable(path("absent/child"), OpenMode::kCreate).status()}) {
    EXPECT_EQ(status.code(), StatusCode::kIoError);
    EXPECT_NE(status.message().find(path("absent")), std::string_view::npos) << status.to_text();
    EXPECT_NE(status.message().find("No such file or directory"), std::string_view::npos) << status.to_text();
  }
}

TEST_P(FileSystemContract, TruncatesAndExtendsByZeros) {
  write("a", "0123456789");
  const auto file = files().open_writable(path("a"), OpenMode::kExisting);
  EXPECT_TRUE((*file)->truncate(4).ok());
  EXPECT_EQ(read("a"), "0123");
  EXPECT_TRUE((*file)->truncate(6).ok());
  EXPECT_EQ(read("a"), std::string("0123\0\0", 6));
}

TEST_P(FileSystemContract, PreallocationExtendsAndNeverCuts) {
  write("a", "0123456789");
  const auto file = files().open_writable(path("a"), OpenMode::kExisting);
  EXPECT_TRUE((*file)->preallocate(5).ok());
  EXPECT_EQ(*files().file_size(path("a")), std::optional<std::uint64_t>(10));
  EXPECT_TRUE((*file)->preallocate(100).ok());
  EXPECT_EQ(*files().file_size(path("a")), std::optional<std::uint64_t>(100));
  EXPECT_EQ(read("a"), "0123456789" + std::string(90, '\0'));
}

TEST_P(FileSystemContract, RenameReplacesAndTheOldNameIsGone) {
  write("a", "new");
  write("b", "old");
  EXPECT_TRUE(files().rename(path("a"), path("b")).ok());
  EXPECT_EQ(read("b"), "new");
  EXPECT_EQ(*files().file_size(path("a")), std::nullopt);
  EXPECT_TRUE(files().rename(path("b"), path("b")).ok());
  EXPECT_EQ(read("b"), "new");
  EXPECT_TRUE(files().sync_directory(place_.folder).ok());
}

TEST_P(FileSystemContract, AnOpenFileFollowsItsFileNotItsName) {
  const auto file = files().open_writable(path("a"), OpenMode::kCreate);
  EXPECT_TRUE(files().rename(path("a"), path("b")).ok());
  const Bytes text = as_bytes("text");
  EXPECT_TRUE((*file)->write_at(0, std::span(&text, 1)).ok());
  EXPECT_EQ(read("b"), "text");
  const auto reader = files().open_readable(path("b"));
  EXPECT_TRUE(files().remove(path("b")).ok());
  std::array<std::byte, 8> buffer;
  EXPECT_EQ(*(*reader)->read_at(0, buffer), 4U);
}

TEST_P(FileSystemContract, LinksShareTheFileAndSurviveRemoval) {
  write("a", "text");
  EXPECT_TRUE(files().link(path("a"), path("b")).ok());
  EXPECT_FALSE(files().link(path("a"), path("b")).ok());
  EXPECT_TRUE(files().remove(path("a")).ok());
  EXPECT_EQ(read("b"), "text");
}

TEST_P(FileSystemContract, ListsNamesAndFolders) {
  write("b", "");
  EXPECT_TRUE(files().make_directory(path("lost")).ok());
  EXPECT_FALSE(files().make_directory(path("lost")).ok());
  write("lost/inner", "x");
  write("a", "");
  const std::vector<DirectoryEntry> expected = {{"a", false}, {"b", false}, {"lost", true}};
  EXPECT_EQ(*files().list(place_.folder), expected);
  EXPECT_EQ(*files().list(path("lost")), (std::vector<DirectoryEntry>{{"inner", false}}));
}

TEST_P(FileSystemContract, ThereIsRoom) { EXPECT_GT(*files().available_bytes(place_.folder), 0U); }

TEST_P(FileSystemContract, WritersExcludeEverybodyAndReadersExcludeWriters) {
  EXPECT_FALSE(files().lock(path("LOCK"), LockMode::kShared).ok()) << "a shared lock creates nothing";
  auto writer = files().lock(path("LOCK"), LockMode::kExclusive);
  ASSERT_TRUE(writer.ok()) << writer.status().to_text();
  EXPECT_EQ(files().lock(path("LOCK"), LockMode::kExclusive).status().code(), StatusCode::kBusy);
  const Result<std::unique_ptr<FileLock>> refused = files().lock(path("LOCK"), LockMode::kShared);
  EXPECT_EQ(refused.status().code(), StatusCode::kBusy);
  EXPECT_EQ(refused.status().message(), path("LOCK") + ": locked by this process");
  writer->reset();
  auto reader = files().lock(path("LOCK"), LockMode::kShared);
  auto second = files().lock(path("LOCK"), LockMode::kShared);
  EXPECT_TRUE(reader.ok() && second.ok());
  EXPECT_EQ(files().lock(path("LOCK"), LockMode::kExclusive).status().code(), StatusCode::kBusy);
  reader->reset();
  EXPECT_EQ(files().lock(path("LOCK"), LockMode::kExclusive).status().code(), StatusCode::kBusy);
  second->reset();
  EXPECT_TRUE(files().lock(path("LOCK"), LockMode::kExclusive).ok());
}

TEST_P(FileSystemContract, AppendFileContinuesAtItsOffsetAndKnowsWhatIsDurable) {
  write("a", "0123456789");
  AppendFile file(*files().open_writable(path("a"), OpenMode::kExisting), 4);
  EXPECT_TRUE(file.append(as_bytes("ab")).ok());
  EXPECT_EQ(file.end(), 6U);
  EXPECT_EQ(file.durable_end(), 4U);
  EXPECT_TRUE(file.sync().ok());
  EXPECT_EQ(file.durable_end(), 6U);
  EXPECT_TRUE(file.close().ok());
  EXPECT_EQ(read("a"), "0123ab6789");
}

TEST_P(FileSystemContract, ReadWindowSlidesBothWaysAndGrows) {
  std::string text;
  for (int i = 0; i < 300'000; ++i) text += static_cast<char>('a' + i * 31 % 26);
  write("a", text);
  ReadWindow window(*files().open_readable(path("a")), text.size());
  for (const std::size_t offset : {0U, 299'990U, 5U, 100'000U, 299'999U, 300'000U, 400'000U}) {
    for (const std::size_t count : {0U, 1U, 4096U, 280'000U}) {
      const Result<Bytes> bytes = window.at(offset, count);
      ASSERT_TRUE(bytes.ok());
      EXPECT_EQ(as_text(*bytes), offset > text.size() ? "" : std::string_view(text).substr(offset, count));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemContract,
                         testing::Values(Implementation{"posix", posix_place},
                                         Implementation{"memory", place_in_memory<MemoryFileSystem>},
                                         Implementation{"crash", place_in_memory<CrashFileSystem>},
                                         Implementation{"faulty", healthy_faulty_place}),
                         [](const auto& implementation) { return implementation.param.name; });

/// Runs `body` in a child process and returns its exit code.
int in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// A file of 100 bytes.
struct PosixReads : testing::Test {
  PosixReads() { EXPECT_TRUE((*place.files->open_writable(path, OpenMode::kCreate))->truncate(100).ok()); }

  const Place place = posix_place();
  const std::string path = join_path(place.folder, "a");
};

TEST_F(PosixReads, OneOfManyThatFailsTellsWhyAndTheOthersAreRight) {
  const auto file = place.files->open_readable(path);
  const auto folder = place.files->open_readable(place.folder);  // Can be opened, but not read.
  ASSERT_TRUE(file.ok() && folder.ok());
  ManyReads many;
  for (int i = 0; i < 5; ++i) many.add(i == 2 ? **folder : **file, 0, 100);
  place.files->read_many(many.reads);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(many.reads[i].there.ok(), i != 2) << i;
  EXPECT_NE(many.text(2).find(place.folder), std::string::npos) << many.text(2);
}

TEST_F(PosixReads, WhereDirectReadsAreImpossibleOpeningSaysSo) {
  const Status refused = place.files->open_direct("/proc/self/stat").status();
  EXPECT_EQ(refused.code(), StatusCode::kNotSupported);
  EXPECT_NE(refused.message().find("/proc/self/stat: its file system cannot"), std::string_view::npos);
}

TEST_F(PosixReads, AChildThatWasForkedReadsManyAtOnceBesideItsParent) {
  const auto file = place.files->open_readable(path);
  ASSERT_TRUE(file.ok());
  const auto reads_all = [&] {
    ManyReads many;
    for (int i = 0; i < 40; ++i) many.add(**file, static_cast<std::uint64_t>(i), 100);
    place.files->read_many(many.reads);
    for (std::size_t i = 0; i < 40; ++i) {
      if (!many.reads[i].there.ok() || *many.reads[i].there != 100 - i) return false;
    }
    return true;
  };
  EXPECT_TRUE(reads_all());
  EXPECT_EQ(in_child([&] { return reads_all() && reads_all() ? 0 : 1; }), 0);
  EXPECT_TRUE(reads_all());
}

TEST(FaultyReads, EachOfManyIsACallThatCanFail) {
  MemoryFileSystem memory;
  const std::unique_ptr<WritableFile> written = *memory.open_writable("/a", OpenMode::kCreate);
  ASSERT_TRUE(written->truncate(100).ok());
  for (std::uint64_t failing = 0; failing < 5; ++failing) {
    FaultyFileSystem faulty(memory, {.kind = FaultKind::kIoError, .at_call = failing + 2});  // The open is the first.
    const auto file = faulty.open_readable("/a");
    ManyReads many;
    for (int i = 0; i < 5; ++i) many.add(**file, 0, 10);
    faulty.read_many(many.reads);
    EXPECT_EQ(faulty.calls(), 6U);
    for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(many.reads[i].there.ok(), i != failing) << i;
  }
}

struct PosixFileLock : testing::Test {
  const Place place = posix_place();
  const std::string path = place.folder + "/LOCK";
};

TEST_F(PosixFileLock, AnotherProcessIsRefusedAndToldThePid) {
  auto lock = posix_file_system().lock(path, LockMode::kExclusive);
  ASSERT_TRUE(lock.ok());
  const std::string expected = path + ": locked by pid " + std::to_string(::getpid());
  EXPECT_EQ(in_child([&] {
              const auto refused = posix_file_system().lock(path, LockMode::kExclusive);
              return refused.status().code() == StatusCode::kBusy && refused.status().message() == expected ? 0 : 1;
            }),
            0);
}

TEST_F(PosixFileLock, ALockThatBelongsToAProcessIsToldToOthersWithItsPid) {
  EXPECT_EQ(process_that_locks(path).value_or(0), std::nullopt);  // There is no file.
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  const auto holder_seen_by_a_child = [&] {
    return in_child([&] {
      const auto holder = process_that_locks(path);
      return !holder.ok() ? 2 : *holder == ::getppid() ? 1 : holder->has_value() ? 3 : 0;
    });
  };
  EXPECT_EQ(holder_seen_by_a_child(), 0);
  struct flock request {};
  request.l_type = F_WRLCK;
  request.l_whence = SEEK_SET;
  ASSERT_EQ(::fcntl(file, F_SETLK, &request), 0);
  EXPECT_EQ(holder_seen_by_a_child(), 1);
  EXPECT_EQ(holder_seen_by_a_child(), 1) << "asking has dropped the lock";
  ::close(file);
  EXPECT_EQ(holder_seen_by_a_child(), 0);
}

TEST_F(PosixFileLock, EndsWithItsProcessAndIsNoObstacleThen) {
  EXPECT_EQ(in_child([&] {
              auto* leaked = new auto(posix_file_system().lock(path, LockMode::kExclusive));
              return leaked->ok() ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(posix_file_system().lock(path, LockMode::kExclusive).ok());
}

TEST_F(PosixFileLock, ALockThatAChildInheritedIsToldFromOneOfALiveProcess) {
  int until_told[2];
  ASSERT_EQ(::pipe(until_told), 0);
  // A child takes the lock and ends; its own child, forked with the lock open, lives on.
  EXPECT_EQ(in_child([&] {
              auto* leaked = new auto(posix_file_system().lock(path, LockMode::kExclusive));
              if (::fork() == 0) {
                char byte;
                ::close(until_told[1]);
                ::_exit(static_cast<int>(::read(until_told[0], &byte, 1)));
              }
              return leaked->ok() ? 0 : 1;
            }),
            0);
  const auto refused = posix_file_system().lock(path, LockMode::kExclusive);
  EXPECT_EQ(refused.status().code(), StatusCode::kBusy);
  EXPECT_NE(refused.status().message().find("has exited: a child of it"), std::string_view::npos)
      << refused.status().to_text();
  ::close(until_told[1]);
  ::close(until_told[0]);
}

}  // namespace
}  // namespace tamis
