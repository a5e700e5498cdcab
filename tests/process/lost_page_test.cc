// P6: a failed store to a page of the mapped journal is an error of the put, not a SIGBUS that ends the program.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <optional>
#include <thread>

#include "process/child_process.h"
#include "process/mapped_journal.h"
#include "tamis/db.h"

namespace tamis::test {
namespace {

std::string journal_in(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".journal") return entry.path();
  }
  return {};
}

Status put_some(DB& db, int first, int count) {
  for (int i = first; i < first + count; ++i) {
    if (Status put = db.put(fmt::format("key{:04}", i), std::string(100, 'v')); !put.ok()) return put;
  }
  return {};
}

/// From here on every page of the window is past the end of the file.
bool cut_journal(const std::string& folder) { return ::truncate(journal_in(folder).c_str(), 0) == 0; }

/// A store whose journal is mapped.
std::optional<DB> open_mapped(const std::string& path) {
  Result<DB> db = DB::open(path);
  if (!db.ok() || !put_some(*db, 0, 100).ok() || !maps_a_journal()) return std::nullopt;
  return *std::move(db);
}

/// The put fails and names the file; acknowledged writes can be read, and resume() writes them to tables and keeps
/// them.
int put_into_a_cut_journal(const std::string& path) {
  std::optional<DB> db = open_mapped(path);
  if (!db) return 1;
  if (!cut_journal(path)) return 2;
  const Status put = db->put("after", "1");
  if (put.code() != StatusCode::kIoError) return 3;
  if (put.message().find("/000001.journal: ") == std::string_view::npos) return 4;
  if (maps_a_journal()) return 5;
  if (!db->get("key0099")->has_value()) return 6;
  if (db->put("again", "1").ok()) return 7;
  if (!db->resume().ok()) return 8;
  if (!put_some(*db, 100, 100).ok() || !db->get("key0000")->has_value()) return 9;
  return db->close().ok() ? 0 : 10;
}

TEST(LostPage, P6_APutIntoAJournalThatSomebodyCutIsAnErrorAndTheProgramLives) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  ChildProcess child([&](const auto&) { return put_into_a_cut_journal(scratch.path()); });
  EXPECT_EQ(child.wait(), 0);
  const Result<DB> db = DB::open(scratch.path());
  ASSERT_TRUE(db.ok()) << db.status().to_text();
  for (int i = 0; i < 200; ++i) EXPECT_TRUE(db->get(fmt::format("key{:04}", i))->has_value()) << i;
}

/// Another store's window, and windows opened later, still work.
TEST(LostPage, P6_OtherStoresGoOn) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  ChildProcess child([&](const auto&) {
    std::optional<DB> one = open_mapped(scratch.path("one"));
    std::optional<DB> other = open_mapped(scratch.path("other"));
    if (!one || !other || !cut_journal(scratch.path("one"))) return 1;
    if (one->put("after", "1").ok() || !put_some(*other, 100, 5000).ok()) return 2;
    return other->close().ok() && !one->put("after", "1").ok() ? 0 : 3;
  });
  EXPECT_EQ(child.wait(), 0);
}

volatile sig_atomic_t faults_of_the_program = 0;

/// Like a program that expects faults in its own mapping.
void handler_of_the_program(int /*signal*/, siginfo_t* info, void* /*context*/) {
  faults_of_the_program = faults_of_the_program + 1;
  const auto page = reinterpret_cast<std::uintptr_t>(info->si_addr) / 4096 * 4096;
  ::mmap(reinterpret_cast<void*>(page), 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

bool install_handler_of_the_program() {
  struct sigaction action {};
  action.sa_sigaction = handler_of_the_program;
  action.sa_flags = SA_SIGINFO;
  return ::sigaction(SIGBUS, &action, nullptr) == 0;
}

bool has_handler_of_the_program() {
  struct sigaction now {};
  return ::sigaction(SIGBUS, nullptr, &now) == 0 && now.sa_sigaction == handler_of_the_program;
}

/// Stores into the program's own file, past its end.
void fault(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0600);
  void* const memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  *static_cast<volatile char*>(memory) = 1;
}

TEST(LostPage, P6_AProgramThatHandlesTheSignalKeepsItsHandlerAndTheJournalIsWritten) {
  const ScratchFolder scratch;
  ChildProcess child([&](const auto&) {
    if (!install_handler_of_the_program()) return 1;
    Result<DB> db = DB::open(scratch.path());
    if (!db.ok() || !put_some(*db, 0, 1000).ok()) return 2;
    if (maps_a_journal() || !has_handler_of_the_program()) return 3;
    fault(scratch.path("own"));
    if (faults_of_the_program != 1) return 4;
    return db->close().ok() ? 0 : 5;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(LostPage, P6_AHandlerThatComesLaterIsNoticedAtTheNextSync) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  ChildProcess child([&](const auto&) {
    std::optional<DB> db = open_mapped(scratch.path());
    if (!db || !install_handler_of_the_program() || !db->sync().ok()) return 1;
    if (!put_some(*db, 100, 100).ok()) return 2;
    if (!cut_journal(scratch.path())) return 3;
    (void)put_some(*db, 200, 10).ok();
    if (faults_of_the_program != 0 || !has_handler_of_the_program()) return 4;
    // And the next window, which would begin some hundred puts later, is not opened.
    (void)put_some(*db, 300, 3000).ok();
    return faults_of_the_program == 0 && !maps_a_journal() ? 0 : 5;
  });
  EXPECT_EQ(child.wait(), 0);
}

TEST(LostPage, P6_AThreadThatBlocksTheSignalWrites) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  ChildProcess child([&](const auto&) {
    std::optional<DB> db = open_mapped(scratch.path());
    if (!db) return 1;
    Status put;
    std::thread blocking([&] {
      sigset_t signals;
      ::sigemptyset(&signals);
      ::sigaddset(&signals, SIGBUS);
      ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
      if (!put_some(*db, 100, 10).ok() || !cut_journal(scratch.path())) return;
      put = put_some(*db, 110, 10);  // Into the file, which write(2) extends again.
    });
    blocking.join();
    if (!put.ok()) return 2;
    return db->get("key0119")->has_value() && maps_a_journal() ? 0 : 3;
  });
  EXPECT_EQ(child.wait(), 0);
}

/// Anything but a fault in a window acts as in a program without a handler.
TEST(LostPage, P6_ASignalOfAnotherOriginEndsTheProgramAsEver) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  ChildProcess faulting([&](const auto&) {
    const std::optional<DB> db = open_mapped(scratch.path("one"));
    if (db) fault(scratch.path("own"));
    return 1;
  });
  EXPECT_EQ(faulting.wait(), -SIGBUS);
  ChildProcess told([&](const auto&) {
    const std::optional<DB> db = open_mapped(scratch.path("two"));
    if (db) ::kill(::getpid(), SIGBUS);
    return 1;
  });
  EXPECT_EQ(told.wait(), -SIGBUS);
}

/// A child may have something else at the address of its parent's window.
TEST(LostPage, Rule10_AChildHasNoPartInTheWindowsOfItsParent) {
  const ScratchFolder scratch;
  if (!has_windows(scratch)) GTEST_SKIP() << "files in " << scratch.path() << " are not mapped";
  const std::optional<DB> db = open_mapped(scratch.path());
  ASSERT_TRUE(db);
  const std::uintptr_t begin = mapped_journal();
  ChildProcess child([&](const auto&) {
    const int file = ::open(scratch.path("own").c_str(), O_RDWR | O_CREAT, 0600);
    void* const memory =
        ::mmap(reinterpret_cast<void*>(begin), 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE, file, 0);
    if (memory == MAP_FAILED) return 1;
    *static_cast<volatile char*>(memory) = 1;
    return 2;
  });
  EXPECT_EQ(child.wait(), -SIGBUS);
}

}  // namespace
}  // namespace tamis::test
