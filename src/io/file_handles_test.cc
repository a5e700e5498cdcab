#include "io/file_handles.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/epoch.h"
#include "io/memory_file_system.h"
#include "support/faulty_file_system.h"
#include "support/files.h"
#include "support/passing_file_system.h"

namespace tamis {
namespace {

using SharedFile = std::shared_ptr<const ReadableFile>;

std::string path_of(std::uint64_t id) { return "/" + std::to_string(id) + ".table"; }

/// Files 1 … `count`, each containing its own name.
struct Disk {
  explicit Disk(std::uint64_t count) {
    for (std::uint64_t id = 1; id <= count; ++id) test::put_file(memory, path_of(id), path_of(id));
  }
  MemoryFileSystem memory;
};

bool is_file(const SharedFile& file, std::uint64_t id) {
  std::string bytes(path_of(id).size(), ' ');
  const auto count = file->read_at(0, std::as_writable_bytes(std::span(bytes)));
  return count.ok() && *count == bytes.size() && bytes == path_of(id);
}

TEST(FileHandles, KeepTheMostRecentlyUsedOnesAndOpenThemOnce) {
  Disk disk(4);
  FaultyFileSystem counted(disk.memory);
  FileHandles handles(counted, 3);
  const auto opens = [&](std::uint64_t id) {
    const std::uint64_t before = counted.calls();
    EXPECT_TRUE(is_file(*handles.open(id, path_of(id)), id));
    return counted.calls() > before + 1;  // Reading it is one.
  };
  EXPECT_TRUE(opens(1) && opens(2) && opens(3));
  EXPECT_FALSE(opens(1));
  EXPECT_TRUE(opens(4));
  EXPECT_EQ(handles.open_files(), 3U);
  EXPECT_FALSE(opens(1) || opens(3) || opens(4));
  EXPECT_TRUE(opens(2)) << "it was the least recently used one";
}

TEST(FileHandles, AFileStaysOpenWhileItIsHeldThoughItIsNotKept) {
  for (const std::size_t limit : {0, 1}) {
    Disk disk(3);
    FileHandles handles(disk.memory, limit);
    const SharedFile first = *handles.open(1, path_of(1));
    const SharedFile second = *handles.open(2, path_of(2));
    EXPECT_EQ(handles.open_files(), limit);
    EXPECT_TRUE(is_file(first, 1));
    EXPECT_TRUE(is_file(second, 2));
    EXPECT_EQ(first.use_count(), 1) << "only the holder keeps it open";
  }
}

TEST(FileHandles, AClosedFileIsForgotten) {
  Disk disk(2);
  FileHandles handles(disk.memory, 10);
  const SharedFile held = *handles.open(1, path_of(1));
  handles.close(1);
  handles.close(1);
  handles.close(99);
  EXPECT_EQ(handles.open_files(), 0U);
  EXPECT_TRUE(is_file(held, 1));
  EXPECT_EQ(held.use_count(), 1);
  ASSERT_TRUE(disk.memory.remove(path_of(1)).ok());
  EXPECT_EQ(handles.open(1, path_of(1)).status().code(), StatusCode::kIoError);
  EXPECT_EQ(handles.open_files(), 0U);
}

TEST(FileHandles, WithoutDescriptorsCloseWhatNobodyUsesAndTryAgain) {
  Disk disk(4);
  FaultyFileSystem faulty(disk.memory, {.kind = FaultKind::kTooManyFiles, .at_call = 4});
  FileHandles handles(faulty, 10);
  const SharedFile held = *handles.open(1, path_of(1));
  EXPECT_TRUE(handles.open(2, path_of(2)).ok());
  EXPECT_TRUE(handles.open(3, path_of(3)).ok());
  const Result<SharedFile> fourth = handles.open(4, path_of(4));
  EXPECT_EQ(faulty.fired(), 1U);
  ASSERT_TRUE(fourth.ok()) << fourth.status().to_text();
  EXPECT_TRUE(is_file(*fourth, 4));
  EXPECT_EQ(handles.open_files(), 2U) << "the one that is held, and the new one";
  EXPECT_EQ(*handles.open(1, path_of(1)), held);
}

TEST(FileHandles, WithoutDescriptorsTellTheErrorWhenThereIsNothingToCloseOrThatDoesNotHelp) {
  for (const bool is_held : {true, false}) {
    Disk disk(2);
    FaultyFileSystem faulty(disk.memory, {.kind = FaultKind::kTooManyFiles, .at_call = 2, .sticky = true});
    FileHandles handles(faulty, 10);
    SharedFile held = *handles.open(1, path_of(1));
    if (!is_held) held.reset();
    EXPECT_EQ(handles.open(2, path_of(2)).status().code(), StatusCode::kOutOfSpace);
    EXPECT_EQ(faulty.fired(), is_held ? 1U : 2U) << "a second try could not succeed";
    EXPECT_EQ(handles.open_files(), is_held ? 1U : 0U);
    faulty.heal();
    EXPECT_TRUE(handles.open(2, path_of(2)).ok());
  }
}

TEST(FileHandles, TwoWhoOpenAFileAtOnceShareTheFirstOnes) {
  Disk disk(1);
  test::HookedFileSystem files(disk.memory);
  FileHandles handles(files, 10);
  SharedFile other;
  files.on_open = [&] { other = *handles.open(1, path_of(1)); };
  EXPECT_EQ(*handles.open(1, path_of(1)), other);
  EXPECT_EQ(handles.open_files(), 1U);
}

TEST(FileHandles, AFileThatIsClosedWhileItIsOpenedIsNotKept) {
  Disk disk(1);
  test::HookedFileSystem files(disk.memory);
  FileHandles handles(files, 10);
  files.on_open = [&] { handles.close(1); };
  EXPECT_TRUE(is_file(*handles.open(1, path_of(1)), 1));
  EXPECT_EQ(handles.open_files(), 0U);
}

/// Whoever is inside a guard may have found it.
TEST(FileHandles, Rule10_AHandleIsFreedOnceNobodyCanBeAboutToUseIt) {
  Disk disk(1);
  FileHandles handles(disk.memory, 10);
  ASSERT_TRUE(handles.open(1, path_of(1)).ok());
  auto guard = std::make_unique<EpochGuard>();
  std::atomic<bool> is_freed = false;
  std::jthread closer([&] {
    handles.close(1);
    is_freed = true;
  });
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();  // Enough time for a wrong decision.
  EXPECT_FALSE(is_freed);
  guard.reset();
  closer.join();
  EXPECT_EQ(handles.open_files(), 0U);
}

TEST(FileHandles, ServeSeveralThreads) {
  Disk disk(20);
  FileHandles handles(disk.memory, 5);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      threads.emplace_back([&, seed] {
        std::mt19937_64 random(seed);
        for (int i = 0; i < 5000; ++i) {
          const std::uint64_t id = 1 + random() % 20;
          if (random() % 50 == 0) handles.close(id);
          const Result<SharedFile> file = handles.open(id, path_of(id));
          if (!file.ok() || !is_file(*file, id) || handles.open_files() > 5) ++wrong;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

TEST(FileHandles, Rule23_LeaveHalfOfTheDescriptorsToOthers) {
  const auto limit = static_cast<std::size_t>(::sysconf(_SC_OPEN_MAX));
  EXPECT_EQ(files_to_keep_open(4 * limit), limit / 2);
  EXPECT_EQ(files_to_keep_open(1), 1U);
}

}  // namespace
}  // namespace tamis
